"""The fields that hold one value each: texts, numbers, moments and choices."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from inbox.forms import wording
from inbox.forms.nodes import Node, Option
from inbox.forms.shapes import NotPlain
from inbox.forms.values import ABSENT, field_id, fits_a_control, number_text
from inbox.rules.text.safe_text import json_text

if TYPE_CHECKING:
    from inbox.forms.planner import Planner

MOST_RADIOS = 6
MOST_BOXES = 50
LONGEST_OPTION = 200
#: Texts that are longer, or may become longer, get a text area.
LONG_LINE = 90
LONG_LIMIT = 160

UNSET = ""
NULL = "null"
#: An answer that the agent wrote although the schema does not offer it.
AS_WRITTEN = "is"


def plan_text(planner: "Planner", node: Node) -> None:
    value = node.original if isinstance(node.original, str) else ABSENT
    if value is not ABSENT and not fits_a_control(value):
        raise NotPlain
    node.kind = "text"
    node.shown = "" if value is ABSENT else value
    form = node.schema.get("format")
    if form == "date" and (value is ABSENT or _is_day(value)):
        node.kind = "day"
    elif form == "date-time" and (value is ABSENT or _is_minute_in_utc(value)):
        node.kind = "moment"
        node.shown = node.shown.removesuffix(":00Z")
    elif _is_long(node.shown, node.schema):
        node.kind = "area"
    node.text = planner.typed(node)


def plan_number(planner: "Planner", node: Node) -> None:
    node.kind = "number"
    value = node.original
    node.shown = "" if value is ABSENT or value is None else number_text(value)
    node.text = planner.typed(node)


def plan_choice(planner: "Planner", node: Node, flat: Mapping[str, Any], value: Any) -> None:
    """One of the values of an enum; they are posted by their place, so their types are kept."""
    values = flat["enum"]
    if len(values) > planner.options_left or node.hides:  # an option would be written out
        raise NotPlain
    planner.options_left -= len(values)
    # An option of which one sees only the beginning could not be told from its like.
    if any(_is_too_long(planner, item) for item in [*values, value]):
        raise NotPlain
    if node.nullable and node.original is None:
        value = None
    found = _place(planner, values, value)
    options = _offered(planner, flat, found, value)
    if found is None and value is not ABSENT and not (node.nullable and value is None):
        options.append(Option(AS_WRITTEN, wording.as_written(json_text(value)), value))
    if node.nullable and not any(option.data is None for option in options):
        options.append(Option(NULL, gettext(wording.NO_VALUE), None))
    node.kind = "choice" if len(options) <= MOST_RADIOS else "select"
    if node.optional:
        options.append(Option(UNSET, gettext(wording.NOT_SET), ABSENT))
    elif node.kind == "select":
        options.insert(0, Option(UNSET, gettext(wording.CHOOSE), ABSENT))
    # One that is not there has no option in a required choice of radios: none of them is set.
    held = (option.value for option in options if option.data is value)
    chosen = str(found) if found is not None else next(held, None)
    node.shown = UNSET if chosen is None else chosen
    if planner.posted and planner.posted.has(node.name):
        chosen = planner.posted.text(node.name)
    node.options = _marked(node.name, options, {chosen})


def _offered(
    planner: "Planner", flat: Mapping[str, Any], found: int | None, value: Any
) -> list[Option]:
    values = flat["enum"]
    titles = flat.get("enumTitles") or [""] * len(values)
    mixed = not all(isinstance(item, str) for item in values)
    is_boolean = values == [True, False] and isinstance(values[0], bool)
    options = []
    for number, item in enumerate(values):
        label = wording.value_text(item, mixed=mixed, is_boolean=is_boolean)
        title = titles[number]
        if title and title != label:
            label = wording.titled(title, label) if planner.names_facts else title
        # What the agent wrote stays as it was written: `1.0` is not turned into the enum's `1`.
        options.append(Option(str(number), label, value if number == found else item))
    return options


def _is_too_long(planner: "Planner", value: Any) -> bool:
    if value is ABSENT:
        return False
    text = value if isinstance(value, str) else planner.schemas.values.text(value)
    return len(text) > LONGEST_OPTION


def plan_many(planner: "Planner", node: Node, flat: Mapping[str, Any], value: Any) -> bool:
    """Boxes for a list of different values of an enum; False if the list is another one."""
    items = flat.get("items")
    if flat.get("uniqueItems") is not True or not isinstance(items, Mapping) or node.nullable:
        return False
    try:
        values = planner.schemas.flat(items).get("enum", ())
    except NotPlain:
        return False
    if any(_is_too_long(planner, item) for item in values):
        return False
    if not 0 < len(values) <= min(MOST_BOXES, planner.options_left, planner.fields_left):
        return False
    originals = [] if value is ABSENT else value
    places = [_place(planner, values, item) for item in originals]
    if None in places or len(set(places)) < len(places):
        return False
    planner.options_left -= len(values)
    planner.fields_left -= len(values)
    node.kind = "many"
    mixed = not all(isinstance(item, str) for item in values)
    options = [
        Option(str(number), wording.value_text(item, mixed=mixed), item)
        for number, item in enumerate(values)
    ]
    chosen = {str(place) for place in places}
    node.shown = ",".join(str(place) for place in places)
    node.state = "on" if value is not ABSENT else "auto"
    if planner.posted and planner.posted.has(f"{node.name}@here"):
        chosen = set(planner.posted.texts(node.name))
        node.state = planner.posted.state(node.name) or node.state
    node.options = _marked(node.name, options, chosen)
    return True


def _marked(name: str, options: list[Option], chosen: set[Any]) -> list[Option]:
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


def _place(planner: "Planner", values: list[Any], value: Any) -> int | None:
    known = planner.schemas.values
    return next((n for n, item in enumerate(values) if known.same(item, value)), None)


def _is_long(text: str, schema: Mapping[str, Any]) -> bool:
    limit = schema.get("maxLength", 0)
    return "\n" in text or len(text) > LONG_LINE or limit > LONG_LIMIT


def _is_day(text: str) -> bool:
    """Whether a date control holds exactly this."""
    try:
        return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None and bool(
            date.fromisoformat(text)
        )
    except ValueError:
        return False


def _is_minute_in_utc(text: str) -> bool:
    """Whether a control for local times holds this, when `:00Z` is added to what it holds."""
    try:
        return re.fullmatch(r"[0-9-]{10}T[0-9]{2}:[0-9]{2}:00Z", text) is not None and bool(
            datetime.fromisoformat(text)
        )
    except ValueError:
        return False
