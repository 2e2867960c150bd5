"""Trying a policy on one request, or on a call that was typed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.models import Agent, Interrupt, Team
from inbox.platform import clock
from inbox.queries.policies.backtests import require_drafting
from inbox.queries.policies.past_requests import past_requests
from inbox.queries.policies.policies import installation_policies
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.evaluation import Match, Ruling, VersionedPolicy, evaluate, rule_matches
from inbox.rules.policies.facts import Facts
from inbox.rules.policies.language.policy import Rule
from inbox.rules.runs.states import Reason
from inbox.rules.text.messages import TranslatableMessage

_REQUESTS_LISTED = 20


@dataclass(frozen=True)
class Call:
    """The facts of a call that was typed; what is None is unknown."""

    tool: str | None = None
    agent: str | None = None
    environment: str | None = None
    arguments: Any = None
    at: datetime | None = None


@dataclass(frozen=True)
class Trial:
    """The ruling that a policy would give, and how each of its rules took part."""

    ruling: Ruling
    matches: list[tuple[Rule, Match]]


def try_policy(
    actor: Actor,
    team: Team,
    policy: VersionedPolicy,
    *,
    call: Call,
    request: UUID | None = None,
) -> Trial:
    """
    Return the ruling on a request of the team, or else on a call; nothing is stored.

    The environment of a call is that of its agent, unless the call names one.

    Raises:
        NotFound, Forbidden: also for a request of another team.
        InvalidValue: the time of the call has no time zone.
    """
    require_drafting(actor, team.pk)
    if request is not None:
        past = next(past_requests(team, 1, only=[request]), None)
        if past is None:
            raise errors.NotFound()
        facts, at = past[0].facts, past[0].at
    else:
        at = call.at or clock.now()
        if at.tzinfo is None:
            raise errors.InvalidValue(TranslatableMessage("The time needs a time zone."))
        facts = _facts(team, call, at)
    policies = [*installation_policies(team), policy]
    ruling = evaluate(policies, facts, at)
    return Trial(ruling, rule_matches(policies, facts, ruling))


def recent_requests(actor: Actor, team: Team) -> list[tuple[UUID, str, datetime]]:
    """
    Return the id, title and time of the latest requests of a team.

    Raises:
        NotFound, Forbidden.
    """
    require_drafting(actor, team.pk)
    rows = Interrupt.objects.filter(team=team.pk).order_by("-pk")
    return list(rows.values_list("pk", "title", "created_at")[:_REQUESTS_LISTED])


def agents_of(actor: Actor, team: Team) -> list[str]:
    """
    Return the names of a team's agents.

    Raises:
        NotFound, Forbidden.
    """
    require_drafting(actor, team.pk)
    return list(Agent.objects.filter(team=team.pk).order_by("slug").values_list("slug", flat=True))


def _facts(team: Team, call: Call, at: datetime) -> Facts:
    environment = call.environment
    if environment is None and call.agent:
        agent = Agent.objects.filter(team=team.pk, slug=call.agent).first()
        environment = agent.environment if agent else None
    return Facts(
        reason=Reason.TOOL_CALL,
        tool=call.tool,
        args=call.arguments,
        agent=call.agent,
        environment=environment or None,
        team=team.slug,
        local_time=at,
    )
