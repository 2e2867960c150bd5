"""Strict JSON parsing: accepted values are safe to store, compare and digest."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import Any, NoReturn

LARGEST_INTEGER = 2**53 - 1  #: doubles have gaps beyond
_MAX_DIGITS = 4_300  #: that `int` converts

# Possessive, and the closing quote is optional: one linear pass even over an unterminated string.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class JsonRejected(ValueError):
    """Bytes that are not JSON, or JSON that parsers read differently."""


@dataclass(frozen=True)
class Limits:
    """The size limits of a document."""

    max_bytes: int = 2 * 1024 * 1024
    max_depth: int = 32  #: arrays and objects inside each other; a bare scalar has depth 0
    max_nodes: int = 10_000  #: values of every kind, keys not counted


DEFAULT_LIMITS = Limits()


def loads(data: bytes | str, *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """
    Parse JSON that every parser reads alike.

    Rejects, besides syntax errors: duplicate keys, NaN and infinities (1e999 is one), integers of
    more than 4,300 digits, NUL and lone surrogates.

    Raises:
        JsonRejected: nothing else, whatever the input.
    """
    try:
        raw = data if isinstance(data, bytes) else data.encode()
    except UnicodeEncodeError:
        raise JsonRejected("The text holds a lone surrogate; send valid Unicode.") from None
    if len(raw) > limits.max_bytes:
        raise JsonRejected(f"{len(raw)} bytes of JSON; at most {limits.max_bytes} are allowed.")
    check_depth(raw, limits.max_depth)
    value = _parse(raw)
    # The parser rejects raw control characters and surrogates; only escapes can produce them.
    _check_values(value, limits.max_nodes, look_into_strings=b"\\u" in raw)
    return value


def loads_arguments(text: str, *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """
    Parse the arguments of a tool call, which a model wrote.

    Accepts, besides JSON, what models write and Python's `json` reads: NaN, infinities, NUL and
    lone surrogates. The tool gets them as they came.

    Raises:
        JsonRejected: nothing else, whatever the input.
    """
    # Outside of strings a surrogate is no JSON, and inside of them an escape is the same text.
    raw = escape_surrogates(text).encode()
    if len(raw) > limits.max_bytes:
        raise JsonRejected(f"{len(raw)} bytes of JSON; at most {limits.max_bytes} are allowed.")
    check_depth(raw, limits.max_depth)
    value = _parse(raw, parse_constant=float)
    _check_values(value, limits.max_nodes, look_into_strings=False, allow_infinite=True)
    return value


def loads_of_agent(data: bytes, *, limits: Limits) -> Any:
    """
    Parse an event of an agent: any legal JSON, and what Python's `json` reads.

    Of equal names the last one counts, as for most parsers. An integer of more than 4,300 digits
    is text. `agents.storable` makes the rest of it fit for the log.

    Raises:
        JsonRejected: nothing else, whatever the input.
    """
    if len(data) > limits.max_bytes:
        raise JsonRejected(f"{len(data)} bytes of JSON; at most {limits.max_bytes} are allowed.")
    check_depth(data, limits.max_depth)
    value = _parse(data, object_pairs_hook=dict, parse_constant=float, parse_int=_integer)
    _check_values(value, limits.max_nodes, look_into_strings=False, allow_infinite=True)
    return value


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


_SURROGATE = re.compile("[\ud800-\udfff]")


def escape_surrogates(text: str) -> str:
    """Return JSON text with its lone surrogates escaped, so that it has an encoding."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def dumps(value: Any) -> str:
    """Return compact JSON; raise ValueError for NaN, infinities and lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text.encode()  # raises for a lone surrogate, which cannot be sent or stored
    return text


def dumps_arguments(value: Any) -> str:
    """Return compact text that `loads_arguments` reads as this value: JSON, with NaN and so on."""
    return escape_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def check_depth(raw: bytes, max_depth: int) -> None:
    """
    Raise JsonRejected if text is nested deeper, before a recursive parser sees it.

    The text need not be valid JSON.
    """
    if raw.count(b"[") + raw.count(b"{") <= max_depth:
        return
    brackets = _STRING.sub(b"", raw).translate(None, _NOT_BRACKETS)
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > max_depth:
        raise JsonRejected(f"The JSON is nested too deep; at most {max_depth} levels are allowed.")


def _parse(raw: bytes, **changes: Callable[[Any], Any]) -> Any:
    hooks: dict[str, Any] = {
        "object_pairs_hook": _object_without_duplicates,
        "parse_constant": _Constant,
        **changes,
    }
    try:
        return json.loads(raw.decode(), **hooks)
    except JsonRejected:
        raise
    except UnicodeDecodeError:
        raise JsonRejected("The bytes are not valid UTF-8; send JSON encoded as UTF-8.") from None
    except json.JSONDecodeError as error:
        raise JsonRejected(
            f"Not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise JsonRejected("The JSON is nested too deep for this stack; send it flatter.") from None
    except ValueError:  # int() rejects thousands of digits, as it is quadratic
        raise JsonRejected("A number has too many digits; send large numbers as text.") from None


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        duplicate, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise JsonRejected(
            f"The key {json.dumps(duplicate[:80])} appears twice in one object; send it once."
        )
    return members


class _Constant(str):
    """NaN, Infinity or -Infinity, until its place is known."""

    __slots__ = ()


def _check_values(
    value: Any, max_nodes: int, *, look_into_strings: bool, allow_infinite: bool = False
) -> None:
    nodes = 0
    stack = [value]
    while stack:
        item = stack.pop()
        nodes += 1
        kind = type(item)
        if kind is dict:
            stack.extend(item.values())
            if look_into_strings:
                _check_texts(value, item)
        elif kind is list:
            stack.extend(item)
        elif kind is str:
            if look_into_strings:
                _check_texts(value, (item,))
        elif kind is _Constant or (kind is float and not (allow_infinite or isfinite(item))):
            _reject_number(value, item)
        if nodes > max_nodes:
            raise JsonRejected(f"More than {max_nodes} values; send fewer, or several documents.")


def _check_texts(root: Any, texts: Iterable[str]) -> None:
    for text in texts:
        problem = ""
        if "\0" in text:
            problem = "A text holds the character NUL (\\u0000); leave it out."
        elif _SURROGATE.search(text):
            problem = (
                "A text holds a lone surrogate escape; escape both halves or send the character."
            )
        if problem:
            raise JsonRejected(f"{_place(root, text)}{problem}")


def _reject_number(root: Any, number: Any) -> NoReturn:
    problem = (
        f"{number} is not JSON; send a finite number, null or text."
        if isinstance(number, _Constant)
        else "A number is too large for a double; send a finite number or text."
    )
    raise JsonRejected(f"{_place(root, number)}{problem}")


def _place(root: Any, culprit: Any) -> str:
    """Return where a value or a name is, such as "args.lines[3]: "; "" for the whole document."""
    stack = [("", root)]
    while stack:
        path, item = stack.pop()
        if item is culprit or (type(item) is dict and any(key is culprit for key in item)):
            return f"{json.dumps(path.removeprefix('.'))[1:-1][:200]}: " if path else ""
        if type(item) is dict:
            stack += [(f"{path}.{key}", member) for key, member in item.items()]
        elif type(item) is list:
            stack += [(f"{path}[{index}]", member) for index, member in enumerate(item)]
    return ""
