"""Policies, facts and rulings for tests, with the parts that a test does not name filled in."""

from datetime import UTC, datetime
from typing import Any

from inbox.rules.policies.evaluation import Ruling, VersionedPolicy, evaluate
from inbox.rules.policies.facts import Facts
from inbox.rules.policies.language.document import PolicyError, parse_policy

#: A Monday, 13:00 in Berlin.
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
BERLIN = {
    "zone": "Europe/Berlin",
    "week": {day: [["09:00", "17:00"]] for day in ("mon", "tue", "wed", "thu", "fri")},
}


def condition(path: str, op: str, value: Any = None, **more: Any) -> dict[str, Any]:
    """Return the JSON of a condition; `not_` is its member `not`."""
    members = {"path": path, "op": op, **({} if value is None else {"value": value})}
    return {**members, **{name.rstrip("_"): member for name, member in more.items()}}


IS_REFUND = condition("/tool", "is", "refund")


def amount(op: str, value: Any) -> dict[str, Any]:
    return condition("/args/amount", op, value)


def rule(effect: str, *when: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": more.pop("id", f"{effect}-it"), "effect": effect, "when": list(when), **more}


def document(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"rules": list(rules), "calendars": {"berlin": BERLIN}, **more}


def facts(**more: Any) -> Facts:
    """Return the facts of a refund of 40."""
    members = {
        "reason": "tool_call",
        "tool": "refund",
        "args": {"amount": 40},
        "agent": "desk",
        "team": "support",
        "local_time": NOW,
    }
    return Facts(**{**members, **more})


def ruling(
    *rules: dict[str, Any], installation: list[dict[str, Any]] | None = None, **more: Any
) -> Ruling:
    """Return the ruling of a team's rules, and of the installation's, for a refund of 40."""
    policies = [VersionedPolicy(1, parse_policy(document(*rules)))]
    if installation is not None:
        policy = parse_policy(document(*installation), installation=True)
        policies.append(VersionedPolicy(2, policy, installation=True))
    return evaluate(policies, facts(**more), NOW)


def effect(*rules: dict[str, Any], **more: Any) -> str:
    return ruling(*rules, **more).effect.value


def problems(body: Any, **more: Any) -> list[tuple[str, str]]:
    """Return the pointers and codes of a document's problems."""
    try:
        parse_policy(body, **more)
    except PolicyError as error:
        return [(problem.pointer, problem.code) for problem in error.problems]
    return []
