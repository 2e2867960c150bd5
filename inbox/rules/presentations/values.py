"""Values of agents as facts to read: texts, money, code, diffs, lists and tables."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from typing import Any
from urllib.parse import quote

from inbox.rules.presentations.vocabulary import ValueHint, ValueType, is_currency
from inbox.rules.schema.schema_walk import json_nodes
from inbox.rules.schema.secrets import pointer
from inbox.rules.text.labels import label_of, separate_words
from inbox.rules.text.safe_text import escape_invisible, is_long, json_text

#: Values with more parts are shown as JSON, except tables.
MAX_PARTS = 200
#: A table of more parts has so many rows; the page loads the others on demand, so many at once.
FIRST_ROWS, MORE_ROWS = 10, 100
MAX_COLUMNS = 8
#: A long text counts as one part for each of these.
_CHARACTERS_OF_PART = 500
MAX_DEPTH = 3
#: Of a long text the page shows that many lines before it is opened.
PREVIEW_LINES, PREVIEW_CHARACTERS = 5, 600
MAX_MONEY_DIGITS = 40
#: Longer numbers get the width of the page.
LONG_NUMBER = 15
#: The currencies that have not two decimals (ISO 4217).
_DECIMALS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF"), 0),
    **dict.fromkeys(("UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}

_CODE_NAMES = {
    "query": "sql", "sql": "sql", "statement": "sql", "command": "bash", "cmd": "bash",
    "shell": "bash", "script": "", "code": "", "source_code": "", "yaml": "yaml", "json": "json",
    "html": "html", "regex": "", "manifest": "yaml", "config": "",
}  # fmt: skip
_MARKDOWN_NAMES = {"markdown", "md", "markdown_body", "body_markdown", "body_md"}
_DIFF_NAMES = {"diff", "patch", "unified_diff"}
_DIFF_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_MEDIA_TYPES = {
    "text/markdown": (ValueType.MARKDOWN, ""),
    "text/x-diff": (ValueType.DIFF, ""),
    "text/x-patch": (ValueType.DIFF, ""),
    "application/sql": (ValueType.CODE, "sql"),
    "text/x-sql": (ValueType.CODE, "sql"),
    "application/x-sh": (ValueType.CODE, "bash"),
    "text/x-python": (ValueType.CODE, "python"),
    "application/json": (ValueType.CODE, "json"),
    "application/yaml": (ValueType.CODE, "yaml"),
    "text/html": (ValueType.CODE, "html"),
    "text/css": (ValueType.CODE, "css"),
}


class Look(StrEnum):
    """The forms in which a page shows a value."""

    TEXT = "text"
    BLOCK = "block"  #: a text of several lines
    NUMBER = "number"
    MONEY = "money"
    BOOLEAN = "boolean"
    EMPTY = "empty"  #: null, an empty text, list or object: `text` is its JSON
    CODE = "code"
    DIFF = "diff"
    MARKDOWN = "markdown"
    LIST = "list"
    TABLE = "table"
    FACTS = "facts"
    LATER = "later"  #: loaded on demand


_WIDE = {
    *(Look.BLOCK, Look.CODE, Look.DIFF, Look.MARKDOWN),
    *(Look.TABLE, Look.FACTS, Look.LATER),
}


@dataclass(frozen=True)
class ValueView:
    """A value as a page shows it; all texts have their invisible characters escaped."""

    name: str
    label: str
    look: Look
    text: str = ""
    unit: str = ""
    language: str = ""  #: of code, "" if unknown
    items: Sequence["ValueView"] = ()  #: of a list or of facts
    columns: Sequence[str] = ()  #: the labels of a table
    rows: Sequence[Sequence["ValueView | None"]] = ()  #: None for an absent cell
    is_true: bool = False  #: of a boolean
    rest_at: str = ""  #: the address of what is loaded on demand
    rest_count: int = 0  #: the rows, or the parts, that are loaded on demand

    @property
    def preview(self) -> str:
        """The first lines of a folded text."""
        return "\n".join(self.text.split("\n", PREVIEW_LINES)[:PREVIEW_LINES])[:PREVIEW_CHARACTERS]

    @property
    def is_wide(self) -> bool:
        """True if it needs the width of the page; digits of a long number must not be parted."""
        is_long_number = self.look in (Look.NUMBER, Look.MONEY) and len(self.text) > LONG_NUMBER
        return self.look in _WIDE or is_long_number

    @property
    def line_count(self) -> int:
        return self.text.count("\n") + 1


def view_of(
    name: str,
    value: Any,
    hint: ValueHint | None = None,
    schema: Mapping[str, Any] | None = None,
    *,
    at: str = "",
) -> ValueView:
    """
    Return how to show the value of a member.

    `value` has its secrets masked. A hint of the author goes first, then the schema's
    `contentMediaType`, then the name and the value itself. `at` is the address from which the page
    loads rows of a long table; without one it is JSON.
    """
    hint = hint or ValueHint()
    label = escape_invisible(hint.label) or label_of(name)
    view = with_unit(_view(name, value, hint, schema or {}, depth=0, at=at), hint.unit)
    return replace(view, label=label, unit=escape_invisible(hint.unit) or view.unit)


def later_view(name: str, value: Any, hint: ValueHint | None, *, at: str) -> ValueView:
    """Return a view of a value that the page loads on demand from the address `at`."""
    label = escape_invisible(hint.label if hint else "") or label_of(name)
    count = sum(not isinstance(node, Mapping | list) for _, node in json_nodes(value))
    beginning = escape_invisible(value[:PREVIEW_CHARACTERS]) if isinstance(value, str) else ""
    return ValueView(name, label, Look.LATER, beginning, rest_at=at, rest_count=count)


def rows_from(value: Any, start: int) -> ValueView:
    """Return a table with some rows of a list of like objects, and the number of those below."""
    columns = _columns(value) if isinstance(value, list) else []
    remaining_rows = max(0, len(value) - start - MORE_ROWS) if columns else 0
    rows = _rows(value[start : start + MORE_ROWS], columns) if columns else []
    labels = [label_of(column) for column in columns]
    return ValueView("", "", Look.TABLE, columns=labels, rows=rows, rest_count=remaining_rows)


def shown_parts(view: ValueView) -> int:
    """Return the number of values that a page shows for a view; a long text counts as several."""
    if view.look is Look.TABLE:
        return sum(map(len, view.rows))
    if view.look in (Look.LIST, Look.FACTS):
        return sum(map(shown_parts, view.items))
    is_json = view.language == "json" and is_long(view.text)
    return MAX_PARTS if is_json else 1 + len(view.text) // _CHARACTERS_OF_PART


def with_unit(view: ValueView, unit: str) -> ValueView:
    """Return money in this currency; other values unchanged."""
    if view.look is not Look.MONEY or not unit:
        return view
    text = _with_decimals(view.text, currency_decimals(unit))
    return replace(view, text=text, unit=escape_invisible(unit))


def currency_decimals(unit: str) -> int:
    """Return the usual decimals of a currency (ISO 4217), 0 for other units."""
    code = unit.upper()
    return _DECIMALS.get(code, 2) if is_currency(unit) else 0


def money_text(text: str, minor_unit: int | None = None) -> str:
    """
    Return a declared amount of money as a plain decimal number, "" for other texts.

    No digit is dropped or added. A whole number of the smallest unit (`minor_unit` 2: cents) is
    divided: 4750 is 47.50.
    """
    if not re.fullmatch(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?", text):
        return ""
    amount = Decimal(text)
    if minor_unit is not None:
        if not re.fullmatch(r"-?[0-9]+", text):
            return ""  # no whole number: it is displayed as it is
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        digits = digits.rjust(minor_unit + 1, "0")
        integral = digits[: len(digits) - minor_unit]
        return f"{sign}{integral}.{digits[len(integral) :]}" if minor_unit else f"{sign}{integral}"
    plain = f"{amount:f}"
    return plain if len(plain.partition(".")[0]) <= MAX_MONEY_DIGITS else ""


def _with_decimals(text: str, decimals: int) -> str:
    integral, _, fraction = text.partition(".")
    fraction = fraction.ljust(decimals, "0")
    return f"{integral}.{fraction}" if fraction else integral


def _view(
    name: str, value: Any, hint: ValueHint, schema: Mapping[str, Any], depth: int, at: str
) -> ValueView:
    label = label_of(name)
    if value is None or value in ("", [], {}):
        return ValueView(name, label, Look.EMPTY, json.dumps(value))
    if isinstance(value, str):
        return _text(name, label, value, hint, schema)
    if isinstance(value, int | float):
        return _scalar(name, label, value, hint)
    return _compound(name, label, value, hint, depth, at)


def _compound(name: str, label: str, value: Any, hint: ValueHint, depth: int, at: str) -> ValueView:
    is_json = hint.type is ValueType.JSON or depth >= MAX_DEPTH
    if is_json or _parts(value, has_long_tables=bool(at)) > MAX_PARTS:
        return _json(name, label, value)
    if isinstance(value, Mapping):
        items = [
            _view(key, item, _NO_HINT, {}, depth + 1, at and at + quote(pointer((key,)), safe=""))
            for key, item in value.items()
        ]
        return ValueView(name, label, Look.FACTS, items=items)
    return _list(name, label, value, depth, at)


_NO_HINT = ValueHint()


def _scalar(name: str, label: str, value: float, hint: ValueHint) -> ValueView:
    text = json.dumps(value)
    if isinstance(value, bool):
        return ValueView(name, label, Look.BOOLEAN, text, is_true=value)
    if hint.type is ValueType.MONEY and (money := money_text(text, hint.minor_unit)):
        return ValueView(name, label, Look.MONEY, money)
    if isinstance(value, float) and not isfinite(value):
        return ValueView(name, label, Look.TEXT, text)
    return ValueView(name, label, Look.NUMBER, text)


def _text(
    name: str, label: str, value: str, hint: ValueHint, schema: Mapping[str, Any]
) -> ValueView:
    text = escape_invisible(value)
    kind, language = _text_type(name, value, hint, schema)
    if kind is ValueType.MONEY and (money := money_text(value, hint.minor_unit)):
        return ValueView(name, label, Look.MONEY, money)
    look = {
        ValueType.CODE: Look.CODE,
        ValueType.DIFF: Look.DIFF,
        ValueType.MARKDOWN: Look.MARKDOWN,
    }.get(kind, Look.BLOCK if "\n" in text or is_long(text) else Look.TEXT)
    return ValueView(name, label, look, text, language=language)


def _text_type(
    name: str, value: str, hint: ValueHint, schema: Mapping[str, Any]
) -> tuple[ValueType, str]:
    """Return the type of a text, and the language of code."""
    if hint.type is not None:
        return hint.type, hint.language
    media_type = schema.get("contentMediaType")
    if isinstance(media_type, str) and (text_type := _MEDIA_TYPES.get(media_type.split(";")[0])):
        return text_type
    key = separate_words(name, "_").lower()
    is_diff = (key in _DIFF_NAMES or "\n+++ " in value) and _DIFF_HUNK.search(value) is not None
    if is_diff or key in _DIFF_NAMES:
        return ValueType.DIFF, ""
    if key in _CODE_NAMES:
        return ValueType.CODE, _CODE_NAMES[key]
    if key in _MARKDOWN_NAMES:
        return ValueType.MARKDOWN, ""
    return ValueType.TEXT, ""


def _list(name: str, label: str, value: Sequence[Any], depth: int, at: str) -> ValueView:
    columns = _columns(value)
    if columns:
        is_long_table = bool(at) and len(value) * len(columns) > MAX_PARTS
        rows = _rows(value[:FIRST_ROWS] if is_long_table else value, columns)
        labels = [label_of(column) for column in columns]
        remaining_rows = len(value) - len(rows)
        return ValueView(
            name,
            label,
            Look.TABLE,
            columns=labels,
            rows=rows,
            rest_at=at,
            rest_count=remaining_rows,
        )
    if any(isinstance(item, list) for item in value):
        return _json(name, label, value)
    items = [
        _view("", item, _NO_HINT, {}, depth + 1, at and f"{at}{quote(f'/{number}', safe='')}")
        for number, item in enumerate(value)
    ]
    return ValueView(name, label, Look.LIST, items=items)


def _rows(
    value: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> list[list["ValueView | None"]]:
    return [
        [
            _view(column, item[column], _NO_HINT, {}, MAX_DEPTH, "") if column in item else None
            for column in columns
        ]
        for item in value
    ]


def _columns(value: Sequence[Any]) -> list[str]:
    """Return the members of a list of objects with short values, none for another list."""
    if not all(isinstance(item, Mapping) and item for item in value):
        return []
    names = list(dict.fromkeys(name for item in value for name in item))
    is_flat = all(
        not isinstance(member, Mapping | list) and "\n" not in str(member)
        for item in value
        for member in item.values()
    )
    return names if is_flat and len(names) <= MAX_COLUMNS else []


def _json(name: str, label: str, value: Any) -> ValueView:
    text = json_text(value)
    return ValueView(name, label, Look.CODE, text, language="json")


def _parts(value: Any, *, has_long_tables: bool) -> int:
    """
    Return the number of scalars in a value, at most a little more than `MAX_PARTS`.

    With `has_long_tables` only the first rows of a table count: the others are loaded on demand.
    """
    count, queue = 0, [value]
    while queue and count <= MAX_PARTS:
        item = queue.pop()
        if isinstance(item, Mapping):
            queue.extend(item.values())
        elif isinstance(item, list):
            is_table = has_long_tables and len(item) > FIRST_ROWS and _columns(item)
            queue.extend(item[:FIRST_ROWS] if is_table else item)
        else:
            count += 1
        # An object of empty objects has parts, too.
        count += isinstance(item, Mapping | list) and not item
    return count
