"""JSON values in forms: absence, comparison, and what a control can hold."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.schema.schema_walk import json_nodes
from inbox.rules.text.safe_text import has_invisible_characters

#: Keys are part of field names; an object with a longer key is edited as JSON.
MAX_KEY_CHARACTERS = 200


_PRINTABLE = re.compile(r"[\n\t -~]*")
#: bool comes before int, because a bool is an int.
_TYPES: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("null", type(None)),
    ("boolean", bool),
    ("string", str),
    ("integer", int),
    ("object", Mapping),
    ("array", (list, tuple)),
)


class _Absent:
    """The absence of a value, which differs from null and an empty text."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final[Any] = _Absent()


def is_same_json(left: Any, right: Any) -> bool:
    """Return whether both are the same JSON: `1` and `true` differ, `1` and `1.0` do not."""
    return JsonComparer().is_same_json(left, right)


class JsonComparer:
    """
    A comparison of JSON values that caches canonical texts.

    Without the cache, an enum of 2,000 objects against a value of 2 MB takes minutes. The compared
    values must outlive the comparer, which identifies them by `id`.
    """

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def is_same_json(self, left: Any, right: Any) -> bool:
        if left is right:
            return True
        if left is ABSENT or right is ABSENT:
            return False
        if isinstance(left, str) or isinstance(right, str):
            return type(left) is type(right) and bool(left == right)
        return self.text(left) == self.text(right)

    def text(self, value: Any) -> str:
        """Return the canonical text of a value."""
        if not isinstance(value, dict | list):
            return _text(value)
        if id(value) not in self._texts:
            self._texts[id(value)] = _text(value)
        return self._texts[id(value)]


def type_of(value: Any) -> str:
    """Return the JSON Schema type of a value; a whole number is an `integer`."""
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return next(name for name, kinds in _TYPES if isinstance(value, kinds))


def has_type(value: Any, name: str) -> bool:
    value_type = type_of(value)
    return value_type == name or (value_type == "integer" and name == "number")


def plain_newlines(text: str) -> str:
    """Return a text with LF newlines; browsers submit CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_preserved_by_controls(text: str) -> bool:
    """
    Return whether a control shows the text and submits it unchanged.

    Browsers change control characters, and invisible characters have to be escaped.
    """
    if _PRINTABLE.fullmatch(text):
        return True  # most keys and texts: a request may have 10,000
    return not has_invisible_characters(text) and not any(
        _is_changed_by_browsers(char) for char in text
    )


def is_valid_key(key: str) -> bool:
    return len(key) <= MAX_KEY_CHARACTERS and "\n" not in key and is_preserved_by_controls(key)


def all_strings(value: Any) -> Iterator[str]:
    """Yield every text and every key in a value."""
    for _, node in json_nodes(value):
        if isinstance(node, str):
            yield node
        elif isinstance(node, Mapping):
            yield from node


def name_part(key: str) -> str:
    """Return a key for use in a field name, with `/` and `@` quoted."""
    return quote(key, safe="", errors="surrogatepass")


def field_id(name: str) -> str:
    """
    Return the DOM id of a field: letters, digits, `-` for `/`, and `_2f_` for right characters.

    Different names get different ids, ids need no escaping in CSS, and the prefix keeps agents from
    choosing the id of another element.
    """
    return "f-" + re.sub(r"[^A-Za-z0-9]", _as_id, name)


def _as_id(match: re.Match[str]) -> str:
    char = match.group()
    return "-" if char == "/" else f"_{ord(char):x}_"


def _is_changed_by_browsers(char: str) -> bool:
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
