"""The AG-UI server, independent of the transport: accepts an input, returns the events of a run."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
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
from agents.agui.legacy.legacy_clients import extract_answer, with_message_ids
from inbox import engine
from inbox.actions.runs.delivered_outcomes import record_delivered_outcome
from inbox.actions.runs.start_run import RunRequest
from inbox.agui_server.legacy_clients import (
    open_interrupts,
    parse_dialect,
    repeat_interrupts,
    resume_entries,
    translate_events,
    translate_rows,
)
from inbox.agui_server.run_input import check_external_id, run_request
from inbox.feed import EventRow, follow_run, take_stream_of_team
from inbox.models import Run
from inbox.platform.db_executor import in_db_thread
from inbox.queries.agents import agents
from inbox.queries.people.live_access import TeamReader
from inbox.queries.runs import threads
from inbox.queries.runs.delivered_interrupts import DeliveredInterrupt, interrupts_of_run
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import ContractError, Forbidden, InvalidInput
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import RunStatus

_MESSAGES = TypeAdapter(list[Message])


@dataclass(frozen=True)
class AguiResponse:
    """The response to a client: events for this client only, then those of a run until it ends."""

    bodies: Sequence[str] = ()
    run: Run | None = None  #: followed from its first event
    run_id: str = ""  #: the client's id of the run, if another request started it
    reader: TeamReader | None = None
    dialect: Dialect = Dialect.CANONICAL
    interrupts: Sequence[DeliveredInterrupt] = ()  #: those in `bodies`
    actor: Actor | None = None  #: the client, if it uses an older dialect

    def rows(self) -> AsyncIterator[Sequence[EventRow]] | None:
        if self.run is None:
            return None
        rows = follow_run(self.run.thread_id, self.run.pk, self.run.first_seq - 1, self.reader)
        if self.run_id:
            rows = _replace_run_id(rows, self.run_id)
        if self.dialect is Dialect.CANONICAL or self.actor is None:
            return rows
        return translate_rows(_record_and_yield(rows, self), self.dialect)


async def run(
    actor: Actor, slug: str, value: Any, dialect: str = Dialect.CANONICAL, *, entrance: Entrance
) -> AguiResponse:
    """
    Accept a RunAgentInput and respond in the client's dialect.

    Violations of the interrupt contract become a RUN_ERROR event; other errors are raised.

    Raises:
        Unauthenticated, NotFound, Forbidden, InvalidInput, InvalidValue.
    """
    client_dialect = parse_dialect(dialect)
    response = await in_db_thread(_run, actor, slug, value, client_dialect, entrance)
    return await in_db_thread(_translate_response, response, actor, client_dialect)


async def connect(
    actor: Actor, slug: str, value: Any, dialect: str = Dialect.CANONICAL
) -> AguiResponse:
    """
    Return snapshots and the last outcome of a thread, for a browser that was reloaded.

    The events of an active run follow.

    Raises:
        NotFound, InvalidInput, InvalidValue.
    """
    client_dialect = parse_dialect(dialect)
    response = await in_db_thread(_connect, actor, slug, value)
    return await in_db_thread(_translate_response, response, actor, client_dialect)


def _translate_response(response: AguiResponse, actor: Actor, dialect: Dialect) -> AguiResponse:
    """
    Return the response in this dialect.

    Clients of older dialects may answer without an interrupt id, so the ids of the interrupts that
    they receive are stored first.
    """
    if dialect is Dialect.CANONICAL:
        return response
    if response.interrupts:
        ids = [interrupt.interrupt_id for interrupt in response.interrupts]
        _record_delivered(response.interrupts[0].run, ids, actor, dialect)
    bodies = translate_events(response.bodies, dialect)
    return replace(response, bodies=bodies, dialect=dialect, actor=actor)


def _record_delivered(run: Run, ids: Sequence[str], actor: Actor, dialect: Dialect) -> None:
    # The draft has one interrupt per outcome.
    delivered_ids = ids[:1] if dialect is Dialect.DRAFT else ids
    record_delivered_outcome(run=run, interrupt_ids=delivered_ids, actor=actor)


async def _record_and_yield(
    chunks: AsyncIterator[Sequence[EventRow]], response: AguiResponse
) -> AsyncIterator[Sequence[EventRow]]:
    """Yield the rows of a run; store which interrupts the actor receives before yielding them."""
    run, actor = response.run, response.actor
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            for row in chunk:
                ids = wire.interrupt_ids(row.body) if row.type == "RUN_FINISHED" else ()
                if ids and run is not None and actor is not None:
                    await in_db_thread(_record_delivered, run, ids, actor, response.dialect)
            yield chunk


def _run(actor: Actor, slug: str, value: Any, dialect: Dialect, entrance: Entrance) -> AguiResponse:
    value, client_answer = extract_answer(dialect, with_message_ids(dialect, value))
    request = run_request(value)
    agent = agents.agent_for(actor, slug)
    take_stream_of_team(agent.team_id)
    try:
        if client_answer is not None:
            entries, still_open = resume_entries(
                actor, agent, request, dialect, client_answer, entrance
            )
            if still_open:
                return _open_interrupts_response(request, still_open)
            request = replace(request, entries=entries, has_resume=True)
        accepted = engine.start_run(agent=agent, request=request, actor=actor, entrance=entrance)
    except (ContractError, Forbidden) as refusal:
        if isinstance(refusal, Forbidden) and not request.entries and client_answer is None:
            raise
        is_langgraph = dialect is Dialect.LANGGRAPH
        still_open = open_interrupts(actor, agent, request.thread_id) if is_langgraph else ()
        return _refusal_response(request, refusal, still_open)
    run = accepted.run
    if accepted.replayed and run.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return _replayed_response(run, request.run_id)
    return AguiResponse(
        run=run,
        run_id=request.run_id if accepted.replayed else "",
        reader=TeamReader(actor, agent.team_id),
    )


async def _replace_run_id(
    chunks: AsyncIterator[Sequence[EventRow]], run_id: str
) -> AsyncIterator[Sequence[EventRow]]:
    """Yield the rows of a run with the client's run id."""
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


