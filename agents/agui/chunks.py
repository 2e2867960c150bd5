"""The chunk shorthand, written out: TEXT_MESSAGE_CHUNK and its like become START, CONTENT, END."""

from dataclasses import dataclass
from typing import Any

from ag_ui.core import BaseEvent, EventType

from agents.agui.errors import ProtocolViolation
from agents.agui.streams import REASONING_MESSAGE, TEXT_MESSAGE, TOOL_CALL, Stream


@dataclass(frozen=True, eq=False)
class _Kind:
    """One of the three chunks, and what it stands for."""

    stream: Stream
    required: tuple[str, ...]  #: what the first chunk has to say
    repeatable: tuple[str, ...]  #: what a later chunk may say again, but not otherwise
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
#: These speak of the run as a whole and end whatever anybody is in the middle of.
_ENDS_ALL = {
    EventType.RUN_STARTED,
    EventType.RUN_FINISHED,
    EventType.RUN_ERROR,
    EventType.MESSAGES_SNAPSHOT,
}
#: These may come in the middle of a message.
_ENDS_NOTHING = {
    EventType.RAW,
    EventType.ACTIVITY_SNAPSHOT,
    EventType.ACTIVITY_DELTA,
    EventType.REASONING_ENCRYPTED_VALUE,
    EventType.SUBAGENT_STARTED,
}


@dataclass(frozen=True)
class _Pending:
    """What is being put together from chunks."""

    kind: _Kind
    entity_id: str
    opened_with: dict[str, Any]
    subagent: str | None


class ChunkExpander:
    """
    Writes chunks out, as `transformChunks` of the JavaScript client 1.0.0 does.

    Each subagent, and the parent agent, may have one message or call in the making. The next event
    of the same one ends it; what comes chunk by chunk needs no END of its own.
    """

    def __init__(self) -> None:
        self._pending: dict[str | None, _Pending] = {}  # by subagent, in the order opened

    def expand(self, event: BaseEvent) -> list[BaseEvent]:
        """
        Return what stands for the event: itself, if it is no chunk, behind the ENDs it brings.

        Raises:
            ProtocolViolation: a chunk does not say what it continues, or contradicts it.
        """
        kind = _KINDS.get(event.type)
        if kind is not None:
            return self._write_out(kind, event)
        if not self._pending or event.type in _ENDS_NOTHING:
            return [event]
        if event.type in _ENDS_ALL:
            return [*self.flush(), event]
        return [*self._end(getattr(event, "subagent_run_id", None)), event]

    def flush(self) -> list[BaseEvent]:
        """End everything in the making, for when no terminal event of the agent will do it."""
        return [end for subagent in list(self._pending) for end in self._end(subagent)]

    def _end(self, subagent: str | None) -> list[BaseEvent]:
        pending = self._pending.pop(subagent, None)
        if pending is None:
            return []
        return [pending.kind.stream.build_end(pending.entity_id, pending.subagent)]

    def _write_out(self, kind: _Kind, chunk: Any) -> list[BaseEvent]:
        owner = self._find_owner(kind, chunk)
        pending = self._pending.get(owner)
        made: list[BaseEvent] = []
        rest = dict(chunk.model_extra or {})  # goes with one event only, the last
        has_content = chunk.delta is not None or chunk.raw_event is not None
        if pending is not None and _continues(pending, kind, chunk):
            _check_agreement(pending, chunk)
            has_content = has_content or chunk.metadata is not None or bool(rest)
        else:
            made += self._end(owner)
            pending = self._pending[owner] = _opened(kind, chunk)
            made.append(_start(pending, chunk, {} if has_content else rest))
        if has_content:
            made.append(_content(pending, chunk, rest))
        return made

    def _find_owner(self, kind: _Kind, chunk: Any) -> str | None:
        """Find out whose the chunk is; only the first one has to say it."""
        tag: str | None = chunk.subagent_run_id
        entity_id = getattr(chunk, kind.stream.id_field)
        candidates = [owner for owner, one in self._pending.items() if one.kind is kind]
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


def _continues(pending: _Pending, kind: _Kind, chunk: Any) -> bool:
    entity_id = getattr(chunk, kind.stream.id_field)
    return pending.kind is kind and entity_id in (None, pending.entity_id)


def _check_agreement(pending: _Pending, chunk: Any) -> None:
    for field in pending.kind.repeatable:
        said, known = getattr(chunk, field), pending.opened_with.get(field)
        if said is not None and said != known:
            raise _contradiction(chunk, pending.entity_id, field, said, known)


def _opened(kind: _Kind, chunk: Any) -> _Pending:
    for field in kind.required:
        if getattr(chunk, field) is None:
            raise ProtocolViolation(
                f"The first {chunk.type.value} of a {kind.stream.name} has no {field}; send it."
            )
    said = {field: getattr(chunk, field) for field in kind.repeatable}
    opened_with = kind.defaults | {field: one for field, one in said.items() if one is not None}
    return _Pending(kind, getattr(chunk, kind.stream.id_field), opened_with, chunk.subagent_run_id)


def _start(pending: _Pending, chunk: Any, rest: dict[str, Any]) -> BaseEvent:
    stream = pending.kind.stream
    fields = {
        stream.id_field: pending.entity_id,
        "subagent_run_id": pending.subagent,
        "metadata": chunk.metadata,
        **pending.opened_with,
    }
    known = stream.start.model_fields.keys()
    unknown = {name: value for name, value in rest.items() if name not in known}
    return stream.start.model_validate(unknown | fields)


def _content(pending: _Pending, chunk: Any, rest: dict[str, Any]) -> BaseEvent:
    stream, tag = pending.kind.stream, chunk.subagent_run_id
    fields = {
        stream.id_field: pending.entity_id,
        "delta": chunk.delta or "",
        "subagent_run_id": pending.subagent if tag is None else tag,
        "metadata": chunk.metadata,
        "raw_event": chunk.raw_event,
    }
    assert stream.content is not None  # noqa: S101 - a reasoning span has none, and no chunks
    return stream.content.model_validate(rest | fields)


def _contradiction(
    chunk: Any, entity_id: str, field: str, said: Any, known: Any
) -> ProtocolViolation:
    return ProtocolViolation(
        f"{chunk.type.value} continues '{entity_id}' with {field} '{said}', but that was opened "
        f"with '{known}'; leave it out or say the same."
    )
