"""Threads and runs of an actor's teams, and their conversations."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from inbox.models import Agent, Event, Run, Thread, ToolCall
from inbox.models.statements import Select
from inbox.queries.decisions.merge_pages import latest_ids
from inbox.queries.people.access import access_filter, access_scope, require
from inbox.queries.runs.conversations import committed_events, conversation_before
from inbox.queries.runs.latest_run import latest_run
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus

Row = TypeVar("Row", bound=Model)

#: Columns that may hold megabytes and are deferred.
HEAVY_OF_THREADS = ("messages", "state", "client_messages")
HEAVY_OF_RUNS = ("input", "resume", "checkpoint")
#: Of interrupts with their runs.
HEAVY_OF_INTERRUPTS = ("search_text", *(f"run__{name}" for name in HEAVY_OF_RUNS))
_HEAVY_OF_RUNS_AND_THREADS = (
    *HEAVY_OF_RUNS,
    *(f"thread__{name}" for name in HEAVY_OF_THREADS),
)


@dataclass(frozen=True)
class Hydration:
    """The data with which a new client shows a thread."""

    thread: Thread
    messages: list[Any]
    client_messages: Mapping[str, str]  #: fingerprints of the messages that clients sent, by id
    state: Any
    active: Run | None  #: queued or running: follow it from its `first_seq`
    last: Run | None  #: the run that started last
    last_terminal: str  #: the JSON text of its terminal event, "" while it has none


def threads_for(
    actor: Actor, *, limit: int = 50, after: UUID | None = None, agent: str = ""
) -> Sequence[Thread]:
    """
    Return up to `limit` threads of the actor's teams, the latest first, after the id `after`.

    `agent` is a slug; the list is empty if the actor may not see that agent.
    """
    parts = [Thread.objects.filter(**part) for part in parts_of(actor, agent)]
    return _in_order(_THREADS, latest_ids(parts, limit=limit, after=after))


def _without_conversation() -> "QuerySet[Thread]":
    return Thread.objects.select_related("agent").defer(*HEAVY_OF_THREADS)


def _in_order(statement: Select[Row], ids: Iterable[UUID]) -> list[Row]:
    """Return the rows with these ids, in this order."""
    pks = list(ids)
    rows = {row.pk: row for row in statement.all(ids=pks)} if pks else {}
    return [rows[pk] for pk in pks if pk in rows]


_THREADS = Select(lambda params: _without_conversation().filter(pk__in=params.each("ids")))
_RUNS = Select(
    lambda params: (
        Run.objects.filter(pk__in=params.each("ids"))
        .select_related("thread__agent")
        .defer(*_HEAVY_OF_RUNS_AND_THREADS)
    )
)


def runs_by_id(ids: Sequence[UUID]) -> Sequence[Run]:
    """Return the runs with these ids, in this order, with their threads and agents."""
    return _in_order(_RUNS, ids)


def thread_for(actor: Actor, thread_id: UUID) -> Thread:
    """Raises NotFound."""
    thread = next(iter(_THREADS.all(ids=[thread_id])), None)
    if thread is None:
        raise NotFound()
    require(actor, thread.team_id, Permission.READ, thread.agent_id)
    return thread


def thread_by_external_id(actor: Actor, agent: Agent, external_id: str) -> Thread:
    """Return a thread by its AG-UI threadId. Raises NotFound."""
    thread = _without_conversation().filter(agent=agent, external_id=external_id).first()
    if thread is None:
        raise NotFound()
    require(actor, thread.team_id, Permission.READ, thread.agent_id)
    return thread


def run_for(actor: Actor, run_id: UUID) -> Run:
    """Raises NotFound."""
    run = next(iter(_RUNS.all(ids=[run_id])), None)
    if run is None:
        raise NotFound()
    require(actor, run.thread.team_id, Permission.READ, run.thread.agent_id)
    return run


def runs_of(thread: Thread) -> Sequence[Run]:
    """Return the thread's runs, the oldest first."""
    rows = Run.objects.filter(thread=thread).defer(*HEAVY_OF_RUNS)
    return list(rows.order_by("first_seq", "pk"))


