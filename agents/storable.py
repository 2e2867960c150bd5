"""Values of agents as JSON and a database can hold them; the rest of them becomes text."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from agents.agui.strict_json import DEFAULT_LIMITS

_Model = TypeVar("_Model", bound=BaseModel)
_REFUSED_CHARACTER = re.compile("[\0\ud800-\udfff]")
#: Longer integers may exceed the 4,300 digits that Python converts.
_MAX_INTEGER_BITS = 14_280
_CONTAINERS = frozenset({dict, list, tuple})
_SCALARS = frozenset({int, float, bool, NoneType})
_MAX_PATH = 4
_MAX_SCHEMA_DEPTH = 1_000


def storable_text(text: str) -> str:
    r"""Return text with NUL and lone surrogates as JSON writes them: `\u0000`, `\ud800`."""
    return _REFUSED_CHARACTER.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def storable(
    value: Any,
    *,
    max_depth: int = DEFAULT_LIMITS.max_depth,
    text: Callable[[str], str] = storable_text,
) -> Any:
    """
    Return any value of an author as JSON, the same object if it is JSON already.

    NaN, infinities and integers of more than 4,300 digits become text, and so does what is nested
    deeper than `max_depth`, as JSON. Texts become what `text` returns, which is `str` for a value
    that is stored as JSON text. Bytes are UTF-8 or base64. Objects are written as pydantic writes
    them, else as `str` does.
    """
    kind = type(value)
    if kind is str:
        return text(value)
    if kind in _CONTAINERS:
        return _storable_container(value, max_depth - 1, text) if max_depth else _as_text(value)
    if kind in _SCALARS:
        return _storable_scalar(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return text(_text_of(bytes(value)))
    return storable(_python_object(value), max_depth=max_depth, text=text)


def storable_model(model: _Model, *, max_depth: int = DEFAULT_LIMITS.max_depth) -> _Model:
    """
    Return an event with the texts and values that `storable` returns; ids stay as they are.

    An id belongs to the agent, which would not know it with other characters.
    """
    extra = model.__pydantic_extra__
    fields = vars(model) if not extra else {**vars(model), **extra}
    changes = {}
    for name, value in fields.items():
        if value is None or name in {"type", "id"} or name.endswith("_id"):
            continue
        # A part of a schema would be no schema as text; all schemas have a limit of their own.
        depth = _MAX_SCHEMA_DEPTH if name == "response_schema" else max_depth
        new_value = _storable_field(value, type(model).__module__, depth)
        if new_value is not value:
            changes[name] = new_value
    return model.model_copy(update=changes) if changes else model


def _storable_field(value: Any, module: str, max_depth: int) -> Any:
    """Return a field of a model: another model of AG-UI, a list of them, or a value of an agent."""
    if isinstance(value, BaseModel) and type(value).__module__ == module:
        return storable_model(value, max_depth=max_depth)
    if type(value) is list and value and isinstance(value[0], BaseModel):
        # The value of a patch is nested in another value.
        items = [_storable_field(item, module, max_depth - _MAX_PATH) for item in value]
        return value if all(map(_is, items, value)) else items
    return storable(value, max_depth=max_depth)


def _is(value: Any, other: Any) -> bool:
    return value is other


def _storable_scalar(value: float | None) -> float | str | None:
    if type(value) is int and value.bit_length() >= _MAX_INTEGER_BITS:
        return str(Decimal(value))  # which takes integers of any size, unlike `str`
    return json.dumps(value) if type(value) is float and not isfinite(value) else value


def _storable_container(value: Any, max_depth: int, text: Callable[[str], str]) -> Any:
    if type(value) is not dict:
        items = [storable(item, max_depth=max_depth, text=text) for item in value]
        return value if type(value) is list and all(map(_is, items, value)) else items
    members = {
        _name(name, text): storable(member, max_depth=max_depth, text=text)
        for name, member in value.items()
    }
    is_same = all(map(_is, members, value)) and all(map(_is, members.values(), value.values()))
    return value if is_same and len(members) == len(value) else members


def _name(name: Any, text: Callable[[str], str]) -> str:
    """Return the name of a member as text: 1 is "1", as in Python's `json`."""
    value = storable(name, text=text)
    return value if isinstance(value, str) else json.dumps(value)


def _as_text(value: Any) -> str:
    try:
        return json.dumps(value, default=str)
    except (TypeError, ValueError, RecursionError):
        return f"{type(value).__name__}: nested too deep to be stored"


def _text_of(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return b64encode(content).decode()


def _python_object(value: Any) -> Any:
    """Return an object as plain values, which may be no JSON yet."""
    for bytes_mode in ("utf8", "base64"):
        try:
            return to_jsonable_python(
                value, fallback=str, bytes_mode=bytes_mode, inf_nan_mode="constants"
            )
        except (ValueError, RecursionError):
            continue
    return str(value)
