"""The pipeline from the agent's events to stored batches: check, merge, encode, collect calls."""

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Items
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui import strict_json
from agents.agui.chunks import ChunkExpander, coalesce
from agents.agui.content import content_text
from agents.agui.replay import ReplayCursor, ReplayDiverged
from agents.agui.sequence import Sequence
from agents.agui.turn_ids import AgentNames, TurnIds
from agents.sdk.expiry import format_expires_at
from agents.storable import storable_model
from inbox.actions.runs.event_log import Frame, encode_frame
from inbox.actions.runs.run_lease import EventBatch
from inbox.actions.runs.tool_calls import ProposedCall
from inbox.queries.runs.run_assignment import Assignment
from inbox.rules.decisions.consent import canonical_json, original_text
from inbox.rules.errors import ArgumentsDiffer, LimitExceeded, ProtocolBroken
from inbox.rules.schema.answer_forms import Unanswerable, check_answerable
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import read_schema

MAX_EVENTS = 10_000
MAX_EVENT_CHARACTERS = 1024 * 1024
MAX_RUN_CHARACTERS = 50 * 1024 * 1024
MAX_INTERRUPTS = 1_000
MAX_ID = 200
RESERVED_REASON = "signoff:"
#: The events that a running tool may send in addition to those that the agent yields.
_OUT_OF_BAND = (
    agui.TextMessageStartEvent,
    agui.TextMessageContentEvent,
    agui.TextMessageEndEvent,
    agui.ActivitySnapshotEvent,
)


