"""Past requests of a team, as backtests and shadow rules read them."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import FilteredRelation, Q

from inbox.models import Interrupt, Ruling, Team
from inbox.rules.decisions.consent import RULED_VIEW_VERSIONS
from inbox.rules.people.access import ActorKind
from inbox.rules.policies.backtest import PastRequest, past_outcome
from inbox.rules.policies.evaluation import Ruling as PolicyRuling
from inbox.rules.policies.evaluation import ruling_from_json
from inbox.rules.policies.facts import Facts, Requester, facts_from_json
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.schema.mask_agui import secrets_of_arguments

#: Requests that are in memory at once.
_BATCH = 200
_COLUMNS = (
    *("pk", "created_at", "reason", "tool", "args", "body", "status", "view_version"),
    *("agent__slug", "run__requester_user__username", "run__requester_key_id"),
    *("in_force__status", "in_force__payload", "in_force__actor_kind", "in_force__ruling_id"),
    *("in_force__user_id", "in_force__api_key_id", "in_force__actor_label"),
)


@dataclass(frozen=True)
class StoredRuling:
    """The last ruling on a past request; `body` is that of `Ruling.body`."""

    version_id: UUID | None
    body: dict[str, Any]

    def ruling(self) -> PolicyRuling:
        return ruling_from_json(self.body)


def past_requests(
    team: Team, limit: int, *, only: Collection[UUID] | None = None
) -> Iterator[tuple[PastRequest, StoredRuling | None]]:
    """
    Yield the last requests of a team, the latest first, with their rulings; reads in batches.

    Facts are those of the ruling. Without one, facts that were not stored are None: the environment
    of the agent, and the role and groups of the requester. Secret arguments are None as well, so
    that nobody can find them out by trying conditions.
    """
    rows = Interrupt.objects.filter(team=team.pk, **({} if only is None else {"pk__in": only}))
    rows = rows.annotate(
        in_force=FilteredRelation("decisions", condition=Q(decisions__withdrawn_at=None))
    ).order_by("-pk")
    before: UUID | None = None
    while limit > 0:
        batch = rows if before is None else rows.filter(pk__lt=before)
        size = min(limit, _BATCH)
        columns = [
            dict(zip(_COLUMNS, row, strict=True)) for row in batch.values_list(*_COLUMNS)[:size]
        ]
        rulings = _rulings(columns)
        for row in columns:
            stored = rulings.get(row["pk"])
            yield _past_request(row, stored, team.slug), stored
        if len(columns) < size:
            return
        limit -= size
        before = columns[-1]["pk"]


def _rulings(rows: list[dict[str, Any]]) -> dict[UUID, StoredRuling]:
    """Return the last ruling on each request."""
    ids = [row["pk"] for row in rows if row["view_version"] in RULED_VIEW_VERSIONS]
    if not ids:
        return {}
    stored = Ruling.objects.filter(interrupt__in=ids).order_by("number")
    return {
        interrupt_id: StoredRuling(version_id, json.loads(body))
        for interrupt_id, version_id, body in stored.values_list(
            "interrupt_id", "version_id", "body"
        )
    }


def _past_request(row: dict[str, Any], stored: StoredRuling | None, team: str) -> PastRequest:
    status = row["in_force__status"]
    by = row["in_force__user_id"] or row["in_force__api_key_id"] or row["in_force__actor_label"]
    payload = row["in_force__payload"]
    entry = ResumeEntry("", EntryStatus(status), json.loads(payload or "null")) if status else None
    return PastRequest(
        id=str(row["pk"]),
        at=row["created_at"],
        facts=_facts(row, stored, team),
        outcome=past_outcome(
            InterruptStatus(row["status"]),
            entry,
            by=str(by or ""),
            is_by_rule=row["in_force__ruling_id"] is not None,
        ),
    )


def _facts(row: dict[str, Any], stored: StoredRuling | None, team: str) -> Facts:
    args = json.loads(row["args"]) if row["args"] else None
    if args is not None:
        args = secrets_of_arguments(row["body"]).replaced(args, lambda _path, _secret: None)
    if stored:
        return replace(facts_from_json(stored.body["facts"]), args=args)
    return Facts(
        reason=row["reason"],
        tool=row["tool"] or None,
        args=args,
        agent=row["agent__slug"],
        team=team,
        requester=_requester(row),
        local_time=row["created_at"],
    )


def _requester(row: dict[str, Any]) -> Requester | None:
    if row["run__requester_key_id"]:
        return Requester(kind=ActorKind.KEY.value, id=str(row["run__requester_key_id"]))
    if row["run__requester_user__username"]:
        return Requester(kind=ActorKind.HUMAN.value, id=row["run__requester_user__username"])
    return None
