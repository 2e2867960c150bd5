"""The codec between events and lines of JSON."""

import json
from types import NoneType
from typing import Any, Optional

import ag_ui.core as agui
from ag_ui.core import PROTOCOL_VERSION, BaseEvent, Event, RunStartedEvent
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from agents.agui import strict_json
from agents.agui.errors import ProtocolViolation

ANY_JSON: object = Optional[Any]  # noqa: UP045 - spelled as the generated models spell it
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)

# Snapshots of long conversations may be larger than a request.
_EVENT_LIMITS = strict_json.Limits(max_bytes=64 * 1024 * 1024, max_depth=64, max_nodes=1_000_000)
#: Events with texts only, and their required fields.
_TEXT_FIELDS: dict[type[BaseEvent], tuple[str, ...]] = {
    agui.TextMessageContentEvent: ("message_id", "delta"),
    agui.TextMessageEndEvent: ("message_id",),
    agui.ReasoningMessageContentEvent: ("message_id", "delta"),
    agui.ToolCallStartEvent: ("tool_call_id", "tool_call_name"),
    agui.ToolCallArgsEvent: ("tool_call_id", "delta"),
    agui.ToolCallEndEvent: ("tool_call_id",),
    agui.ToolCallResultEvent: ("message_id", "tool_call_id", "content"),
}
#: A shorter text cannot exceed max_nodes: each value takes two characters.
_SAFE_LENGTH = _EVENT_LIMITS.max_nodes


def encode(event: BaseEvent) -> str:
    """
    Return an event as it is sent: compact, camelCase, absent fields left out.

    `exclude_none` is not used: the generated models leave out optional fields by themselves, and it
    would also drop a null that is a value (CUSTOM.value, STATE_SNAPSHOT.snapshot, a patch).

    The result is checked with `decode`: `model_copy` and `model_construct` bypass validation, and
    an unreadable event would stay in the log for ever.

    Raises:
        ProtocolViolation: the event is not of AG-UI 1.0, or has a value that JSON or a
            database text cannot represent.
    """
    try:
        text = event.model_dump_json(by_alias=True, warnings=False)
    except (PydanticSerializationError, AttributeError, TypeError, ValueError) as error:
        raise ProtocolViolation(
            f"{event.type.value} cannot be written as JSON; use valid Unicode and JSON values only "
            f"({error})."
        ) from error
    if not _is_plain(event) or "\\u0000" in text or len(text) > _SAFE_LENGTH:
        _check_readable(text, event)
    return text


def interrupt_ids(text: str) -> list[str]:
    """Return the ids of the interrupts of an encoded RUN_FINISHED event."""
    outcome = json.loads(text).get("outcome") or {}
    return [interrupt["id"] for interrupt in outcome.get("interrupts") or ()]


def decode(text: str | bytes) -> Event:
    """
    Parse an event from JSON.

    Raises:
        JsonRejected: the text is not strict JSON.
        ProtocolViolation: the JSON is not an event, or has null in an optional field.
    """
    value = strict_json.loads(text, limits=_EVENT_LIMITS)
    try:
        event = _EVENT.validate_python(value)
    except ValidationError as error:
        raise ProtocolViolation(f"Not an AG-UI event: {_problems(error)}") from error
    _check_no_nulls(event, path=event.type.value)
    return event


def _problems(error: ValidationError) -> str:
    """Return where an event is wrong and why, without its values."""
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:3]
    )


def run_started(thread_id: str, run_id: str, parent_run_id: str | None = None) -> RunStartedEvent:
    """Build RUN_STARTED with the protocol version, which the SDK does not set."""
    return RunStartedEvent(
        thread_id=thread_id,
        run_id=run_id,
        parent_run_id=parent_run_id,
        protocol_version=PROTOCOL_VERSION,
    )


def _is_plain(event: BaseEvent) -> bool:
    """Return True if the event has only text in its text fields, so it needs no `decode` check."""
    names = _TEXT_FIELDS.get(type(event))
    if names is None or event.model_extra:
        return False
    fields = event.__dict__  # not the attributes: `model_construct` may have left some out
    timestamp = fields["timestamp"]
    return (
        all(type(fields.get(name)) is str for name in names)
        and fields["type"] is type(event).model_fields["type"].default
        and type(fields["subagent_run_id"]) in (NoneType, str)
        and type(fields.get("parent_message_id")) in (NoneType, str)
        and fields.get("role") in (None, "tool")
        and fields["metadata"] is fields["raw_event"] is None
        and (
            timestamp is None
            or (type(timestamp) is int and 0 <= timestamp <= strict_json.LARGEST_INTEGER)
        )
    )


def _check_readable(text: str, event: BaseEvent) -> None:
    """Raise unless `decode` reads the text as the same event."""
    name = type(event).__name__
    try:
        if not isinstance(event, type(decode(text))):
            raise ProtocolViolation(f"a {name} has the type of another event")
        if "null" in text:  # NaN and infinities are written as null, and would be read as such
            json.dumps(event.model_dump(warnings=False), allow_nan=False, default=str)
    except (ValueError, RecursionError) as error:
        raise ProtocolViolation(f"{name} cannot be written: {error}") from error


def _check_no_nulls(model: BaseModel, path: str) -> None:
    """Raise for null in an optional field, as the official client does: it must be absent."""
    fields = type(model).model_fields
    for name in model.model_fields_set & fields.keys():
        value = getattr(model, name)
        field_path = f"{path}.{fields[name].alias or name}"
        # Any JSON value may be null: a payload, a result, a state.
        if value is None and not fields[name].is_required() and fields[name].annotation != ANY_JSON:
            raise ProtocolViolation(f"{field_path} is null; leave an optional field out.")
        _check_no_nulls_inside(value, field_path)


def _check_no_nulls_inside(value: Any, path: str) -> None:
    if isinstance(value, BaseModel):
        _check_no_nulls(value, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_no_nulls_inside(item, f"{path}[{index}]")