class EventPipeline:
    """Turns the events of one run into batches; raises before an illegal event is stored."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._conversation = assignment.conversation
        self._sequence = Sequence(assignment.known_tool_calls)
        self._ids = TurnIds(assignment.earlier_calls, self._conversation)
        self._expander = ChunkExpander()
        self._cursor = ReplayCursor(assignment.replayed)
        self._arguments: dict[str, tuple[str, list[str]]] = {}
        self._repeated: dict[
            str, list[str]
        ] = {}  #: tool call id -> arguments repeated from earlier runs
        self._approved = {
            answer.proposal.tool_call_id: canonical_json(dict(answer.proposal.args))
            for answer in assignment.answers
            if answer.proposal is not None and answer.proposal.is_approved
        }
        self._events = 0
        self._characters = 0
        self._checked = EventBatch()
        self._restore()

    def opening(self) -> EventBatch:
        """
        Return the events that follow RUN_STARTED.

        A resumed run sends the conversation, so that a new client gets the original tool call. A
        run that continues one in doubt opens again what that interruption closed.
        """
        if not self._assignment.is_resume or len(self._assignment.own_events) > 1:
            return EventBatch()
        snapshot = self._conversation.messages_snapshot()
        return self._batch([snapshot, *_open_events(self._assignment.replayed)], from_agent=False)

    def batch(self, events: Iterable[BaseEvent]) -> EventBatch:
        """
        Check and encode the next events of the agent.

        Raises:
            ProtocolViolation, ReplayDiverged, ProtocolBroken, LimitExceeded.
            ArgumentsDiffer: a repeated call has other arguments than the approved ones.
        """
        expanded = (part for event in _storable(events) for part in self._expander.expand(event))
        return self._batch(self._new_events(coalesce(expanded)), from_agent=True)

    def call_id(self, name: str) -> str:
        """Return our id of the call that the agent means by this name now."""
        return self._ids.id_for(name)

    def call_ids(self) -> dict[str, Any]:
        """Return the calls of this run by the agent's names, for the run that resumes it."""
        return self._ids.to_json()

    def agent_names(self) -> AgentNames:
        """Return the agent's names of the calls of the run that this one resumes."""
        return self._ids.names()

    def _new_events(self, events: Iterable[BaseEvent]) -> Iterator[BaseEvent]:
        """Yield the events with our ids, without those that repeat earlier ones."""
        for event in events:
            yield from self._without_repeated(self._ids.translate(event))

    def _without_repeated(self, events: Iterable[BaseEvent]) -> Iterator[BaseEvent]:
        for event in events:
            if getattr(event, "tool_call_id", None) in self._assignment.earlier_calls.ids and (
                self._sequence.is_known_tool_call(event)
            ):
                # Not forwarded: clients would append the arguments to the original call.
                self._check_repeated(event)
            elif (new_event := self._cursor.feed(event)) is not None:
                yield new_event

    def out_of_band(self, events: Items[BaseEvent]) -> EventBatch:
        """
        Check and encode events of a running tool; drop a message that the thread already has.

        Raises:
            ProtocolViolation, ProtocolBroken, LimitExceeded.
        """
        if not all(isinstance(event, _OUT_OF_BAND) for event in events):
            raise ProtocolBroken("A running tool may send whole messages and activities only.")
        opening = events[0] if events else None
        if isinstance(opening, agui.TextMessageStartEvent) and self._conversation.has_message(
            opening.message_id
        ):
            return EventBatch()
        return self._batch(_storable(events), from_agent=False, is_bounded=True)

    def last_of_chunks(self) -> EventBatch:
        """Close the messages that the agent sent as chunks, which have no end event."""
        return self._batch(self._expander.flush(), from_agent=True)

    def finish(self, finished: agui.RunFinishedEvent) -> tuple[EventBatch, agui.RunFinishedEvent]:
        """Check the terminal event, and send snapshots before an interrupt outcome."""
        calls, finished = self._ids.finish(storable_model(finished))
        proposed = self._batch(self._without_repeated(calls), from_agent=True)
        # A stopped agent does not repeat its committed events.
        if not (self._cursor.exhausted or self._assignment.stopped):
            raise ReplayDiverged("The agent ended before it had repeated its committed events.")
        outcome = finished.outcome or agui.RunFinishedSuccessOutcome(type="success")
        if isinstance(outcome, agui.RunFinishedInterruptOutcome):
            _check_interrupts(outcome.interrupts)
            interrupts = self._with_expiry(outcome.interrupts)
            outcome = outcome.model_copy(update={"interrupts": interrupts})
        terminal = finished.model_copy(
            update={
                "thread_id": self._assignment.thread_id,
                "run_id": self._assignment.run_id,
                "outcome": outcome,
                "raw_event": None,
            }
        )
        snapshots: list[BaseEvent] = []
        if isinstance(outcome, agui.RunFinishedInterruptOutcome):
            snapshots = [
                self._conversation.state_snapshot(),
                self._conversation.messages_snapshot(),
            ]
        ending = self._batch([*snapshots, terminal], from_agent=False)
        return merge(proposed, ending), terminal

    def _with_expiry(self, interrupts: Items[agui.Interrupt]) -> list[agui.Interrupt]:
        """Set the team's default expiry where the agent sets none; an explicit null stays."""
        expires_in = self._assignment.request_expiry
        if expires_in is None:
            return list(interrupts)
        default = {"expires_at": format_expires_at(expires_in)}
        return [
            item if "expires_at" in item.model_fields_set else item.model_copy(update=default)
            for item in interrupts
        ]

    def pending(self) -> EventBatch:
        """Return the legal events before a failure."""
        return self._batch([], from_agent=True)

    def fail(self, *, code: str, message: str) -> EventBatch:
        """Return the legal events before a failure, and a RUN_ERROR, which is legal at any time."""
        error = agui.RunErrorEvent(message=message, code=code)
        return merge(self._checked, EventBatch(frames=[encode_frame(error)]))

    def conversation(self) -> dict[str, object]:
        return self._conversation.to_json()

    def _restore(self) -> None:
        """Restore the sequence check from the run's committed events."""
        started = agui.RunStartedEvent(
            thread_id=self._assignment.thread_id, run_id=self._assignment.run_id
        )
        for event in self._assignment.own_events or [started]:
            self._sequence.check(event)
            self._note_tool_call(event)

    def _batch(
        self, events: Iterable[BaseEvent], *, from_agent: bool, is_bounded: bool | None = None
    ) -> EventBatch:
        """Encode events; those `from_agent` are yielded again when the run is driven again."""
        for event in events:
            self._add(event, from_agent, from_agent if is_bounded is None else is_bounded)
        batch, self._checked = self._checked, EventBatch()
        return batch

    def _add(self, event: BaseEvent, from_agent: bool, is_bounded: bool) -> None:
        """Check one event, and add it to the batch unless it is illegal."""
        self._sequence.check(event)
        item = self._within_limits(encode_frame(event, from_agent=from_agent), is_bounded)
        call = self._note_tool_call(event)
        is_own_snapshot = not from_agent and isinstance(event, agui.MessagesSnapshotEvent)
        # The server's snapshot is of this conversation; clients keep one message of each id.
        if not is_own_snapshot or self._conversation.has_repeated_ids:
            self._conversation.apply(event)
        self._checked.frames.append(item)
        if call is not None:
            self._checked.proposed.append(call)
        if isinstance(event, agui.ToolCallResultEvent):
            self._checked.results[event.tool_call_id] = _result(event)

    def _within_limits(self, item: Frame, is_bounded: bool) -> Frame:
        self._events += 1
        self._characters += len(item.body)
        if len(item.body) > MAX_EVENT_CHARACTERS and is_bounded:
            raise LimitExceeded(f"One event may have {MAX_EVENT_CHARACTERS} characters.")
        if self._events > MAX_EVENTS or self._characters > MAX_RUN_CHARACTERS:
            raise LimitExceeded(
                f"One run may have {MAX_EVENTS} events and {MAX_RUN_CHARACTERS} characters."
            )
        return item

    def _check_repeated(self, event: BaseEvent) -> None:
        """Raise ArgumentsDiffer if a repeated call has other arguments than the approved ones."""
        if isinstance(event, agui.ToolCallArgsEvent):
            self._repeated.setdefault(event.tool_call_id, []).append(event.delta)
        elif isinstance(event, agui.ToolCallEndEvent):
            parts = self._repeated.pop(event.tool_call_id, [])
            approved = self._approved.get(event.tool_call_id)
            if (
                parts
                and approved is not None
                and (args := _arguments("".join(parts))[0]) != approved
            ):
                raise ArgumentsDiffer(event.tool_call_id, args)

    def _note_tool_call(self, event: BaseEvent) -> ProposedCall | None:
        """Collect the arguments of a tool call until it is complete."""
        if isinstance(event, agui.ToolCallStartEvent):
            _check_id(event.tool_call_id)
            _check_id(event.tool_call_name)
            self._arguments[event.tool_call_id] = (event.tool_call_name, [])
        elif isinstance(event, agui.ToolCallArgsEvent):
            self._arguments[event.tool_call_id][1].append(event.delta)
        elif isinstance(event, agui.ToolCallEndEvent):
            name, parts = self._arguments.pop(event.tool_call_id)
            return ProposedCall(event.tool_call_id, name, *_arguments("".join(parts)))
        return None


