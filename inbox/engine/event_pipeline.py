"""What leaves the engine: events checked, merged, encoded, and what they say about tool calls."""

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Several

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui import strict_json
from agents.agui.chunks import ChunkExpander
from agents.agui.coalesce import coalesce
from agents.agui.content import content_text
from agents.agui.replay import ReplayCursor, ReplayDiverged
from agents.agui.sequence import Sequence
from agents.sdk.expiry import format_expires_at
from inbox.actions.runs.event_log import Frame, encode_frame
from inbox.actions.runs.run_lease import EventBatch
from inbox.actions.runs.tool_calls import ProposedCall
from inbox.queries.runs.run_assignment import Assignment
from inbox.rules.decisions.consent import canonical_json, original_text
from inbox.rules.errors import ArgumentsDiffer, LimitExceeded, ProtocolBroken
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import check_schema

MAX_EVENTS = 10_000
MAX_EVENT_CHARACTERS = 1024 * 1024
MAX_RUN_CHARACTERS = 50 * 1024 * 1024
MAX_INTERRUPTS = 1_000
MAX_ID = 200
RESERVED_REASON = "signoff:"
#: What may be said beside the events that the agent yields.
_ASIDES = (
    agui.TextMessageStartEvent,
    agui.TextMessageContentEvent,
    agui.TextMessageEndEvent,
    agui.ActivitySnapshotEvent,
)


class EventPipeline:
    """Everything one run sends, in order; raises before anything illegal gets out."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._conversation = assignment.conversation
        self._sequence = Sequence(assignment.known_tool_calls)
        self._expander = ChunkExpander()
        self._cursor = ReplayCursor(assignment.replayed)
        self._arguments: dict[str, tuple[str, list[str]]] = {}
        self._repeated: dict[str, list[str]] = {}  #: arguments of calls of earlier runs
        self._approved = {
            answer.proposal.tool_call_id: canonical_json(dict(answer.proposal.args))
            for answer in assignment.answers
            if answer.proposal is not None and answer.proposal.is_approved
        }
        self._events = 0
        self._characters = 0
        self._checked = EventBatch()
        self._take_up()

    def opening(self) -> EventBatch:
        """
        What a run begins with after its RUN_STARTED.

        A resumed run shows the conversation: a fresh browser gets the original tool call. One that
        continues a run in doubt opens again what was closed when that one was interrupted.
        """
        if not self._assignment.is_resume or len(self._assignment.own_events) > 1:
            return EventBatch()
        snapshot = self._conversation.messages_snapshot()
        return self._batch([snapshot, *_left_open(self._assignment.replayed)], from_agent=False)

    def batch(self, events: Iterable[BaseEvent]) -> EventBatch:
        """
        Check and encode what the agent yielded next.

        Raises:
            ProtocolViolation, Diverged, ProtocolBroken, LimitExceeded.
            ArgumentsDiffer: a call came again, and not as it was approved.
        """
        fresh = []
        expanded = (one for event in _without_raw(events) for one in self._expander.expand(event))
        for event in coalesce(expanded):
            if getattr(event, "tool_call_id", None) in self._assignment.calls_of_others and (
                self._sequence.is_known_tool_call(event)
            ):
                # Emitted again on resume: a client would append the arguments twice.
                self._check_repeated(event)
                continue
            rest = self._cursor.feed(event)
            if rest is not None:
                fresh.append(rest)
        return self._batch(fresh, from_agent=True)

    def aside(self, events: Several[BaseEvent]) -> EventBatch:
        """
        Check and encode what a tool at work said; nothing, if it said that before its worker died.

        Raises:
            ProtocolViolation, ProtocolBroken, LimitExceeded.
        """
        if not all(isinstance(event, _ASIDES) for event in events):
            raise ProtocolBroken("A tool at work may send whole messages and activities only.")
        opening = events[0] if events else None
        if isinstance(opening, agui.TextMessageStartEvent) and self._conversation.has_message(
            opening.message_id
        ):
            return EventBatch()
        return self._batch(events, from_agent=False, is_bounded=True)

    def last_of_chunks(self) -> EventBatch:
        """Close what the agent's chunks left open: a message of chunks has no end of its own."""
        return self._batch(self._expander.flush(), from_agent=True)

    def finish(self, finished: agui.RunFinishedEvent) -> tuple[EventBatch, agui.RunFinishedEvent]:
        """Check the terminal event and put the snapshots before an interrupt outcome."""
        # Who is told to stop does not say again what it said before.
        if not (self._cursor.exhausted or self._assignment.stopped):
            raise ReplayDiverged("The agent ended before it had said everything it said before.")
        outcome = finished.outcome or agui.RunFinishedSuccessOutcome(type="success")
        if isinstance(outcome, agui.RunFinishedInterruptOutcome):
            _check_interrupts(outcome.interrupts)
            interrupts = self._with_expiry(outcome.interrupts)
            outcome = outcome.model_copy(update={"interrupts": interrupts})
        ours = finished.model_copy(
            update={
                "thread_id": self._assignment.thread_id,
                "run_id": self._assignment.run_id,
                "outcome": outcome,
                "raw_event": None,
            }
        )
        before: list[BaseEvent] = []
        if isinstance(outcome, agui.RunFinishedInterruptOutcome):
            before = [self._conversation.state_snapshot(), self._conversation.messages_snapshot()]
        return self._batch([*before, ours], from_agent=False), ours

    def _with_expiry(self, interrupts: Several[agui.Interrupt]) -> list[agui.Interrupt]:
        """Write the team's default where the agent says nothing; a null that it wrote is never."""
        expires_in = self._assignment.request_expiry
        if expires_in is None:
            return list(interrupts)
        default = {"expires_at": format_expires_at(expires_in)}
        return [
            item if "expires_at" in item.model_fields_set else item.model_copy(update=default)
            for item in interrupts
        ]

    def pending(self) -> EventBatch:
        """What was in order before a failure."""
        return self._batch([], from_agent=True)

    def fail(self, *, code: str, message: str) -> EventBatch:
        """What was in order before the failure, and a RUN_ERROR, which may come at any moment."""
        error = agui.RunErrorEvent(message=message, code=code)
        return merge(self._checked, EventBatch(frames=[encode_frame(error)]))

    def conversation(self) -> dict[str, object]:
        return self._conversation.to_json()

    def _take_up(self) -> None:
        """Take the rules up where the run stands: after RUN_STARTED, or where a worker was lost."""
        started = agui.RunStartedEvent(
            thread_id=self._assignment.thread_id, run_id=self._assignment.run_id
        )
        for event in self._assignment.own_events or [started]:
            self._sequence.check(event)
            self._note_tool_call(event)

    def _batch(
        self, events: Iterable[BaseEvent], *, from_agent: bool, is_bounded: bool | None = None
    ) -> EventBatch:
        """`from_agent` events are yielded once more by whoever drives the run again."""
        for event in events:
            self._add(event, from_agent, from_agent if is_bounded is None else is_bounded)
        batch, self._checked = self._checked, EventBatch()
        return batch

    def _add(self, event: BaseEvent, from_agent: bool, is_bounded: bool) -> None:
        """Check one event and keep it for the batch; an illegal one leaves nothing behind."""
        self._sequence.check(event)
        item = self._within_limits(encode_frame(event, from_agent=from_agent), is_bounded)
        call = self._note_tool_call(event)
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
        """Hold an agent that repeats a call to the arguments that a person approved for it."""
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
    """Two batches as one."""
    return EventBatch(
        [*first.frames, *last.frames],
        [*first.proposed, *last.proposed],
        {**first.results, **last.results},
    )


