"""The exceptions of agents, which are shown in the demo only."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.conf import settings

from inbox.models import AgentError, Run, Thread
from inbox.queries.people.access import permissions_in
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.secrets import cut_at_secret


def agent_errors_of(thread: Thread) -> Mapping[UUID, Sequence[str]]:
    """
    Return what agents raised in a thread's runs, by run; empty outside of the demo.

    The caller has checked that the actor may read the thread.
    """
    errors: dict[UUID, list[str]] = defaultdict(list)
    if settings.SHOWS_AGENT_ERRORS:
        rows = AgentError.objects.filter(run__thread=thread).order_by("pk")
        for run_id, text in rows.values_list("run_id", "text"):
            errors[run_id].append(text)
    return errors


def agent_errors_for(actor: Actor, run: Run) -> Sequence[str] | None:
    """
    Return what the agent raised in a run that the actor may read, with secrets masked.

    None outside of the demo, and for actors without the permission `run`: texts of exceptions are
    for authors.
    """
    may_run = Permission.RUN in permissions_in(actor, run.team_id, run.agent_id)
    if not (settings.SHOWS_AGENT_ERRORS and may_run):
        return None
    texts = AgentError.objects.filter(run=run).order_by("pk").values_list("text", flat=True)
    return [cut_at_secret(text) for text in texts]
