"""Rulings: evaluating the policies in force for the interrupts that a run ends with."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from agents.agui.interrupts import parse_expiry
from agents.sdk.expiry import format_expires_at
from inbox.actions.audit import audit_trail
from inbox.actions.policies.due_steps import store_steps
from inbox.actions.policies.grants import ActiveGrants
from inbox.models import Interrupt, PolicyVersion, Ruling, Run, Thread
from inbox.models.statements import insert
from inbox.queries.policies.policies import (
    answerable_ruling,
    facts_of,
    policies_in_force,
    run_with_facts,
)
from inbox.rules.decisions.consent import canonical_json, has_files, has_present, view_version
from inbox.rules.people.access import ENGINE
from inbox.rules.policies.evaluation import Ruling as PolicyRuling
from inbox.rules.policies.evaluation import apply_grant, evaluate
from inbox.rules.policies.facts import Facts
from inbox.rules.policies.language.policy import Effect


def rule_on(*, thread: Thread, run: Run, rows: Sequence[Interrupt], now: datetime) -> None:
    """
    Evaluate the policies in force for new interrupts, and set their rulings and expiries.

    `open_interrupts` stores the rulings with the interrupts. The caller holds the thread's lock.
    """
    if not rows:
        return
    in_force = policies_in_force(thread.team)
    grants = ActiveGrants(thread) if any(row.tool_call_id for row in rows) else None
    if not (in_force or grants):
        return
    policies = [policy for _, policy in in_force]
    versions = {row.team_id: row for row, _ in in_force}
    version = versions.get(thread.team_id)
    # A worker's object has the id only.
    run, shared = run_with_facts(thread, run.pk)
    for row in rows:
        row.run = run
        facts = facts_of(shared, row, now)
        ruling = answerable_ruling(row, evaluate(policies, facts, now), now)
        if grants:
            ruling = _with_grant(grants, run, row, ruling, version, now)
        if in_force:
            set_ruling(row, ruling, facts, versions=[version for version, _ in in_force], now=now)
    for policy in policies:
        if policy.policy is None:
            installation = {"installation": True} if policy.installation else {}
            audit_trail.record(
                "policy.unreadable",
                ENGINE,
                now,
                thread=thread,
                run=run,
                version=policy.number,
                **installation,
            )


def _with_grant(
    grants: ActiveGrants,
    run: Run,
    row: Interrupt,
    ruling: PolicyRuling,
    version: PolicyVersion | None,
    now: datetime,
) -> PolicyRuling:
    """Return the ruling with the grant that approves the call, if one does."""
    approval = PolicyRuling(Effect.GRANT)
    grant = grants.use(
        run,
        row,
        ruling,
        version_id=version.pk if version else None,
        is_answerable=answerable_ruling(row, approval, now) is approval,
    )
    return ruling if grant is None else apply_grant(ruling, str(grant.pk))


def set_ruling(
    row: Interrupt,
    ruling: PolicyRuling,
    facts: Facts,
    *,
    versions: Sequence[PolicyVersion],
    now: datetime,
) -> None:
    """Set the next ruling on an interrupt, and what follows from it; `store_rulings` stores it."""
    before = row.ruling
    _limit_expiry(row, ruling)
    row.view_version = view_version(
        has_present=has_present(row.view_version),
        has_ruling=True,
        has_files=has_files(row.view_version),
    )
    row.people_needed = len(ruling.requirement.slots) if ruling.requirement else 1
    row.ruling = Ruling(
        interrupt=row,
        number=before.number + 1 if before else 1,
        version=next((version for version in versions if version.team_id), None),
        installation_version=next((version for version in versions if not version.team_id), None),
        effect=ruling.effect,
        body=_body(ruling, facts),
        created_at=now,
    )


def store_rulings(rows: Sequence[Interrupt]) -> None:
    """Store the rulings on interrupts that were stored before, and their steps."""
    rulings = [row.ruling for row in rows if row.ruling is not None]
    if rulings:
        insert(rulings)
        store_steps(rulings)


def audit_detail(ruling: Ruling) -> dict[str, Any]:
    """Return the ruling as audit entries contain it: without the values of arguments."""
    body = json.loads(ruling.body)
    detail = {
        "effect": ruling.effect,
        "version": ruling.version.digest if ruling.version else None,
        "rules": body["rules"],
    }
    if ruling.installation_version is not None:
        detail["installation"] = ruling.installation_version.digest
    return detail


def _limit_expiry(row: Interrupt, ruling: PolicyRuling) -> None:
    """Set the earlier of the agent's expiry and the policy's, also on the wire."""
    expires_at = ruling.requirement.expires_at if ruling.requirement else None
    if expires_at is not None and (row.expires_at is None or expires_at < row.expires_at):
        text = format_expires_at(timedelta(), expires_at)
        row.expires_at = row.due_at = parse_expiry(text)
        row.body = json.dumps({**json.loads(row.body), "expiresAt": text}, ensure_ascii=False)


def _body(ruling: PolicyRuling, facts: Facts) -> str:
    """Return the ruling with its facts; the arguments are those of the interrupt."""
    return canonical_json({**ruling.to_json(), "facts": {**facts.to_json(), "args": None}})
