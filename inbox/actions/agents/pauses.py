"""Pausing agents: by administrators, and those that ask again and again beyond their limits."""

from uuid import UUID

from django.conf import settings
from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.notifications.announcements import announce_pause
from inbox.models import Agent, Run
from inbox.models.locks import lock_agent
from inbox.platform import rate_limits
from inbox.platform.clock import database_now
from inbox.queries.agents.agents import agent_for
from inbox.queries.people.access import require
from inbox.rules import errors
from inbox.rules.agents.pauses import PauseReason
from inbox.rules.limits.team_limits import AGENT_LIMITS
from inbox.rules.people.access import SWEEPER, Actor, Permission
from inbox.rules.runs.states import RunStatus
from inbox.rules.text.messages import TranslatableMessage

#: Queued runs that are woken at once when their agent is resumed; the sweeper wakes the others.
_MAX_WOKEN = 100


def check_not_paused(agent: Agent) -> None:
    """
    Raise AgentPaused if an agent may begin nothing new.

    By the row of the request: what begins at the moment of a pause may go on.
    """
    if agent.paused_at is not None:
        raise errors.AgentPaused(
            TranslatableMessage(
                "The agent {name} is paused. An administrator of its team can resume it.",
                name=agent.slug,
            )
        )


@transaction.atomic(durable=True)
def set_paused(*, slug: str, is_paused: bool, actor: Actor) -> Agent:
    """
    Pause or resume an agent. Safe to replay: without a change nothing is written.

    A paused agent asks nothing and starts nothing new, and its queued runs wait. What was approved
    is executed.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, agent_for(actor, slug).team_id, Permission.ADMIN)
    agent = lock_agent(slug)
    if agent is None:
        raise errors.NotFound()
    require(actor, agent.team_id, Permission.ADMIN)
    if is_paused and agent.paused_at is None:
        _pause(agent, PauseReason.BY_HAND, actor)
    elif not is_paused and agent.paused_at is not None:
        agent.paused_at, agent.pause_reason = None, ""
        agent.save(update_fields=["paused_at", "pause_reason"])
        audit_trail.record(
            "agent.resumed", actor, database_now(), team_id=agent.team_id, agent=slug
        )
        queued = Run.objects.filter(agent=agent, status=RunStatus.QUEUED, pulled=False)
        for run_id in queued.order_by("pk").values_list("pk", flat=True)[:_MAX_WOKEN]:
            wakeups.wake_workers_on_commit(run_id)
    return agent


def count_refused_request(agent_id: UUID, limit: str | None) -> None:
    """
    Count that an agent asked beyond a limit, and pause it if it does so again and again.

    Call it outside of transactions: what is counted is not undone. Requests beyond the limits of
    the whole team do not count.
    """
    rate = settings.PAUSE_AGENTS_AFTER
    if limit in AGENT_LIMITS and rate_limits.count_refusal(rate, str(agent_id)):
        pause_flooding_agent(agent_id=agent_id)


@transaction.atomic(durable=True)
def pause_flooding_agent(*, agent_id: UUID) -> bool:
    """Pause an agent, and notify the administrators of its team; False if it is paused already."""
    agent = lock_agent(Agent.objects.get(pk=agent_id).slug)
    if agent is None or agent.paused_at is not None:
        return False
    _pause(agent, PauseReason.FLOOD, SWEEPER)
    announce_pause(agent, database_now())
    return True


def _pause(agent: Agent, reason: PauseReason, actor: Actor) -> None:
    now = database_now()
    agent.paused_at, agent.pause_reason = now, reason
    agent.save(update_fields=["paused_at", "pause_reason"])
    audit_trail.record(
        "agent.paused", actor, now, team_id=agent.team_id, agent=agent.slug, reason=reason.value
    )
