"""Chunk events (such as TEXT_MESSAGE_CHUNK) as START, CONTENT and END, and fewer, larger deltas."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ag_ui.core import (
    BaseEvent,
    EventType,
    ReasoningMessageContentEvent,
    TextMessageContentEvent,
    ToolCallArgsEvent,
)

from agents.agui.errors import ProtocolViolation
from agents.agui.streams import REASONING_MESSAGE, TEXT_MESSAGE, TOOL_CALL, Stream

Delta = TextMessageContentEvent | ReasoningMessageContentEvent | ToolCallArgsEvent


@dataclass(frozen=True, eq=False)
class _Kind:
    """One of the three chunk types."""

    stream: Stream
    required: tuple[str, ...]  #: fields that the first chunk must have
    repeatable: tuple[str, ...]  #: fields that a later chunk may repeat, with the same value
    defaults: dict[str, str]


_KINDS: dict[EventType, _Kind] = {
    EventType.TEXT_MESSAGE_CHUNK: _Kind(
        TEXT_MESSAGE, ("message_id",), ("role", "name"), {"role": "assistant"}
    ),
    EventType.TOOL_CALL_CHUNK: _Kind(
        TOOL_CALL,
        ("tool_call_id", "tool_call_name"),
        ("tool_call_name", "parent_message_id"),
        {},
    ),
    EventType.REASONING_MESSAGE_CHUNK: _Kind(REASONING_MESSAGE, ("message_id",), (), {}),
}
#: Events about the run as a whole: they end all pending entities.
_ENDS_ALL = {
    EventType.RUN_STARTED,
    EventType.RUN_FINISHED,
    EventType.RUN_ERROR,
    EventType.MESSAGES_SNAPSHOT,
}
#: Events that may come in the middle of a message.
_ENDS_NOTHING = {
    EventType.RAW,
    EventType.ACTIVITY_SNAPSHOT,
    EventType.ACTIVITY_DELTA,
    EventType.REASONING_ENCRYPTED_VALUE,
    EventType.SUBAGENT_STARTED,
}


@dataclass(frozen=True)
class _Pending:
    """An entity that is being assembled from chunks."""

    kind: _Kind
    entity_id: str
    opened_with: dict[str, Any]
    subagent: str | None


class ChunkExpander:
    """
    Expands chunks as `transformChunks` of the JavaScript client 1.0.0 does.

    Each subagent, and the parent agent, may have one pending message or call. The next event of
    the same owner ends it; chunks need no END.
    """

    def __init__(self) -> None:
        self._pending: dict[str | None, _Pending] = {}  # by subagent, in the order opened

    def expand(self, event: BaseEvent) -> list[BaseEvent]:
        """
        Return the events that replace a chunk, or the event itself after the ENDs it causes.

        Raises:
            ProtocolViolation: a chunk does not name its entity, or contradicts it.
        """
        kind = _KINDS.get(event.type)
        if kind is not None:
            return self._expand_chunk(kind, event)
        if not self._pending or event.type in _ENDS_NOTHING:
            return [event]
        if event.type in _ENDS_ALL:
            return [*self.flush(), event]
        return [*self._end(getattr(event, "subagent_run_id", None)), event]

    def flush(self) -> list[BaseEvent]:
        """End everything pending, for a stream without a terminal event."""
        return [end for subagent in list(self._pending) for end in self._end(subagent)]

    def _end(self, subagent: str | None) -> list[BaseEvent]:
        pending = self._pending.pop(subagent, None)
        if pending is None:
            return []
        return [pending.kind.stream.build_end(pending.entity_id, pending.subagent)]

    def _expand_chunk(self, kind: _Kind, chunk: Any) -> list[BaseEvent]:
        owner = self._find_owner(kind, chunk)
        pending = self._pending.get(owner)
        events: list[BaseEvent] = []
        extra = dict(chunk.model_extra or {})  # added to the last event only
        has_content = chunk.delta is not None or chunk.raw_event is not None
        entity_id = getattr(chunk, kind.stream.id_field)
        if pending is not None and pending.kind is kind and entity_id in (None, pending.entity_id):
            _check_agreement(pending, chunk)
            has_content = has_content or chunk.metadata is not None or bool(extra)
        else:
            events += self._end(owner)
            pending = self._pending[owner] = _open(kind, chunk)
            events.append(_start(pending, chunk, {} if has_content else extra))
        if has_content:
            events.append(_content(pending, chunk, extra))
        return events

    def _find_owner(self, kind: _Kind, chunk: Any) -> str | None:
        """Return the owner of a chunk; only the first chunk of an entity must name it."""
        tag: str | None = chunk.subagent_run_id
        entity_id = getattr(chunk, kind.stream.id_field)
        candidates = [owner for owner, pending in self._pending.items() if pending.kind is kind]
        if entity_id is not None:
            for owner in candidates:
                if self._pending[owner].entity_id == entity_id:
                    if tag not in (None, owner):
                        raise _contradiction(chunk, entity_id, "subagentRunId", tag, owner)
                    return owner
            return tag
        if tag is not None or None in candidates or not candidates:
            return tag
        if len(candidates) > 1:
            raise ProtocolViolation(
                f"{chunk.type.value} could continue any of {len(candidates)} subagents; name one."
            )
        return candidates[0]


def _check_agreement(pending: _Pending, chunk: Any) -> None:
    for field in pending.kind.repeatable:
        value, first_value = getattr(chunk, field), pending.opened_with.get(field)
        if value is not None and value != first_value:
            raise _contradiction(chunk, pending.entity_id, field, value, first_value)


def _open(kind: _Kind, chunk: Any) -> _Pending:
    for field in kind.required:
        if getattr(chunk, field) is None:
            raise ProtocolViolation(
                f"The first {chunk.type.value} of a {kind.stream.name} has no {field}; send it."
            )
    fields = {field: getattr(chunk, field) for field in kind.repeatable}
    opened_with = kind.defaults | {
        field: value for field, value in fields.items() if value is not None
    }
    return _Pending(kind, getattr(chunk, kind.stream.id_field), opened_with, chunk.subagent_run_id)


def _start(pending: _Pending, chunk: Any, extra: dict[str, Any]) -> BaseEvent:
    stream = pending.kind.stream
    fields = {
        stream.id_field: pending.entity_id,
        "subagent_run_id": pending.subagent,
        "metadata": chunk.metadata,
        **pending.opened_with,
    }
    model_fields = stream.start.model_fields
    unknown = {name: value for name, value in extra.items() if name not in model_fields}
    return stream.start.model_validate(unknown | fields)


def _content(pending: _Pending, chunk: Any, extra: dict[str, Any]) -> BaseEvent:
    stream, tag = pending.kind.stream, chunk.subagent_run_id
    fields = {
        stream.id_field: pending.entity_id,
        "delta": chunk.delta or "",
        "subagent_run_id": pending.subagent if tag is None else tag,
        "metadata": chunk.metadata,
        "raw_event": chunk.raw_event,
    }
    assert stream.content is not None  # noqa: S101 - a reasoning span has none, and no chunks
    return stream.content.model_validate(extra | fields)


def _contradiction(
    chunk: Any, entity_id: str, field: str, value: Any, first_value: Any
) -> ProtocolViolation:
    return ProtocolViolation(
        f"{chunk.type.value} continues '{entity_id}' with {field} '{value}', but that was opened "
        f"with '{first_value}'; leave it out or repeat it."
    )


def coalesce(events: Iterable[BaseEvent]) -> Iterator[BaseEvent]:
    """
    Merge neighbouring deltas of the same message or tool call into one event each.

    A merged event keeps the timestamp of the first. Deltas that carry more than text (metadata, a
    raw event, unknown fields) stay as they are.
    """
    first: Delta | None = None
    parts: list[str] = []
    for event in events:
        if isinstance(event, Delta) and _has_text_only(event):
            if first is not None and target(event) == target(first):
                parts.append(event.delta)
                continue
            if first is not None:
                yield _merged(first, parts)
            first, parts = event, [event.delta]
            continue
        if first is not None:
            yield _merged(first, parts)
            first = None
        yield event
    if first is not None:
        yield _merged(first, parts)


def _has_text_only(event: Delta) -> bool:
    return event.metadata is None and event.raw_event is None and not event.model_extra


def target(event: Delta) -> tuple[type[Delta], str, str | None]:
    """Return the key of the entity that the delta is appended to."""
    entity_id = event.tool_call_id if isinstance(event, ToolCallArgsEvent) else event.message_id
    return (type(event), entity_id, event.subagent_run_id)


def _merged(first: Delta, parts: list[str]) -> Delta:
    if len(parts) == 1:
        return first
    return first.model_copy(update={"delta": "".join(parts)})
