"""Every sentence of a form that is not in a template."""

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, gettext_noop

from inbox.forms.values import ABSENT
from inbox.rules.schema.schemas import TOO_LARGE_TO_SAY, is_pattern_checked
from inbox.rules.text.safe_text import escape_invisible, json_text

if TYPE_CHECKING:
    from inbox.forms.nodes import Node, Option

MOST_OF_A_DEFAULT = 200

YES = gettext_noop("Yes")
NO = gettext_noop("No")
ROOT = gettext_noop("Answer")
AS_JSON = gettext_noop("As JSON")
NOT_SET = gettext_noop("Not set")
NO_VALUE = gettext_noop("No value")
CHOOSE = gettext_noop("Choose …")
KEY = gettext_noop("Name")
PAIR = gettext_noop("pair")
ITEM = gettext_noop("Item")

NOT_ARRIVED = gettext_noop("This field did not arrive. Reload the page and try again.")
FORM_NOT_ARRIVED = gettext_noop("The form did not arrive whole. Reload the page and try again.")
NO_NUMBER = gettext_noop("Enter a number such as 1250.5.")
UNTICK = gettext_noop("Clear the field, or untick “No value” to send what you typed.")
LEFT_OUT = gettext_noop(
    "The agent left this read-only value out, so this form cannot be completed. "
    "Reject it or ask the agent to send it again."
)
NO_KEY = gettext_noop("Enter a name, or remove this pair.")
SAME_KEY = gettext_noop("There is another field of this name already.")
MASKED = gettext_noop("Masked: what the agent wrote is sent unless you write something else.")
PART_OF_MASK = gettext_noop("Write the whole value: a part of the mask is still there.")
MASK_MOVED = gettext_noop(
    "A mask stands where a value should. Write the value, or leave it as it was."
)
_DOES_NOT_FIT = gettext_noop("This does not fit what is asked for.")
NOT_OFFERED = gettext_noop("Choose one of the values that are offered.")
FULL = gettext_noop("No more fields fit into this form. Add the rest as JSON.")


def help_for(node: "Node") -> list[str]:
    """What to know before one fills in the field: each a sentence of its own."""
    schema = node.schema
    description = schema.get("description")
    sentences = [escape_invisible(description[:2_000])] if isinstance(description, str) else []
    sentences = [sentence for sentence in sentences if sentence.strip()]
    if node.kind == "fixed":
        return sentences
    sentences += _about_kind(node)
    for keyword, text in _LIMITS.items():
        limit = schema.get(keyword)
        if isinstance(limit, int | float) and not _says_nothing(keyword, limit):
            sentences.append(gettext(text).format(limit=json_text(limit)))
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and node.kind in ("text", "area", "json"):
        text = _PATTERN if is_pattern_checked(pattern) else _UNCHECKED_PATTERN
        sentences.append(gettext(text).format(pattern=escape_invisible(pattern[:300])))
    if node.is_masked:
        sentences.append(gettext(MASKED))
    if "default" in schema and node.original is ABSENT and not node.is_secret:
        default = schema["default"]
        if isinstance(default, str | int | float) and default != "":
            text = value_text(default, mixed=False, is_boolean=isinstance(default, bool))
            if len(text) <= MOST_OF_A_DEFAULT:
                sentences.append(gettext(_DEFAULT).format(default=text))
    return sentences


def value_text(value: Any, *, mixed: bool, is_boolean: bool = False) -> str:
    """An option as one reads it; where types are mixed, a text is told by its quotes."""
    if is_boolean:
        return gettext(YES if value else NO)
    if isinstance(value, str) and value and not mixed:
        return escape_invisible(value)
    return json_text(value)


def titled(title: str, value: str) -> str:
    return f"{title} ({value})"


def as_written(text: str) -> str:
    return gettext("{value} (as the agent wrote it)").format(value=text)


def branch_option(number: int, flat: Mapping[str, Any]) -> "Option":
    from inbox.forms.nodes import Option  # noqa: PLC0415

    return Option(str(number), _branch_label(number, flat), None)


def too_many_digits(kept: str) -> str:
    text = gettext("This number has more digits than can be kept: it would become {kept}.")
    return text.format(kept=kept)


def inside(pointer: str, text: str) -> str:
    return gettext("At {pointer}: {problem}").format(pointer=pointer, problem=text)


def asked_elsewhere(name: str) -> str:
    text = gettext("Leave “{name}” out: the page asks for it elsewhere.")
    return text.format(name=name)


def value_label(key: str) -> str:
    return gettext("Value of {key}").format(key=key[:80]) if key else gettext("Value")


def item_label(label: str, place: int) -> str:
    return f"{label} {place}"


def _branch_label(number: int, flat: Mapping[str, Any]) -> str:
    title = flat.get("title")
    if isinstance(title, str) and title.strip():
        return escape_invisible(title[:80])
    properties = flat.get("properties")
    for part in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping) and isinstance(part.get("const"), str) and part["const"]:
            return escape_invisible(part["const"][:80])
    if "const" in flat:
        return json_text(flat["const"])[:80]
    named = flat.get("type")
    if isinstance(named, str) and named in _TYPES:
        return gettext(_TYPES[named])
    return gettext("Choice {number}").format(number=number + 1)


_TYPES = {
    "string": gettext_noop("Text"),
    "integer": gettext_noop("Whole number"),
    "number": gettext_noop("Number"),
    "boolean": gettext_noop("Yes or no"),
    "array": gettext_noop("List"),
    "object": gettext_noop("Fields"),
    "null": gettext_noop("No value"),
}


