"""The entities that are streamed with START, CONTENT and END events, and their handlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui.errors import ProtocolViolation
from agents.agui.subagent_ownership import Kind

if TYPE_CHECKING:
    from agents.agui.sequence import Sequence

Handler = Callable[[Any, Any], None]  #: takes the sequence and the event


@dataclass(frozen=True, eq=False)  # compared by identity: these are dict keys on a hot path
class Stream:
    """A kind of entity that is streamed between a START and an END event."""

    name: str
    owner_kind: Kind
    id_field: str
    start: type[BaseEvent]
    end: type[BaseEvent]
    content: type[BaseEvent] | None = None

    def build_end(self, entity_id: str, tag: str | None) -> BaseEvent:
        """Build the END event of an entity."""
        return self.end.model_validate({self.id_field: entity_id, "subagent_run_id": tag})


TEXT_MESSAGE = Stream(
    "text message",
    "message",
    "message_id",
    agui.TextMessageStartEvent,
    agui.TextMessageEndEvent,
    agui.TextMessageContentEvent,
)
TOOL_CALL = Stream(
    "tool call",
    "tool call",
    "tool_call_id",
    agui.ToolCallStartEvent,
    agui.ToolCallEndEvent,
    agui.ToolCallArgsEvent,
)
REASONING_MESSAGE = Stream(
    "reasoning message",
    "reasoning",
    "message_id",
    agui.ReasoningMessageStartEvent,
    agui.ReasoningMessageEndEvent,
    agui.ReasoningMessageContentEvent,
)
REASONING_SPAN = Stream(
    "reasoning span",
    "reasoning",
    "message_id",
    agui.ReasoningStartEvent,
    agui.ReasoningEndEvent,
)
STREAMS = (TEXT_MESSAGE, TOOL_CALL, REASONING_MESSAGE, REASONING_SPAN)


def handlers() -> dict[type[BaseEvent], Handler]:
    """Build the table of handlers for START, CONTENT and END events."""
    table: dict[type[BaseEvent], Handler] = {}
    for stream in STREAMS:
        table[stream.start] = _start_handler(stream)
        table[stream.end] = _end_handler(stream)
        if stream.content is not None:
            table[stream.content] = _content_handler(stream)
    return table


def check_closed(sequence: Sequence, stream: Stream, entity_id: str) -> None:
    """Raise if the entity is open already."""
    if entity_id in sequence.open[stream]:
        raise ProtocolViolation(
            f"A {stream.name} '{entity_id}' was started while it is open; end it first."
        )


def _start_handler(stream: Stream) -> Handler:
    read_id = attrgetter(stream.id_field)

    def handle(sequence: Sequence, event: Any) -> None:
        entity_id = read_id(event)
        check_closed(sequence, stream, entity_id)
        sequence.owners.open(stream.owner_kind, event, entity_id)
        sequence.open[stream][entity_id] = None

    return handle


def _content_handler(stream: Stream) -> Handler:
    read_id = attrgetter(stream.id_field)

    def handle(sequence: Sequence, event: Any) -> None:
        entity_id = read_id(event)
        if entity_id not in sequence.open[stream]:
            raise ProtocolViolation(
                f"{event.type.value} came for the {stream.name} '{entity_id}', which is not open; "
                "start it first."
            )
        if event.subagent_run_id is not None:
            sequence.owners.check(stream.owner_kind, event, entity_id)

    return handle


def _end_handler(stream: Stream) -> Handler:
    check_continuation = _content_handler(stream)
    read_id = attrgetter(stream.id_field)

    def handle(sequence: Sequence, event: Any) -> None:
        check_continuation(sequence, event)
        del sequence.open[stream][read_id(event)]

    return handle
