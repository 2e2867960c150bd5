"""Threads and runs as the outside sees them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.actions.endings import committed_events, conversation_before
from inbox.actions.locking import lock_thread
from inbox.actions.runs import latest_run
from inbox.domain.access import Actor, Permission
from inbox.domain.errors import NotFound
from inbox.domain.states import ACTIVE_RUN, RunStatus
from inbox.models import Agent, Event, Run, Thread, ToolCall
from inbox.selectors.access import require, teams_of


@dataclass(frozen=True)
class Hydration:
    """What a client that knows nothing needs to show a thread."""

    thread: Thread
    messages: list[Any]
    state: Any
    active: Run | None  #: still going on: follow it from its `first_seq`
    last: Run | None  #: the run that started last
    last_terminal: str  #: the JSON text of its terminal event, "" while it has none


def threads_for(actor: Actor, *, limit: int = 50) -> Sequence[Thread]:
    """The threads of the actor's teams, the latest first."""
    return list(
        Thread.objects.filter(team__in=teams_of(actor))
        .select_related("agent")
        .order_by("-updated_at")[:limit]
    )


def thread_for(actor: Actor, thread_id: UUID) -> Thread:
    """Raises NotFound."""
    thread = Thread.objects.select_related("agent").filter(pk=thread_id).first()
    if thread is None:
        raise NotFound()
    require(actor, thread.team_id, Permission.READ)
    return thread


def thread_by_address(actor: Actor, agent: Agent, external_id: str) -> Thread:
    """A thread by its AG-UI threadId. Raises NotFound."""
    thread = (
        Thread.objects.select_related("agent").filter(agent=agent, external_id=external_id).first()
    )
    if thread is None:
        raise NotFound()
    require(actor, thread.team_id, Permission.READ)
    return thread


def run_for(actor: Actor, run_id: UUID) -> Run:
    """Raises NotFound."""
    run = Run.objects.select_related("thread__agent").filter(pk=run_id).first()
    if run is None:
        raise NotFound()
    require(actor, run.thread.team_id, Permission.READ)
    return run


def runs_of(thread: Thread) -> Sequence[Run]:
    """The thread's runs, oldest first."""
    return list(Run.objects.filter(thread=thread).order_by("first_seq", "pk"))


def runs_for(
    actor: Actor,
    *,
    limit: int = 50,
    after: Run | None = None,
    statuses: Collection[RunStatus] = (),
) -> Sequence[Run]:
    """The latest runs of the actor's teams, those that came before `after`."""
    rows = Run.objects.filter(thread__team__in=teams_of(actor))
    if statuses:
        rows = rows.filter(status__in=statuses)
    if after is not None:
        rows = rows.filter(pk__lt=after.pk)
    return list(rows.select_related("thread__agent").order_by("-pk")[:limit])


def tool_calls_of(thread: Thread) -> Sequence[ToolCall]:
    """Every tool call of the thread, in the order proposed."""
    return list(ToolCall.objects.filter(thread=thread).order_by("pk"))


def errors_of(thread: Thread) -> dict[UUID, str]:
    """The JSON text of the RUN_ERROR event of each failed run."""
    return dict(Event.objects.filter(thread=thread, type="RUN_ERROR").values_list("run", "body"))


def conversation_so_far(thread: Thread) -> tuple[list[Any], Any]:
    """The messages and the state as of the last event committed, of an active run's too."""
    active = Run.objects.filter(thread=thread, status__in=ACTIVE_RUN).first()
    if active is None:
        # A run that ended since the thread was read has left both there.
        thread.refresh_from_db(fields=["messages", "state"])
        return json.loads(thread.messages), json.loads(thread.state)
    conversation = conversation_before(active, thread)
    for event, _ in committed_events(active):
        conversation.apply(event)
    kept = conversation.to_json()
    return list(kept["messages"]), kept["state"]


@transaction.atomic
def hydration_of(thread: Thread) -> Hydration:
    """The thread as a client finds it now: with what an active run has been given, not yet said."""
    # A run that ends between two of these reads would leave its messages out and its outcome in.
    thread, _ = lock_thread(thread.pk)
    last = latest_run(thread)
    active = last if last and last.status in ACTIVE_RUN else None
    if active is not None:
        conversation = conversation_before(active, thread).to_json()
    else:
        conversation = {"messages": json.loads(thread.messages), "state": json.loads(thread.state)}
    return Hydration(
        thread=thread,
        messages=conversation["messages"],
        state=conversation["state"],
        active=active,
        last=last,
        last_terminal=terminal_of(last) if last else "",
    )


def terminal_of(run: Run) -> str:
    """The JSON text of the run's terminal event, "" while it has none."""
    if run.status in ACTIVE_RUN:
        return ""
    body = (
        Event.objects.filter(run=run, type__in=("RUN_FINISHED", "RUN_ERROR"))
        .order_by("-seq")
        .values_list("body", flat=True)
        .first()
    )
    return body or ""