def _without_raw(events: Iterable[BaseEvent]) -> Iterator[BaseEvent]:
    """Drop RAW events and `rawEvent`: provider-native data is not passed on to clients."""
    for event in events:
        if isinstance(event, agui.RawEvent):
            continue
        if event.raw_event is not None:
            event = event.model_copy(update={"raw_event": None})  # noqa: PLW2901
        yield event


def _left_open(events: Iterable[BaseEvent]) -> list[BaseEvent]:
    """The events of an agent that opened what it has not closed."""
    left: dict[tuple[str, str], BaseEvent] = {}
    for event in events:
        kind, _, moment = event.type.value.rpartition("_")
        names = (getattr(event, field, None) for field in _NAMES.get(kind, ()))
        key = (kind, next((name for name in names if name), ""))
        if kind in _NAMES and moment in ("START", "STARTED"):
            left[key] = event
        elif kind in _NAMES and moment in ("END", "FINISHED", "ERROR"):
            left.pop(key, None)
    return list(left.values())


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
        value = strict_json.loads(text or "{}")
        if not isinstance(value, dict):
            raise ProtocolBroken("The arguments of a tool call are a JSON object.")
        text = canonical_json(value)
    except ValueError as error:
        raise ProtocolBroken(f"The arguments of a tool call are no valid JSON: {error}") from error
    return text, original_text(value, text)


def _result(event: agui.ToolCallResultEvent) -> str:
    """Return the result as the text that the tool call keeps; the event keeps its parts."""
    return content_text(event.model_dump(mode="json", by_alias=True)["content"])


def _check_id(name: str) -> None:
    if not 0 < len(name) <= MAX_ID or "\0" in name:
        raise ProtocolBroken(f"Ids and names have 1 to {MAX_ID} characters.")


def _check_interrupts(interrupts: Several[agui.Interrupt]) -> None:
    if len(interrupts) > MAX_INTERRUPTS:
        raise LimitExceeded(f"One run may ask {MAX_INTERRUPTS} questions.")
    for interrupt in interrupts:
        _check_id(interrupt.id)
        if len(interrupt.reason) > 100 or interrupt.reason.startswith(RESERVED_REASON):
            raise ProtocolBroken(f"The reason {interrupt.reason[:100]!r} is not for agents to use.")
        if interrupt.response_schema is not None:
            try:
                check_schema(interrupt.response_schema)
            except (SchemaRejected, ValueError) as error:
                raise ProtocolBroken(f"Interrupt {interrupt.id!r}: {error}") from error
