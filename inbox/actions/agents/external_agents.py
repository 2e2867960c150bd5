"""Agents that run by themselves, and ask over REST."""

import json
from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import transaction

from inbox.actions.agents.environments import check_environment
from inbox.actions.agents.remote_agents import RemoteAgentResult
from inbox.actions.audit import audit_trail
from inbox.actions.conflicts import retry_on_conflict
from inbox.actions.webhooks.endpoints import set_callbacks
from inbox.models import Agent
from inbox.models.locks import lock_agent
from inbox.platform.clock import database_now
from inbox.platform.outgoing_hosts import webhook_hosts
from inbox.queries.people.access import require
from inbox.rules.agents.remote_agents import EXTERNAL, check_name, is_external
from inbox.rules.errors import AddressTaken
from inbox.rules.people.access import Actor, Permission
from inbox.rules.requests.callbacks import check_prefixes
from inbox.rules.text.messages import TranslatableMessage


@retry_on_conflict
@transaction.atomic(durable=True)
def set_external_agent(
    *,
    team_id: UUID,
    slug: str,
    actor: Actor,
    description: str | None = None,
    environment: str | None = None,
    callback_prefixes: Sequence[str] | None = None,
    must_be_new: bool = False,
    check_seen: Callable[[], None] = lambda: None,
) -> RemoteAgentResult:
    """
    Add an agent that runs by itself to a team, or change one; None keeps what is stored.

    Raises:
        NotFound, Forbidden.
        InvalidValue: the slug, the description, the environment or a prefix is invalid.
        AddressTaken: another agent has this slug, or the agent exists and `must_be_new`.
        Any error of `check_seen`, which is called under the lock.
    """
    agent = lock_agent(slug)
    require(actor, team_id, Permission.ADMIN)
    is_new = agent is None
    if agent is not None and (
        must_be_new or agent.team_id != team_id or not is_external(agent.implementation)
    ):
        raise AddressTaken(
            TranslatableMessage(
                "An agent named {name} already exists. Choose another name.", name=repr(slug)
            )
        )
    check_seen()
    check_name(slug, description or "")
    now = database_now()
    if agent is None:
        agent = Agent(team_id=team_id, slug=slug, created_at=now)
        agent.implementation = f"{EXTERNAL}{agent.pk}"
    if description is not None:
        agent.description = description
    if environment is not None:
        agent.environment = check_environment(environment)
    if callback_prefixes is not None:
        check_prefixes(callback_prefixes, webhook_hosts())
        agent.callback_prefixes = json.dumps(list(callback_prefixes))
    if is_new:
        agent.save(force_insert=True)
    else:
        agent.save(update_fields=["description", "environment", "callback_prefixes"])
    if callback_prefixes is not None:
        set_callbacks(agent=agent, prefixes=callback_prefixes, actor=actor, now=now)
    audit_trail.record(
        "agent.added" if is_new else "agent.changed",
        actor,
        now,
        team_id=team_id,
        agent=slug,
        kind="external",
        callback_prefixes=json.loads(agent.callback_prefixes),
    )
    return RemoteAgentResult(agent, is_new)
