"""The AG-UI door, whatever the transport: an input in, the events of a run out."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ag_ui.core import (
    BaseEvent,
    Interrupt,
    Message,
    MessagesSnapshotEvent,
    RunErrorEvent,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    StateSnapshotEvent,
)
from pydantic import TypeAdapter

from agents.agui import strict_json, wire
from agents.agui.legacy.dialects import Dialect
from agents.agui.legacy.legacy_clients import extract_answer
from inbox import engine
from inbox.actions.runs.delivered_outcomes import record_delivered_outcome
from inbox.actions.runs.start_run import RunRequest
from inbox.agui_server.legacy_clients import (
    asked_again,
    dialect_of,
    entries_of,
    open_interrupts,
    retold,
    retold_rows,
)
from inbox.agui_server.run_input import check_external_id, run_request
from inbox.feed import EventRow, follow_run
from inbox.models import Run
from inbox.platform.db_executor import in_db_thread
from inbox.queries.agents import agents
from inbox.queries.people.access import is_still_allowed
from inbox.queries.runs import threads
from inbox.queries.runs.delivered_interrupts import DeliveredInterrupt, interrupts_of_run
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import ContractError, Forbidden, InvalidInput
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import RunStatus

_MESSAGES = TypeAdapter(list[Message])


@dataclass(frozen=True)
class Answer:
    """What a client gets: some events of its own, then a run followed to its end."""

    bodies: Sequence[str] = ()
    run: Run | None = None  #: followed from its first event
    run_id: str = ""  #: what the client calls it, if somebody else started it
    may_read: Callable[[], bool] = lambda: True
    dialect: Dialect = Dialect.CANONICAL
    asked: Sequence[DeliveredInterrupt] = ()  #: the interrupts that `bodies` tell of
    actor: Actor | None = None  #: who is told, for a client of an older dialect

    def rows(self) -> AsyncIterator[Sequence[EventRow]] | None:
        if self.run is None:
            return None
        rows = follow_run(self.run.thread_id, self.run.pk, self.run.first_seq - 1, self.may_read)
        if self.run_id:
            rows = _renamed(rows, self.run_id)
        if self.dialect is Dialect.CANONICAL or self.actor is None:
            return rows
        return retold_rows(_recorded(rows, self), self.dialect)


async def run(
    actor: Actor, slug: str, value: Any, dialect: str = Dialect.CANONICAL, *, entrance: Entrance
) -> Answer:
    """
    Accept a RunAgentInput, and answer in the dialect that the client speaks.

    What the interrupt contract refuses is answered as a RUN_ERROR; the rest is raised.

    Raises:
        Unauthenticated, NotFound, Forbidden, InvalidInput, InvalidValue.
    """
    spoken = dialect_of(dialect)
    answer = await in_db_thread(_run, actor, slug, value, spoken, entrance)
    return await in_db_thread(_in_dialect, answer, actor, spoken)


async def connect(actor: Actor, slug: str, value: Any, dialect: str = Dialect.CANONICAL) -> Answer:
    """
    Snapshots and the last outcome of a thread, for a browser that was reloaded; a run that is
    still going on is followed.

    Raises:
        NotFound, InvalidInput, InvalidValue.
    """
    spoken = dialect_of(dialect)
    answer = await in_db_thread(_connect, actor, slug, value)
    return await in_db_thread(_in_dialect, answer, actor, spoken)


def _in_dialect(answer: Answer, actor: Actor, dialect: Dialect) -> Answer:
    """
    Return the answer for a client that speaks this dialect.

    Clients of older dialects may answer without an interrupt id: which interrupts they were told of
    is stored before they are told.
    """
    if dialect is Dialect.CANONICAL:
        return answer
    if answer.asked:
        ids = [one.interrupt_id for one in answer.asked]
        _record_delivered(answer.asked[0].run, ids, actor, dialect)
    bodies = retold(answer.bodies, dialect)
    return replace(answer, bodies=bodies, dialect=dialect, actor=actor)


def _record_delivered(run: Run, ids: Sequence[str], actor: Actor, dialect: Dialect) -> None:
    # The draft tells of one interrupt at a time.
    told = ids[:1] if dialect is Dialect.DRAFT else ids
    record_delivered_outcome(run=run, interrupt_ids=told, actor=actor)


async def _recorded(
    chunks: AsyncIterator[Sequence[EventRow]], answer: Answer
) -> AsyncIterator[Sequence[EventRow]]:
    """Yield the rows of a run; before its interrupts are told, store that the actor is told."""
    run, actor = answer.run, answer.actor
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            for row in chunk:
                ids = wire.interrupt_ids(row.body) if row.type == "RUN_FINISHED" else ()
                if ids and run is not None and actor is not None:
                    await in_db_thread(_record_delivered, run, ids, actor, answer.dialect)
            yield chunk


def _run(actor: Actor, slug: str, value: Any, dialect: Dialect, entrance: Entrance) -> Answer:
    value, given = extract_answer(dialect, value)
    request = run_request(value)
    agent = agents.agent_for(actor, slug)
    try:
        if given is not None:
            entries, still_open = entries_of(actor, agent, request, dialect, given, entrance)
            if still_open:
                return _asks(request, still_open)
            request = replace(request, entries=entries, has_resume=True)
        accepted = engine.start_run(agent=agent, request=request, actor=actor, entrance=entrance)
    except (ContractError, Forbidden) as refusal:
        if isinstance(refusal, Forbidden) and not request.entries and given is None:
            raise
        is_langgraph = dialect is Dialect.LANGGRAPH
        still_open = open_interrupts(actor, agent, request.thread_id) if is_langgraph else ()
        return _refused(request, refusal, still_open)
    taken = accepted.run
    if accepted.replayed and taken.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return _as_it_ended(taken, request.run_id)
    return Answer(
        run=taken,
        run_id=request.run_id if accepted.replayed else "",
        may_read=partial(is_still_allowed, actor, agent.team_id),
    )


async def _renamed(
    chunks: AsyncIterator[Sequence[EventRow]], run_id: str
) -> AsyncIterator[Sequence[EventRow]]:
    """The rows of a run under the id that a client knows it by."""
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            yield [
                row._replace(body=_with_run_id(row.body, run_id))
                if row.type in ("RUN_STARTED", "RUN_FINISHED")
                else row
                for row in chunk
            ]


def _with_run_id(body: str, run_id: str) -> str:
    return wire.encode(wire.decode(body).model_copy(update={"run_id": run_id}))


def _connect(actor: Actor, slug: str, value: Any) -> Answer:
    thread_id = value.get("threadId") if isinstance(value, dict) else None
    if not isinstance(thread_id, str):
        raise InvalidInput('Send {"threadId": "..."}.')
    check_external_id("threadId", thread_id)
    agent = agents.agent_for(actor, slug)
    known = threads.hydration_of(threads.thread_by_external_id(actor, agent, thread_id))
    if known.active is not None:
        # Its RUN_STARTED is in the log; what came before reaches the client as a run of its own.
        return Answer(
            bodies=_ended(known, "") if known.messages else (),
            run=known.active,
            may_read=partial(is_still_allowed, actor, agent.team_id),
        )
    asked = _asked(known)
    return Answer(bodies=_ended(known, _as_of_now(known.last_terminal, asked)), asked=asked)


def _asked(known: threads.Hydration) -> Sequence[DeliveredInterrupt]:
    """Return the interrupts that the last run of the thread ended with."""
    last = known.last
    is_waiting = last is not None and last.status == RunStatus.INTERRUPTED
    return interrupts_of_run(known.thread, last) if last and is_waiting else ()


def _as_of_now(terminal: str, asked: Sequence[DeliveredInterrupt]) -> str:
    """Return a terminal event with the view digests of now: those in the log may be older."""
    if not asked:
        return terminal
    event = json.loads(terminal)
    event["outcome"]["interrupts"] = [one.body for one in asked]
    return strict_json.dumps(event)


def _ended(known: threads.Hydration, terminal: str) -> Sequence[str]:
    run_id = known.last.external_id if known.last and terminal else "history"
    if not terminal:
        terminal = wire.encode(
            RunFinishedEvent(thread_id=known.thread.external_id, run_id=run_id, outcome=_SUCCESS)
        )
    return [*_snapshots(known, run_id), terminal]


def _as_it_ended(run: Run, run_id: str) -> Answer:
    """A replayed resume: how the thread stands and how its run ended, under the new run id."""
    known = threads.hydration_of(run.thread)
    terminal: Any = wire.decode(threads.terminal_event_of(run))
    if isinstance(terminal, RunFinishedEvent):
        # What it asked itself may be answered by now: then there is nothing left to answer.
        is_answered = run.status == RunStatus.INTERRUPTED and known.last != run
        outcome = _SUCCESS if is_answered else terminal.outcome
        terminal = terminal.model_copy(update={"run_id": run_id, "outcome": outcome})
    asked = () if known.last != run else _asked(known)
    bodies = [*_snapshots(known, run_id), _as_of_now(wire.encode(terminal), asked)]
    return Answer(bodies=bodies, asked=asked)


def _snapshots(known: threads.Hydration, run_id: str) -> list[str]:
    """What a stream that tells how a thread stands begins with."""
    events: list[BaseEvent] = [
        wire.run_started(known.thread.external_id, run_id),
        StateSnapshotEvent(snapshot=known.state or {}),
        MessagesSnapshotEvent(messages=_MESSAGES.validate_python(known.messages)),
    ]
    return [wire.encode(event) for event in events]


def _asks(request: RunRequest, asked: Sequence[DeliveredInterrupt]) -> Answer:
    """What is still asked, as the end of a run that nobody has to do."""
    interrupts = [Interrupt.model_validate(one.body) for one in asked]
    outcome = RunFinishedInterruptOutcome(interrupts=interrupts)
    events: list[BaseEvent] = [
        wire.run_started(request.thread_id, request.run_id),
        MessagesSnapshotEvent(messages=_MESSAGES.validate_python(asked[0].messages)),
        RunFinishedEvent(thread_id=request.thread_id, run_id=request.run_id, outcome=outcome),
    ]
    return Answer(bodies=[wire.encode(event) for event in events], asked=asked)


def _refused(
    request: RunRequest,
    refusal: ContractError | Forbidden,
    still_open: Sequence[DeliveredInterrupt],
) -> Answer:
    """Return the refusal as a RUN_ERROR, after what is still open in LangGraph's dialect."""
    started = wire.encode(wire.run_started(request.thread_id, request.run_id))
    error = run_error(refusal.code, refusal.message)
    return Answer(bodies=[started, *asked_again(still_open), error], asked=still_open)


def run_error(code: str, message: str) -> str:
    """A RUN_ERROR on its own, for a transport that has no status codes."""
    return wire.encode(RunErrorEvent(message=message, code=code))


_SUCCESS = RunFinishedSuccessOutcome(type="success")
