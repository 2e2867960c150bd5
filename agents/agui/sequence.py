"""The sequence rules: the legal order of events, and what must be closed before a run ends."""

from collections.abc import Iterable
from enum import Enum
from typing import Any, ClassVar

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui import streams
from agents.agui.errors import ProtocolViolation
from agents.agui.interrupts import check_outcome
from agents.agui.streams import STREAMS, Handler, Stream
from agents.agui.subagent_ownership import SubagentOwners

_TOOL_CALL_EVENTS = (agui.ToolCallStartEvent, agui.ToolCallArgsEvent, agui.ToolCallEndEvent)


class _Phase(Enum):
    BEFORE = "before"  #: no event yet
    ACTIVE = "active"  #: a run is active
    FINISHED = "finished"  #: after RUN_FINISHED; RUN_ERROR may still follow
    ERRORED = "errored"  #: after RUN_ERROR


_EXPECTED = {
    _Phase.BEFORE: "a run begins with RUN_STARTED",
    _Phase.FINISHED: "after RUN_FINISHED only RUN_STARTED or RUN_ERROR may come",
    _Phase.ERRORED: "after RUN_ERROR only RUN_STARTED may come",
}


class Sequence:
    """
    Checks a stream of events one by one, as `verifyEvents` of the JavaScript client 1.0.0 does.

    Stricter than the client for interrupts that cannot be answered (`interrupts.py`). Chunks must
    be expanded before (`chunks.py`), as in the client.
    """

    def __init__(self, known_tool_calls: Iterable[str] = ()) -> None:
        self.known_tool_calls = set(known_tool_calls)  #: of the whole thread; grows with the run
        self._phase = _Phase.BEFORE
        self._reset()

    def _reset(self) -> None:
        self.owners = SubagentOwners()
        self.open: dict[Stream, dict[str, None]] = {stream: {} for stream in STREAMS}
        self._steps: dict[tuple[str | None, str], None] = {}  # a name is unique within its owner
        self._subagents: dict[str, None] = {}  # dicts, for their order
        self._closed_subagents: set[str] = set()

    def check(self, event: BaseEvent) -> None:
        """Accept the event as the next one of the stream, or raise ProtocolViolation."""
        if self._phase is not _Phase.ACTIVE:
            self._check_outside_run(event)
        handler = self._HANDLERS.get(type(event))
        if handler is None:
            handler = self._find_handler(event)
        handler(self, event)

    def is_known_tool_call(self, event: BaseEvent) -> bool:
        """
        Return True for START, ARGS or END of a known tool call that is not open in this sequence.

        A resumed run may emit its calls again, and a client would append the arguments a second
        time: drop such events. False for a call that is open here, even if `known_tool_calls`
        has it: a run that is driven again after a committed START continues with its ARGS. True
        also for calls that this run closed, so check for repeated events with a `ReplayCursor`
        first.
        """
        return (
            isinstance(event, _TOOL_CALL_EVENTS)
            and event.tool_call_id in self.known_tool_calls
            and event.tool_call_id not in self.open[streams.TOOL_CALL]
        )

    def closing_events(self, *, suspended: bool = False) -> list[BaseEvent]:
        """
        Build the events that close everything open, in a legal order, without applying them.

        A subagent ends with an error, or as suspended if the run is about to be interrupted.
        """
        if self._phase is not _Phase.ACTIVE:
            return []
        events: list[BaseEvent] = [
            stream.build_end(entity_id, self.owners.owner(stream.owner_kind, entity_id))
            for stream in STREAMS
            for entity_id in self.open[stream]
        ]
        for owner, name in reversed(self._steps):
            events.append(agui.StepFinishedEvent(step_name=name, subagent_run_id=owner))
        events += [_end_of_subagent(name, suspended) for name in reversed(self._subagents)]
        return events

    def _check_outside_run(self, event: BaseEvent) -> None:
        if isinstance(event, agui.RunStartedEvent):
            return
        if isinstance(event, agui.RunErrorEvent) and self._phase is not _Phase.ERRORED:
            return
        raise ProtocolViolation(f"{event.type.value} came, but {_EXPECTED[self._phase]}.")

    def _run_started(self, event: agui.RunStartedEvent) -> None:
        if self._phase is _Phase.ACTIVE:
            raise ProtocolViolation("RUN_STARTED came while a run is active; end that one first.")
        self._reset()
        self._phase = _Phase.ACTIVE
        if event.input is not None:
            self._remember(event.input.messages, authoritative=False)

    def _run_finished(self, event: agui.RunFinishedEvent) -> None:
        still_open = {stream.name: list(self.open[stream]) for stream in STREAMS}
        still_open["step"] = [name for _, name in self._steps]
        still_open["subagent"] = list(self._subagents)
        for name, ids in still_open.items():
            if ids:
                raise ProtocolViolation(
                    f"RUN_FINISHED came while a {name} is open: {', '.join(ids)}; end it first."
                )
        check_outcome(event, self.known_tool_calls)
        self._phase = _Phase.FINISHED

    def _run_error(self, _event: agui.RunErrorEvent) -> None:
        self._phase = _Phase.ERRORED

    def _messages_snapshot(self, event: agui.MessagesSnapshotEvent) -> None:
        self._remember(event.messages, authoritative=True)

    def _remember(self, messages: list[Any], *, authoritative: bool) -> None:
        self.owners.seed(messages, authoritative=authoritative)
        for message in messages:
            if isinstance(message, agui.AssistantMessage):
                self.known_tool_calls.update(call.id for call in message.tool_calls or ())

    def _tool_call_start(self, event: agui.ToolCallStartEvent) -> None:
        streams.check_closed(self, streams.TOOL_CALL, event.tool_call_id)
        self.owners.open_tool_call(event)
        self.open[streams.TOOL_CALL][event.tool_call_id] = None
        self.known_tool_calls.add(event.tool_call_id)

    def _tool_call_result(self, event: agui.ToolCallResultEvent) -> None:
        self.owners.replace("message", event, event.message_id)

    def _encrypted_value(self, event: agui.ReasoningEncryptedValueEvent) -> None:
        if event.subtype == "tool-call":
            self.owners.check("tool call", event, event.entity_id)
        elif self.owners.has_owner("message", event.entity_id):
            self.owners.check("message", event, event.entity_id)
        else:
            self.owners.check("reasoning", event, event.entity_id)

    def _activity_snapshot(self, event: agui.ActivitySnapshotEvent) -> None:
        if event.replace is not False or not self.owners.has_owner("activity", event.message_id):
            self.owners.replace("activity", event, event.message_id)

    def _activity_delta(self, event: agui.ActivityDeltaEvent) -> None:
        self.owners.check("activity", event, event.message_id)

    def _step_started(self, event: agui.StepStartedEvent) -> None:
        step = (event.subagent_run_id, event.step_name)
        if step in self._steps:
            raise ProtocolViolation(
                f"STEP_STARTED '{event.step_name}' came twice; finish the step first."
            )
        self._steps[step] = None

    def _step_finished(self, event: agui.StepFinishedEvent) -> None:
        step = (event.subagent_run_id, event.step_name)
        if step not in self._steps:
            raise ProtocolViolation(
                f"STEP_FINISHED '{event.step_name}' has no open step of the same owner; the owner "
                "of a step finishes it."
            )
        del self._steps[step]

    def _subagent_started(self, event: agui.SubagentStartedEvent) -> None:
        name, parent = event.subagent_run_id, event.parent_subagent_run_id
        if name in self._subagents or name in self._closed_subagents:
            raise ProtocolViolation(
                f"SUBAGENT_STARTED '{name}' came twice; each invocation has its own subagentRunId."
            )
        if parent is not None and not (
            parent in self._subagents or parent in self._closed_subagents
        ):
            raise ProtocolViolation(
                f"SUBAGENT_STARTED '{name}' names the parent '{parent}', which was not started."
            )
        self._subagents[name] = None

    def _subagent_ended(self, event: agui.SubagentFinishedEvent | agui.SubagentErrorEvent) -> None:
        if event.subagent_run_id not in self._subagents:
            raise ProtocolViolation(
                f"{event.type.value} '{event.subagent_run_id}' has no open subagent; "
                "send SUBAGENT_STARTED first."
            )
        del self._subagents[event.subagent_run_id]
        self._closed_subagents.add(event.subagent_run_id)

    def _anything(self, event: BaseEvent) -> None:
        """Accept an event that may come anywhere within a run: state, custom and raw events."""

    def _chunk(self, event: BaseEvent) -> None:
        raise ProtocolViolation(
            f"{event.type.value} is a chunk; expand it to START, CONTENT and END first."
        )

    def _find_handler(self, event: BaseEvent) -> Handler:
        """Look up the handler of a subclass of an event; some adapters use them."""
        for kind in type(event).__mro__:
            if kind in self._HANDLERS:
                return self._HANDLERS[kind]
        raise ProtocolViolation(
            f"{type(event).__name__} is not an AG-UI 1.0 event; send one of ag_ui.core, or CUSTOM."
        )

    _HANDLERS: ClassVar[dict[type[BaseEvent], Handler]] = {
        **streams.handlers(),
        agui.RunStartedEvent: _run_started,
        agui.RunFinishedEvent: _run_finished,
        agui.RunErrorEvent: _run_error,
        agui.MessagesSnapshotEvent: _messages_snapshot,
        agui.ToolCallStartEvent: _tool_call_start,
        agui.ToolCallResultEvent: _tool_call_result,
        agui.ReasoningEncryptedValueEvent: _encrypted_value,
        agui.ActivitySnapshotEvent: _activity_snapshot,
        agui.ActivityDeltaEvent: _activity_delta,
        agui.StepStartedEvent: _step_started,
        agui.StepFinishedEvent: _step_finished,
        agui.SubagentStartedEvent: _subagent_started,
        agui.SubagentFinishedEvent: _subagent_ended,
        agui.SubagentErrorEvent: _subagent_ended,
        agui.StateSnapshotEvent: _anything,
        agui.StateDeltaEvent: _anything,
        agui.CustomEvent: _anything,
        agui.RawEvent: _anything,
        agui.TextMessageChunkEvent: _chunk,
        agui.ToolCallChunkEvent: _chunk,
        agui.ReasoningMessageChunkEvent: _chunk,
    }


def _end_of_subagent(name: str, suspended: bool) -> BaseEvent:
    if suspended:
        return agui.SubagentFinishedEvent(
            subagent_run_id=name, outcome=agui.SubagentFinishedSuspendedOutcome()
        )
    return agui.SubagentErrorEvent(
        subagent_run_id=name, message="The run ended before the subagent did."
    )