def _connect(actor: Actor, slug: str, value: Any) -> AguiResponse:
    thread_id = value.get("threadId") if isinstance(value, dict) else None
    if not isinstance(thread_id, str):
        raise InvalidInput('Send {"threadId": "..."}.')
    check_external_id("threadId", thread_id)
    agent = agents.agent_for(actor, slug)
    take_stream_of_team(agent.team_id)
    thread_state = threads.hydration_of(threads.thread_by_external_id(actor, agent, thread_id))
    if thread_state.active is not None:
        # Its RUN_STARTED is in the log; earlier messages are sent as a separate run.
        return AguiResponse(
            bodies=_history_events(thread_state, "") if thread_state.messages else (),
            run=thread_state.active,
            reader=TeamReader(actor, agent.team_id),
        )
    interrupts = _last_interrupts(thread_state)
    return AguiResponse(
        bodies=_history_events(
            thread_state, _update_view_digests(thread_state.last_terminal, interrupts)
        ),
        interrupts=interrupts,
    )


def _last_interrupts(thread_state: threads.Hydration) -> Sequence[DeliveredInterrupt]:
    """Return the interrupts of the thread's last run, if it is interrupted."""
    last = thread_state.last
    is_waiting = last is not None and last.status == RunStatus.INTERRUPTED
    return interrupts_of_run(thread_state.thread, last) if last and is_waiting else ()


def _update_view_digests(terminal: str, interrupts: Sequence[DeliveredInterrupt]) -> str:
    """Return a terminal event with current view digests; those in the log may be older."""
    if not interrupts:
        return terminal
    event = json.loads(terminal)
    event["outcome"]["interrupts"] = [interrupt.body for interrupt in interrupts]
    return strict_json.dumps(event)


def _history_events(thread_state: threads.Hydration, terminal: str) -> Sequence[str]:
    run_id = thread_state.last.external_id if thread_state.last and terminal else "history"
    if not terminal:
        terminal = wire.encode(
            RunFinishedEvent(
                thread_id=thread_state.thread.external_id, run_id=run_id, outcome=_SUCCESS
            )
        )
    return [*_snapshots(thread_state, run_id), terminal]


def _replayed_response(run: Run, run_id: str) -> AguiResponse:
    """Return the state and outcome of a replayed resume under the new run id."""
    thread_state = threads.hydration_of(run.thread)
    terminal: Any = wire.decode(threads.terminal_event_of(run))
    if isinstance(terminal, RunFinishedEvent):
        # Its own interrupts may have been answered since.
        is_answered = run.status == RunStatus.INTERRUPTED and thread_state.last != run
        outcome = _SUCCESS if is_answered else terminal.outcome
        terminal = terminal.model_copy(update={"run_id": run_id, "outcome": outcome})
    interrupts = () if thread_state.last != run else _last_interrupts(thread_state)
    bodies = [
        *_snapshots(thread_state, run_id),
        _update_view_digests(wire.encode(terminal), interrupts),
    ]
    return AguiResponse(bodies=bodies, interrupts=interrupts)


def _snapshots(thread_state: threads.Hydration, run_id: str) -> list[str]:
    events: list[BaseEvent] = [
        wire.run_started(thread_state.thread.external_id, run_id),
        StateSnapshotEvent(snapshot=thread_state.state or {}),
        MessagesSnapshotEvent(messages=_MESSAGES.validate_python(thread_state.messages)),
    ]
    return [wire.encode(event) for event in events]


def _open_interrupts_response(
    request: RunRequest, interrupts: Sequence[DeliveredInterrupt]
) -> AguiResponse:
    """Return the open interrupts as the outcome of a run that is not executed."""
    bodies = [Interrupt.model_validate(interrupt.body) for interrupt in interrupts]
    outcome = RunFinishedInterruptOutcome(interrupts=bodies)
    events: list[BaseEvent] = [
        wire.run_started(request.thread_id, request.run_id),
        MessagesSnapshotEvent(messages=_MESSAGES.validate_python(interrupts[0].messages)),
        RunFinishedEvent(thread_id=request.thread_id, run_id=request.run_id, outcome=outcome),
    ]
    return AguiResponse(bodies=[wire.encode(event) for event in events], interrupts=interrupts)


def _refusal_response(
    request: RunRequest,
    refusal: ContractError | Forbidden,
    still_open: Sequence[DeliveredInterrupt],
) -> AguiResponse:
    """Return a RUN_ERROR, after the open interrupts in LangGraph's dialect."""
    started = wire.encode(wire.run_started(request.thread_id, request.run_id))
    error = run_error(refusal.code, refusal.message)
    return AguiResponse(
        bodies=[started, *repeat_interrupts(still_open), error], interrupts=still_open
    )


def run_error(code: str, message: str) -> str:
    """Return a RUN_ERROR event, for transports without status codes."""
    return wire.encode(RunErrorEvent(message=message, code=code))


_SUCCESS = RunFinishedSuccessOutcome(type="success")
