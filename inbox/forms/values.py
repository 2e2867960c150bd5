"""Values of a form: what is absent, what is the same, and what a control can hold of a text."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.text.safe_text import escape_invisible, has_invisible_characters

#: A key is part of the names of fields; longer ones make the object JSON.
LONGEST_KEY = 200


#: In this order: a bool is an int as well.
_TYPES: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("null", type(None)),
    ("boolean", bool),
    ("string", str),
    ("integer", int),
    ("object", Mapping),
    ("array", (list, tuple)),
)


class _Absent:
    """Nothing there: neither null nor an empty text."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final[Any] = _Absent()


def same(one: Any, other: Any) -> bool:
    """Whether both are the same JSON: `1` and `true` differ, `1` and `1.0` do not."""
    return Comparer().same(one, other)


class Comparer:
    """
    Compares the same values many times, as enums make it necessary.

    A list or object is written out once: an enum of 2,000 objects against a value of two megabytes
    would otherwise take minutes. What is compared must outlive the comparer.
    """

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def same(self, one: Any, other: Any) -> bool:
        if one is other:
            return True
        if one is ABSENT or other is ABSENT:
            return False
        if isinstance(one, str) or isinstance(other, str):
            return type(one) is type(other) and bool(one == other)
        return self.text(one) == self.text(other)

    def text(self, value: Any) -> str:
        """The canonical text of a value."""
        if not isinstance(value, dict | list):
            return _text(value)
        if id(value) not in self._texts:
            self._texts[id(value)] = _text(value)
        return self._texts[id(value)]


def type_of(value: Any) -> str:
    """The JSON Schema type of a value; a whole number is an `integer`."""
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return next(name for name, kinds in _TYPES if isinstance(value, kinds))


def has_type(value: Any, name: str) -> bool:
    found = type_of(value)
    return found == name or (found == "integer" and name == "number")


def number_text(value: float) -> str:
    """The shortest text of the same number, as it would be sent."""
    try:
        return canonical_json(value)
    except ValueError:  # beyond 2^53: never through the gateway, but nothing may raise here
        return json.dumps(value)


def plain_newlines(text: str) -> str:
    """What a browser posts for every newline of a text area is CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fits_a_control(text: str) -> bool:
    """
    Whether a control shows the text as it is and gives it back as it was.

    Browsers change control characters, and what cannot be seen has to be spelled out.
    """
    return not has_invisible_characters(text) and not any(_is_lost(char) for char in text)


def is_key_for_a_name(key: str) -> bool:
    return len(key) <= LONGEST_KEY and "\n" not in key and fits_a_control(key)


def strings(value: Any) -> Iterator[str]:
    """Every text and every key in a value, without recursion."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            yield from item
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def name_part(key: str) -> str:
    """A key inside the name of a field: without `/` and `@`, which part names."""
    return quote(key, safe="", errors="surrogatepass")


def field_id(name: str) -> str:
    """
    The DOM id of the field of this name: letters, digits, `-` for a step and `_2f_` for the rest.

    Different names never share an id, no id needs escaping in CSS, and the prefix keeps agents from
    naming an element of the page.
    """
    return "f-" + re.sub(r"[^A-Za-z0-9]", _as_id, name)


def label_of(key: str) -> str:
    """A key as a label: `unit_price` and `unitPrice` read "Unit price", others stay as they are."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", key) or len(key) > 60:
        return escape_invisible(key) or "(empty name)"
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key).replace("_", " ").split()
    if any(word.isupper() and len(word) > 1 for word in words):
        return escape_invisible(key)
    text = " ".join(words).lower()
    return text[:1].upper() + text[1:]


def _as_id(match: re.Match[str]) -> str:
    char = match.group()
    return "-" if char == "/" else f"_{ord(char):x}_"


def _is_lost(char: str) -> bool:
    if char in "\n\t" or " " <= char <= "~":
        return False
    if ord(char) & 0xFFFE == 0xFFFE:
        return True
    return unicodedata.category(char) in ("Cc", "Cs")


def _text(value: Any) -> str:
    try:
        return canonical_json(value)
    except ValueError:
        return json.dumps(value, sort_keys=True)
