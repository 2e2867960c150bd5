"""Every sentence of a form that is not in a template."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inbox.domain.schemas import is_pattern_checked
from inbox.domain.shown import json_text, visible
from inbox.forms.values import ABSENT

if TYPE_CHECKING:
    from inbox.forms.nodes import Node, Option

MOST_OF_A_DEFAULT = 200

YES = "Yes"
NO = "No"
ROOT = "Answer"
AS_JSON = "As JSON"
NOT_SET = "Not set"
NO_VALUE = "No value"
CHOOSE = "Choose …"
KEY = "Name"
PAIR = "pair"
ITEM = "Item"

NOT_ARRIVED = "This field did not arrive. Reload the page and try again."
FORM_NOT_ARRIVED = "The form did not arrive whole. Reload the page and try again."
NO_NUMBER = "Enter a number such as 1250.5."
UNTICK = "Clear the field, or untick “No value” to send what you typed."
LEFT_OUT = (
    "The agent left this read-only value out, so this form cannot be completed. "
    "Reject it or ask the agent to send it again."
)
NO_KEY = "Enter a name, or remove this pair."
SAME_KEY = "There is another field of this name already."
NOT_OFFERED = "Choose one of the values that are offered."
FULL = "No more fields fit into this form. Add the rest as JSON."


def help_for(node: "Node") -> list[str]:
    """What to know before one fills in the field: each a sentence of its own."""
    schema = node.schema
    description = schema.get("description")
    sentences = [visible(description[:2_000])] if isinstance(description, str) else []
    sentences = [sentence for sentence in sentences if sentence.strip()]
    if node.kind == "fixed":
        return sentences
    sentences += _about_kind(node)
    for keyword, text in _LIMITS.items():
        limit = schema.get(keyword)
        if isinstance(limit, int | float) and not _says_nothing(keyword, limit):
            sentences.append(text.format(limit=json_text(limit)))
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and node.kind in ("text", "area", "json"):
        text = _PATTERN if is_pattern_checked(pattern) else _UNCHECKED_PATTERN
        sentences.append(text.format(pattern=visible(pattern[:300])))
    if "default" in schema and node.original is ABSENT:
        default = schema["default"]
        if isinstance(default, str | int | float) and default != "":
            text = value_text(default, mixed=False, is_boolean=isinstance(default, bool))
            if len(text) <= MOST_OF_A_DEFAULT:
                sentences.append(_DEFAULT.format(default=text))
    return sentences


def value_text(value: Any, *, mixed: bool, is_boolean: bool = False) -> str:
    """An option as one reads it; where types are mixed, a text is told by its quotes."""
    if is_boolean:
        return YES if value else NO
    if isinstance(value, str) and value and not mixed:
        return visible(value)
    return json_text(value)


def titled(title: str, value: str) -> str:
    return f"{title} ({value})"


def as_written(text: str) -> str:
    return f"{text} (as the agent wrote it)"


def branch_option(number: int, flat: Mapping[str, Any]) -> "Option":
    from inbox.forms.nodes import Option  # noqa: PLC0415

    return Option(str(number), _branch_label(number, flat), None)


def too_many_digits(kept: str) -> str:
    return f"This number has more digits than can be kept: it would become {kept}."


def inside(pointer: str, text: str) -> str:
    return f"At {pointer}: {text}"


def asked_elsewhere(name: str) -> str:
    return f"Leave “{name}” out: the page asks for it elsewhere."


def value_label(key: str) -> str:
    return f"Value of {key[:80]}" if key else "Value"


def item_label(label: str, place: int) -> str:
    return f"{label} {place}"


def _branch_label(number: int, flat: Mapping[str, Any]) -> str:
    title = flat.get("title")
    if isinstance(title, str) and title.strip():
        return visible(title[:80])
    properties = flat.get("properties")
    for part in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping) and isinstance(part.get("const"), str) and part["const"]:
            return visible(part["const"][:80])
    if "const" in flat:
        return json_text(flat["const"])[:80]
    named = flat.get("type")
    return (
        _TYPES.get(named, f"Choice {number + 1}")
        if isinstance(named, str)
        else (f"Choice {number + 1}")
    )


_TYPES = {
    "string": "Text",
    "integer": "Whole number",
    "number": "Number",
    "boolean": "Yes or no",
    "array": "List",
    "object": "Fields",
    "null": "No value",
}


def _about_kind(node: "Node") -> list[str]:
    schema = node.schema
    if node.kind == "json":
        return ["JSON."]
    if node.kind == "number" and schema.get("type") in ("integer", ["integer", "null"]):
        return ["Whole number."]
    if node.kind == "moment":
        return ["Date and time in UTC."]
    return [_FORMATS[schema["format"]]] if schema.get("format") in _FORMATS else []


_FORMATS = {
    "time": "A time such as 10:00:00Z.",
    "date": "A date such as 2025-12-31.",
    "date-time": "A date and time such as 2025-12-31T09:30:00Z.",
    "duration": "A duration such as PT30M.",
    "email": "An e-mail address.",
    "uri": "An address such as https://example.com/.",
    "uuid": "A UUID.",
}
_LIMITS = {
    "minimum": "At least {limit}.",
    "exclusiveMinimum": "More than {limit}.",
    "maximum": "At most {limit}.",
    "exclusiveMaximum": "Less than {limit}.",
    "multipleOf": "A multiple of {limit}.",
    "minLength": "At least {limit} characters.",
    "maxLength": "At most {limit} characters.",
    "minItems": "At least {limit} items.",
    "maxItems": "At most {limit} items.",
    "minProperties": "At least {limit} fields.",
    "maxProperties": "At most {limit} fields.",
}
_PATTERN = "Must match the pattern {pattern}"
_FAULTS = {
    "pattern": _PATTERN,
    "falseSchema": "Nothing is expected here.",
    "enum": NOT_OFFERED,
    "const": NOT_OFFERED,
    "required": "“{property}” is missing.",
    "uniqueItems": "Each item may appear only once.",
    "additionalProperties": "Not expected here: {names}.",
    "unevaluatedProperties": "Not expected here: {names}.",
    "oneOf": "This fits none of the choices, or more than one.",
    "anyOf": "This fits none of the choices.",
}
_UNCHECKED_PATTERN = "This pattern is not checked by the server: {pattern}"
_DEFAULT = "Default: {default}"


def _says_nothing(keyword: str, limit: float) -> bool:
    """Limits that every field keeps anyway, or that tools write for "an integer"."""
    return (keyword.startswith("min") and keyword != "minimum" and limit <= 1) or (
        abs(limit) >= 2**53 - 1
    )


def enter(node: "Node") -> str:
    """What to do about a field that has to be filled in and is not."""
    known = _ENTER.get(node.kind)
    if known is None:
        known = _ENTER_OR_NULL if node.nullable else "Enter {label}."
    return known.format(label=node.label)


_CHOOSE_FOR = "Choose a value for “{label}”."
_FILL_LIST = "“{label}” has nothing in it yet. Say so, or add something."
_ENTER_OR_NULL = "Enter {label}, or tick “No value”."
_ENTER = {
    "choice": _CHOOSE_FOR,
    "select": _CHOOSE_FOR,
    "branch": _CHOOSE_FOR,
    "day": "Enter a date.",
    "moment": "Enter a date and time.",
    "list": _FILL_LIST,
    "many": _FILL_LIST,
    "group": "Fill in at least one field of “{label}”.",
    "fixed": LEFT_OUT,
}


def fault_text(keyword: str, detail: Mapping[str, Any], message: str) -> str:
    """What a validator found, as one says it to the person who can change it."""
    limit = detail.get("limit", detail.get("multiple_of"))
    if keyword in ("minLength", "minItems") and limit == 1:
        return "This cannot be empty."
    if keyword in _LIMITS and isinstance(limit, int | float):
        return _LIMITS[keyword].format(limit=json_text(limit))
    if keyword == "type":
        return _kind_sentence(detail)
    names = ", ".join(visible(str(name)) for name in detail.get("unexpected", ()))
    return _FAULTS.get(keyword, "{message}").format(
        pattern=visible(str(detail.get("pattern", ""))[:300]),
        property=visible(str(detail.get("property", ""))[:300]),
        names=names[:300],
        message=visible(message),
    )


def _kind_sentence(detail: Mapping[str, Any]) -> str:
    types = detail.get("types", ())
    names = [_EXPECTED[name] for name in types if name in _EXPECTED]
    return f"Must be {' or '.join(names)}." if names else "This is of the wrong type."


_EXPECTED = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object with fields",
    "null": "null",
}