def _about_kind(node: "Node") -> list[str]:
    schema = node.schema
    if node.kind == "json":
        return ["JSON."]
    if node.kind == "number" and schema.get("type") in ("integer", ["integer", "null"]):
        return [gettext("Whole number.")]
    if node.kind == "moment":
        return [gettext("Date and time in UTC.")]
    text = _FORMATS.get(str(schema.get("format")))
    return [gettext(text)] if text else []


_FORMATS = {
    "time": gettext_noop("A time such as 10:00:00Z."),
    "date": gettext_noop("A date such as 2025-12-31."),
    "date-time": gettext_noop("A date and time such as 2025-12-31T09:30:00Z."),
    "duration": gettext_noop("A duration such as PT30M."),
    "email": gettext_noop("An e-mail address."),
    "uri": gettext_noop("An address such as https://example.com/."),
    "uuid": gettext_noop("A UUID."),
}
_LIMITS = {
    "minimum": gettext_noop("At least {limit}."),
    "exclusiveMinimum": gettext_noop("More than {limit}."),
    "maximum": gettext_noop("At most {limit}."),
    "exclusiveMaximum": gettext_noop("Less than {limit}."),
    "multipleOf": gettext_noop("A multiple of {limit}."),
    "minLength": gettext_noop("At least {limit} characters."),
    "maxLength": gettext_noop("At most {limit} characters."),
    "minItems": gettext_noop("At least {limit} items."),
    "maxItems": gettext_noop("At most {limit} items."),
    "minProperties": gettext_noop("At least {limit} fields."),
    "maxProperties": gettext_noop("At most {limit} fields."),
}
_PATTERN = gettext_noop("Must match the pattern {pattern}")
_FAULTS = {
    "pattern": _PATTERN,
    "size": TOO_LARGE_TO_SAY.pattern,
    "falseSchema": gettext_noop("Nothing is expected here."),
    "enum": NOT_OFFERED,
    "const": NOT_OFFERED,
    "required": gettext_noop("“{property}” is missing."),
    "uniqueItems": gettext_noop("Each item may appear only once."),
    "additionalProperties": gettext_noop("Not expected here: {names}."),
    "unevaluatedProperties": gettext_noop("Not expected here: {names}."),
    "oneOf": gettext_noop("This fits none of the choices, or more than one."),
    "anyOf": gettext_noop("This fits none of the choices."),
}
_UNCHECKED_PATTERN = gettext_noop("This pattern is not checked by the server: {pattern}")
_DEFAULT = gettext_noop("Default: {default}")


def _says_nothing(keyword: str, limit: float) -> bool:
    """Limits that every field keeps anyway, or that tools write for "an integer"."""
    return (keyword.startswith("min") and keyword != "minimum" and limit <= 1) or (
        abs(limit) >= 2**53 - 1
    )


def enter(node: "Node") -> str:
    """What to do about a field that has to be filled in and is not."""
    known = _ENTER.get(node.kind)
    if known is None:
        known = _ENTER_OR_NULL if node.nullable else _ENTER_ONE
    return gettext(known).format(label=node.label)


_CHOOSE_FOR = gettext_noop("Choose a value for “{label}”.")
_FILL_LIST = gettext_noop("“{label}” has nothing in it yet. Say so, or add something.")
_ENTER_OR_NULL = gettext_noop("Enter {label}, or tick “No value”.")
_ENTER_ONE = gettext_noop("Enter {label}.")
_ENTER = {
    "choice": _CHOOSE_FOR,
    "select": _CHOOSE_FOR,
    "branch": _CHOOSE_FOR,
    "day": gettext_noop("Enter a date."),
    "moment": gettext_noop("Enter a date and time."),
    "list": _FILL_LIST,
    "many": _FILL_LIST,
    "group": gettext_noop("Fill in at least one field of “{label}”."),
    "fixed": LEFT_OUT,
}


def fault_text(keyword: str, detail: Mapping[str, Any], message: str) -> str:
    """What a validator found, as one says it to the person who can change it."""
    limit = detail.get("limit", detail.get("multiple_of"))
    if keyword in ("minLength", "minItems") and limit == 1:
        return gettext("This cannot be empty.")
    if keyword in _LIMITS and isinstance(limit, int | float):
        return gettext(_LIMITS[keyword]).format(limit=json_text(limit))
    if keyword == "type":
        return _kind_sentence(detail)
    if keyword == "format":
        name = str(detail.get("format", ""))
        example = gettext(_FORMATS[name]) if name in _FORMATS else ""
        return example or gettext("Must be of the format {format}.").format(
            format=escape_invisible(name)
        )
    names = ", ".join(escape_invisible(str(name)) for name in detail.get("unexpected", ()))
    if keyword not in _FAULTS:
        return escape_invisible(message) or gettext(_DOES_NOT_FIT)
    return gettext(_FAULTS[keyword]).format(
        pattern=escape_invisible(str(detail.get("pattern", ""))[:300]),
        property=escape_invisible(str(detail.get("property", ""))[:300]),
        names=names[:300],
    )


def _kind_sentence(detail: Mapping[str, Any]) -> str:
    types = detail.get("types", ())
    names = [gettext(_EXPECTED[name]) for name in types if name in _EXPECTED]
    if not names:
        return gettext("This is of the wrong type.")
    return gettext("Must be {kind}.").format(kind=reduce(_either, names))


def _either(this: str, that: str) -> str:
    return gettext("{this} or {that}").format(this=this, that=that)


_EXPECTED = {
    "string": gettext_noop("text"),
    "integer": gettext_noop("a whole number"),
    "number": gettext_noop("a number"),
    "boolean": gettext_noop("true or false"),
    "array": gettext_noop("a list"),
    "object": gettext_noop("an object with fields"),
    "null": gettext_noop("null"),
}
