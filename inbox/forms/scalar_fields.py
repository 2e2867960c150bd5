"""Planning of fields for single values: texts, numbers, dates and choices."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from inbox.forms import labels
from inbox.forms.form_nodes import Node, Option
from inbox.forms.schema_resolver import UnsupportedSchema
from inbox.forms.values import ABSENT, field_id, is_preserved_by_controls
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.text.safe_text import escape_invisible, json_text

if TYPE_CHECKING:
    from inbox.forms.planner import Planner

MAX_RADIO_BUTTONS = 6
MAX_CHECKBOXES = 50
MAX_OPTION_CHARACTERS = 200
#: Texts that are longer, or may become longer, get a text area.
LONG_TEXT = 90
LONG_TEXT_LIMIT = 160
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MINUTE = r"[0-9-]{10}T[0-9]{2}:[0-9]{2}:00Z"

UNSET = ""
NULL = "null"
#: The agent's value if the schema does not offer it.
ORIGINAL = "is"


def plan_text(planner: "Planner", node: Node) -> None:
    value = node.original if isinstance(node.original, str) else ABSENT
    if value is not ABSENT and not is_preserved_by_controls(value):
        raise UnsupportedSchema
    node.kind = "text"
    node.initial_text = "" if value is ABSENT else value
    format_name = node.schema.get("format")
    if format_name == "date" and (value is ABSENT or _is_held(value, _DAY, date)):
        node.kind = "day"
    elif format_name == "date-time" and (value is ABSENT or _is_held(value, _MINUTE, datetime)):
        node.kind = "moment"
        node.initial_text = node.initial_text.removesuffix(":00Z")
    elif _is_long(node.initial_text, node.schema):
        node.kind = "area"
    node.text = planner.current_text_of(node)


def plan_number(planner: "Planner", node: Node) -> None:
    node.kind = "number"
    value = node.original
    node.initial_text = ""
    if value is not ABSENT and value is not None:
        node.initial_text = planner.numbers.write(canonical_json(value))
    node.text = planner.current_text_of(node)


def plan_choice(planner: "Planner", node: Node, flat_schema: Mapping[str, Any], value: Any) -> None:
    """Plan an enum. Options are submitted by number, which preserves the types of values."""
    values = flat_schema["enum"]
    if len(values) > planner.options_left or node.contains_mask:  # options would reveal the secret
        raise UnsupportedSchema
    planner.options_left -= len(values)
    # Truncated options could not be told apart.
    if any(_is_too_long(planner, item) for item in [*values, value]):
        raise UnsupportedSchema
    if node.nullable and node.original is None:
        value = None
    index = _index_of(planner, values, value)
    options = _enum_options(planner, flat_schema, index, value)
    if index is None and value is not ABSENT and not (node.nullable and value is None):
        label = gettext("{value} (original value)").format(value=json_text(value))
        options.append(Option(ORIGINAL, label, value))
    if node.nullable and not any(option.data is None for option in options):
        options.append(Option(NULL, gettext(labels.NO_VALUE), None))
    node.kind = "choice" if len(options) <= MAX_RADIO_BUTTONS else "select"
    if node.optional:
        options.append(Option(UNSET, gettext(labels.NOT_SET), ABSENT))
    elif node.kind == "select":
        options.insert(0, Option(UNSET, gettext(labels.CHOOSE), ABSENT))
    # An absent value has no option among required radio buttons: none is selected.
    selected = (option.value for option in options if option.data is value)
    chosen = str(index) if index is not None else next(selected, None)
    node.initial_text = UNSET if chosen is None else chosen
    if planner.submission and planner.submission.has(node.name):
        chosen = planner.submission.text(node.name)
    node.options = _mark_chosen(node.name, options, {chosen})


def _enum_options(
    planner: "Planner", flat_schema: Mapping[str, Any], index: int | None, value: Any
) -> list[Option]:
    values = flat_schema["enum"]
    titles = flat_schema.get("enumTitles") or _enum_names(flat_schema)
    mixed = not all(isinstance(item, str) for item in values)
    is_boolean = values == [True, False] and isinstance(values[0], bool)
    options = []
    for number, item in enumerate(values):
        label = labels.value_text(item, mixed=mixed, is_boolean=is_boolean)
        label = _titled(planner, titles[number], label)
        # Keep the agent's spelling: `1.0` does not become the enum's `1`.
        options.append(Option(str(number), label, value if number == index else item))
    return options


def _titled(planner: "Planner", title: str, label: str) -> str:
    if not title or title == label:
        return label
    return f"{title} ({label})" if planner.shows_real_names else title


def _enum_names(flat_schema: Mapping[str, Any]) -> list[str]:
    """Return the labels of an enum in `enumNames`, which no draft has but many clients send."""
    values, names = flat_schema["enum"], flat_schema.get("enumNames")
    if not isinstance(names, list) or len(names) != len(values):
        return [""] * len(values)
    return [escape_invisible(str(name)[:MAX_OPTION_CHARACTERS]).strip() for name in names]


def _is_too_long(planner: "Planner", value: Any) -> bool:
    if value is ABSENT:
        return False
    text = value if isinstance(value, str) else planner.schemas.values.text(value)
    return len(text) > MAX_OPTION_CHARACTERS


def plan_checkboxes(
    planner: "Planner", node: Node, flat_schema: Mapping[str, Any], value: Any
) -> bool:
    """Plan checkboxes for a list of unique enum values; return False for other lists."""
    items = flat_schema.get("items")
    if (
        flat_schema.get("uniqueItems") is not True
        or not isinstance(items, Mapping)
        or node.nullable
    ):
        return False
    try:
        flat_items = planner.schemas.flatten(items)
    except UnsupportedSchema:
        return False
    values = flat_items.get("enum", ())
    if any(_is_too_long(planner, item) for item in values):
        return False
    if not 0 < len(values) <= min(MAX_CHECKBOXES, planner.options_left, planner.fields_left):
        return False
    originals = [] if value is ABSENT else value
    indexes = [_index_of(planner, values, item) for item in originals]
    if None in indexes or len(set(indexes)) < len(indexes):
        return False
    planner.options_left -= len(values)
    planner.fields_left -= len(values)
    node.kind = "many"
    mixed = not all(isinstance(item, str) for item in values)
    options = [
        Option(str(number), _titled(planner, title, labels.value_text(item, mixed=mixed)), item)
        for number, (item, title) in enumerate(zip(values, _enum_names(flat_items), strict=True))
    ]
    chosen = {str(index) for index in indexes}
    node.initial_text = ",".join(str(index) for index in indexes)
    node.state = "on" if value is not ABSENT else "auto"
    if planner.submission and planner.submission.has(f"{node.name}@here"):
        chosen = set(planner.submission.texts(node.name))
        node.state = planner.submission.state(node.name) or node.state
    node.options = _mark_chosen(node.name, options, chosen)
    return True


def _mark_chosen(name: str, options: list[Option], chosen: set[Any]) -> list[Option]:
    first = field_id(name)
    return [
        Option(
            option.value,
            option.label,
            option.data,
            is_chosen=option.value in chosen,
            id=first if number == 0 else f"{first}_{number}",
        )
        for number, option in enumerate(options)
    ]


def _index_of(planner: "Planner", values: list[Any], value: Any) -> int | None:
    comparer = planner.schemas.values
    return next((n for n, item in enumerate(values) if comparer.is_same_json(item, value)), None)


def _is_long(text: str, schema: Mapping[str, Any]) -> bool:
    limit = schema.get("maxLength", 0)
    return "\n" in text or len(text) > LONG_TEXT or limit > LONG_TEXT_LIMIT


def _is_held(text: str, pattern: str, kind: type[date]) -> bool:
    """Return whether a control for dates, or for UTC times to the minute, holds this text."""
    try:
        return re.fullmatch(pattern, text) is not None and bool(kind.fromisoformat(text))
    except ValueError:
        return False