def merge(first: EventBatch, last: EventBatch) -> EventBatch:
    return EventBatch(
        [*first.frames, *last.frames],
        [*first.proposed, *last.proposed],
        {**first.results, **last.results},
    )


def _storable(events: Iterable[BaseEvent]) -> Iterator[BaseEvent]:
    """
    Write as text what JSON and databases cannot hold.

    Drop RAW events and `rawEvent`: provider-native data is not passed on to clients.
    """
    for event in events:
        if isinstance(event, agui.RawEvent):
            continue
        if event.raw_event is not None:
            event = event.model_copy(update={"raw_event": None})  # noqa: PLW2901
        yield storable_model(event)


def _open_events(events: Iterable[BaseEvent]) -> list[BaseEvent]:
    """Return the start events of messages, steps and subagents that have not ended."""
    opened: dict[tuple[str, str], BaseEvent] = {}
    for event in events:
        kind, _, moment = event.type.value.rpartition("_")
        names = (getattr(event, field, None) for field in _NAMES.get(kind, ()))
        key = (kind, next((name for name in names if name), ""))
        if kind in _NAMES and moment in ("START", "STARTED"):
            opened[key] = event
        elif kind in _NAMES and moment in ("END", "FINISHED", "ERROR"):
            opened.pop(key, None)
    return list(opened.values())


_NAMES = {
    "TEXT_MESSAGE": ("message_id",),
    "REASONING": ("message_id",),
    "REASONING_MESSAGE": ("message_id",),
    "STEP": ("step_name",),
    "SUBAGENT": ("subagent_run_id",),
}


def _arguments(text: str) -> tuple[str, str | None]:
    """Return the canonical text of arguments, and as the agent wrote them if that differs."""
    try:
        value = strict_json.loads_arguments(text or "{}")
        if not isinstance(value, dict):
            raise ProtocolBroken("The arguments of a tool call must be a JSON object.")
        text = canonical_json(value)
    except ValueError as error:
        raise ProtocolBroken(f"The arguments of a tool call are not valid JSON: {error}") from error
    return text, original_text(value, text)


def _result(event: agui.ToolCallResultEvent) -> str:
    """Return the result as text for the tool call; the event keeps its parts."""
    return content_text(event.model_dump(mode="json", by_alias=True)["content"])


def _check_id(name: str) -> None:
    if not 0 < len(name) <= MAX_ID or "\0" in name:
        raise ProtocolBroken(f"Ids and names have 1 to {MAX_ID} characters.")


def _check_interrupts(interrupts: Items[agui.Interrupt]) -> None:
    if len(interrupts) > MAX_INTERRUPTS:
        raise LimitExceeded(f"One run may have {MAX_INTERRUPTS} interrupts.")
    for interrupt in interrupts:
        _check_id(interrupt.id)
        if len(interrupt.reason) > 100 or interrupt.reason.startswith(RESERVED_REASON):
            raise ProtocolBroken(f"The reason {interrupt.reason[:100]!r} is reserved.")
        if interrupt.response_schema is not None:
            try:
                read_schema(interrupt.response_schema)
                check_answerable(reason=interrupt.reason, schema=interrupt.response_schema)
            except SchemaRejected as error:
                raise ProtocolBroken(f"Interrupt {interrupt.id!r}: {error}") from error
            except Unanswerable as error:
                raise ProtocolBroken(
                    f"Interrupt {interrupt.id!r} cannot be answered: {error}."
                ) from error
