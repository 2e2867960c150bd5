"""The exceptions of agents, which pages show in the demo only."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.conf import settings

from inbox.models import AgentError, Thread


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
