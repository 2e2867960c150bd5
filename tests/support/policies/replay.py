"""Evaluation of stored rulings once more, from the rows."""

import json
from collections.abc import Iterator
from typing import Any

from agents.agui import strict_json
from inbox.models import Ruling
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.policies.evaluation import VersionedPolicy, apply_grant, evaluate
from inbox.rules.policies.facts import facts_from_json
from inbox.rules.policies.language.document import parse_policy


def replay_all() -> dict[str, Any]:
    """Return the number of stored rulings, and a sentence for each that is another one now."""
    rows = Ruling.objects.select_related(
        "version", "installation_version", "interrupt__tool_call"
    ).order_by("pk")
    return {
        "number": rows.count(),
        "differences": [sentence for row in rows.iterator(500) for sentence in differences(row)],
    }


def differences(row: Ruling) -> Iterator[str]:
    """Yield a sentence for each difference of a stored ruling from its evaluation now."""
    interrupt = row.interrupt
    versions = [version for version in (row.installation_version, row.version) if version]
    for version in versions:
        if version.digest != digest(version.body):
            yield f"version {version.number} has another digest than its policy"
    stored = json.loads(row.body)
    args = json.loads(interrupt.args) if interrupt.args else None
    facts = facts_from_json({**stored["facts"], "args": args})
    policies = [
        VersionedPolicy(
            version.number,
            parse_policy(strict_json.loads(version.body)),
            installation=version.team_id is None,
        )
        for version in versions
    ]
    outcome = evaluate(policies, facts, row.created_at)
    ruling = (apply_grant(outcome, stored["grant"]) if stored["grant"] else outcome).to_json()
    expected = {name: value for name, value in stored.items() if name != "facts"}
    if canonical_json(ruling) != canonical_json(expected):
        yield f"ruling {row.pk}: {ruling['effect']} {ruling['rules']}, stored {expected['rules']}"
    if row.effect != stored["effect"]:
        yield f"ruling {row.pk}: its column is {row.effect}, its text {stored['effect']}"
    if interrupt.digest_at_creation() != interrupt.view_digest:
        yield f"interrupt {interrupt.pk} has another view digest than its ruling"
