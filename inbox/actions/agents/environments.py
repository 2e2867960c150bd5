"""The environment of an agent, a fact for policies."""

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import Agent
from inbox.models.locks import lock_agent
from inbox.platform.clock import database_now
from inbox.queries.agents.agents import agent_for
from inbox.queries.people.access import require
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

MAX_ENVIRONMENT_CHARACTERS = 40


@transaction.atomic(durable=True)
def set_environment(*, slug: str, environment: str, actor: Actor) -> Agent:
    """
    Set the environment that rules see as `/environment`; "" for none.

    Open interrupts keep their rulings. Safe to replay: the same value writes no audit entry.

    Raises:
        NotFound, Forbidden.
        InvalidValue: it is too long, or has spaces around it or characters that cannot be printed.
    """
    require(actor, agent_for(actor, slug).team_id, Permission.ADMIN)
    agent = lock_agent(slug)
    if agent is None:
        raise errors.NotFound()
    check_environment(environment)
    if environment != agent.environment:
        audit_trail.record(
            "agent.environment_set",
            actor,
            database_now(),
            team_id=agent.team_id,
            agent=slug,
            before=agent.environment,
            environment=environment,
        )
        agent.environment = environment
        agent.save(update_fields=["environment"])
    return agent


def check_environment(environment: str) -> str:
    """Return the name of an environment. Raises InvalidValue."""
    is_plain = environment.isprintable() and environment == environment.strip()
    if not is_plain or len(environment) > MAX_ENVIRONMENT_CHARACTERS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "An environment is a name of at most {most} characters.",
                most=MAX_ENVIRONMENT_CHARACTERS,
            )
        )
    return environment
