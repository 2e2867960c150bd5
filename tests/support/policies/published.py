"""Policies in tests."""

from typing import Any

from inbox.actions.decisions.decide import decide
from inbox.actions.people.provisioning import add_member
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.models import PolicyVersion
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED, Role
from inbox.rules.policies.grants import GrantRequest
from inbox.rules.runs.states import EntryStatus


def administrator(world: Any, name: str = "erin") -> Any:
    user = add_member(
        team=world.team,
        username=name,
        full_name=name.capitalize(),
        password=f"{name}-password",
        role=Role.ADMIN,
        actor=SEED,
    )
    return actor_of_user(user)


def publish(world: Any, *rules: dict[str, Any], actor: Any = SEED) -> PolicyVersion:
    """Publish a policy with these rules in the team."""
    save_draft(team_id=world.team.pk, body={"rules": list(rules)}, actor=actor)
    version = publish_draft(team_id=world.team.pk, actor=actor)
    world.team.refresh_from_db()
    return version


def rule(rule_id: str, effect: str, *when: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"id": rule_id, "effect": effect, "when": list(when), **members}


def tool_is(name: str) -> dict[str, Any]:
    return {"path": "/tool", "op": "is", "value": name}


def up_to(amount: float) -> dict[str, Any]:
    return {"path": "/args/amount", "op": "lte", "value": amount}


def approve_with_grant(interrupt: Any, actor: Any, **limits: Any) -> Any:
    """Approve a request, and allow the same call in its thread; return the grant's id."""
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": True},
        actor=actor,
        view_digest=interrupt.shown_digest,
        entrance=Entrance.REST,
        grant=GrantRequest(limits.pop("choices", {}), **limits),
    )
    return interrupt.grants.get().pk
