"""The exceptions of agents, which are shown in the demo and where a team allows it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.conf import settings

from inbox.models import AgentError, Run, Team, Thread
from inbox.queries.people.access import permissions_in
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.secrets import masked_prose


def shows_agent_errors(team: Team) -> bool:
    """Return whether the exceptions of a team's agents are stored, and shown to their authors."""
    return settings.SHOWS_AGENT_ERRORS or team.stores_exceptions


def agent_errors_of(thread: Thread) -> Mapping[UUID, Sequence[str]]:
    """
    Return what agents raised in a thread's runs, by run; empty where they are not shown.

    The caller has checked that the actor may read the thread.
    """
    errors: dict[UUID, list[str]] = defaultdict(list)
    if shows_agent_errors(thread.team):
        rows = AgentError.objects.filter(run__thread=thread).order_by("pk")
        for run_id, text in rows.values_list("run_id", "text"):
            errors[run_id].append(masked_prose(text))
    return errors


def agent_errors_for(actor: Actor, run: Run) -> Sequence[str] | None:
    """
    Return what the agent raised in a run that the actor may read, with secrets masked.

    None where they are not shown, and for actors without the permission `run`: texts of exceptions
    are for authors.
    """
    may_run = Permission.RUN in permissions_in(actor, run.team_id, run.agent_id)
    if not (may_run and shows_agent_errors(run.thread.team)):
        return None
    texts = AgentError.objects.filter(run=run).order_by("pk").values_list("text", flat=True)
    return [*map(masked_prose, texts)]
