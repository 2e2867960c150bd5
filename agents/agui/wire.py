"""The codec: one event to one line of JSON and back."""

import json
import re
from typing import Any, Optional

from ag_ui.core import PROTOCOL_VERSION, BaseEvent, Event, RunStartedEvent
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from agents.agui import strict_json
from agents.agui.errors import ProtocolViolation

ANY_JSON: object = Optional[Any]  # noqa: UP045 - spelled as the generated models spell it
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)

# Snapshots of long conversations are legitimate events, and larger than what a request may be.
_EVENT_LIMITS = strict_json.Limits(max_bytes=64 * 1024 * 1024, max_depth=64, max_nodes=1_000_000)
#: NUL, an integer that loses digits, and null, which NaN and infinities are written as.
_SUSPICIOUS = re.compile(r"\\u0000|[0-9]{16}|null")


def encode(event: BaseEvent) -> str:
    """
    Write an event as it goes over the wire: compact, camelCase, absent fields left out.

    `exclude_none` is not used: the generated models leave out optional fields by themselves, and it
    would also drop a null that means something (CUSTOM.value, STATE_SNAPSHOT.snapshot, a patch).

    Raises:
        ProtocolViolation: the event holds something that JSON or a database text cannot hold.
    """
    try:
        text = event.model_dump_json(by_alias=True)
    except PydanticSerializationError as error:
        raise ProtocolViolation(
            f"{event.type.value} cannot be written as JSON; use valid Unicode and JSON values only "
            f"({error})."
        ) from error
    if _SUSPICIOUS.search(text) or text.count("{") + text.count("[") > _EVENT_LIMITS.max_depth:
        _check_readable(text, event)
    return text


def decode(text: str | bytes) -> Event:
    """
    Read an event that was written by `encode`, or by anyone who keeps to the specification.

    Raises:
        JsonRejected: the text is no strict JSON.
        ProtocolViolation: the JSON is no event, or has null in an optional field.
    """
    value = strict_json.loads(text, limits=_EVENT_LIMITS)
    try:
        event = _EVENT.validate_python(value)
    except ValidationError as error:
        raise ProtocolViolation(f"Not an AG-UI event: {error}") from error
    _check_no_nulls(event, path=event.type.value)
    return event


def run_started(thread_id: str, run_id: str, parent_run_id: str | None = None) -> RunStartedEvent:
    """Open a run and say which protocol it speaks; the SDK does not do that by itself."""
    return RunStartedEvent(
        thread_id=thread_id,
        run_id=run_id,
        parent_run_id=parent_run_id,
        protocol_version=PROTOCOL_VERSION,
    )


def _check_readable(text: str, event: BaseEvent) -> None:
    """Refuse to write what `decode` would refuse to read: it would end up in the log for ever."""
    try:
        strict_json.loads(text, limits=_EVENT_LIMITS)
        json.dumps(event.model_dump(), allow_nan=False, default=str)
    except ValueError as error:
        raise ProtocolViolation(f"{event.type.value} cannot be written: {error}") from error


def _check_no_nulls(model: BaseModel, path: str) -> None:
    """Refuse null where the official client does: it stands for nothing, so it must be absent."""
    fields = type(model).model_fields
    for name in model.model_fields_set & fields.keys():
        value = getattr(model, name)
        where = f"{path}.{fields[name].alias or name}"
        # Any JSON value may be null: a payload, a result, a state.
        if value is None and not fields[name].is_required() and fields[name].annotation != ANY_JSON:
            raise ProtocolViolation(f"{where} is null; leave an optional field out.")
        _check_no_nulls_inside(value, where)


def _check_no_nulls_inside(value: Any, path: str) -> None:
    if isinstance(value, BaseModel):
        _check_no_nulls(value, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_no_nulls_inside(item, f"{path}[{index}]")