def runs_for(
    actor: Actor,
    *,
    limit: int = 50,
    after: UUID | None = None,
    statuses: Collection[RunStatus] = (),
    agent: str = "",
    thread: Thread | None = None,
) -> Sequence[Run]:
    """Return up to `limit` runs, the latest first, of the actor's teams, an agent or a thread."""
    parts = [{"thread": thread}] if thread else parts_of(actor, agent)
    if statuses:
        parts = [{**part, "status": status} for part in parts for status in statuses]
    if thread and agent and thread.agent.slug != agent:
        parts = []
    ids = latest_ids((Run.objects.filter(**part) for part in parts), limit=limit, after=after)
    return _in_order(_RUNS, ids)


def parts_of(actor: Actor, agent: str) -> list[dict[str, Any]]:
    """Return filters whose rows are in the order of an index: one per team, or one per agent."""
    teams, agent_id = access_scope(actor)
    if not agent and agent_id is None:
        return [{"team": team} for team in teams]
    agents = Agent.objects.filter(access_filter(actor, team="team", agent="pk"))
    agents = agents.filter(slug=agent) if agent else agents
    return [{"agent": pk} for pk in agents.values_list("pk", flat=True)]


def tool_calls_of(thread: Thread) -> Sequence[ToolCall]:
    """Return all tool calls of the thread, in the order proposed."""
    return list(ToolCall.objects.filter(thread=thread).order_by("pk"))


def errors_of(thread: Thread) -> dict[UUID, str]:
    """Return the JSON text of the RUN_ERROR event of each failed run, by run id."""
    return dict(Event.objects.filter(thread=thread, type="RUN_ERROR").values_list("run", "body"))


@dataclass(frozen=True)
class CurrentConversation:
    """A conversation after the last committed event, as JSON values."""

    messages: Sequence[Any]
    state: Any
    client_messages: Mapping[str, str]


def current_conversation(thread: Thread) -> CurrentConversation:
    """Return the conversation after the last committed event, including an active run's."""
    while True:
        active = _active_run(thread)
        thread.refresh_from_db(fields=HEAVY_OF_THREADS)
        # If a run ended between the two reads, its messages may be counted twice or not at all.
        if _active_run(thread) == active:
            break
    if active is None:
        return CurrentConversation(
            messages=json.loads(thread.messages),
            state=json.loads(thread.state),
            client_messages=json.loads(thread.client_messages),
        )
    conversation = conversation_before(active, thread)
    for event, _ in committed_events(active):
        conversation.apply(event)
    values = conversation.to_json()
    return CurrentConversation(values["messages"], values["state"], conversation.client_messages)


def _active_run(thread: Thread) -> Run | None:
    return Run.objects.filter(thread=thread, status__in=ACTIVE_RUN_STATUSES).first()


def hydration_of(thread: Thread) -> Hydration:
    """Return the thread for a new client: with the input of an active run, without its events."""
    last = latest_run(thread)
    while True:
        thread.refresh_from_db(fields=HEAVY_OF_THREADS)
        before, last = last, latest_run(thread)
        # If a run ended between the two reads, its messages would be missing.
        if _progress(before) == _progress(last):
            break
    active = last if last and last.status in ACTIVE_RUN_STATUSES else None
    if active is not None:
        conversation = conversation_before(active, thread).to_json()
    else:
        conversation = {
            "messages": json.loads(thread.messages),
            "state": json.loads(thread.state),
            "clientMessages": json.loads(thread.client_messages),
        }
    return Hydration(
        thread=thread,
        messages=conversation["messages"],
        client_messages=conversation["clientMessages"],
        state=conversation["state"],
        active=active,
        last=last,
        last_terminal=terminal_event_of(last) if last else "",
    )


def _progress(run: Run | None) -> tuple[UUID, bool] | None:
    return None if run is None else (run.pk, run.status in ACTIVE_RUN_STATUSES)


def terminal_event_of(run: Run) -> str:
    """Return the JSON text of the run's terminal event, "" while it has none."""
    if run.status in ACTIVE_RUN_STATUSES:
        return ""
    return _TERMINAL_EVENT.first(run=run.pk) or ""


_TERMINAL_EVENT = Select(
    lambda params: (
        Event.objects.filter(run=params.run, type__in=("RUN_FINISHED", "RUN_ERROR"))
        .order_by("-seq")
        .values_list("body", flat=True)[:1]
    )
)
