"""Texts of forms that are not in templates: labels, hints and errors."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext, gettext_noop

from agents.agui import strict_json
from inbox.forms.number_format import number_format
from inbox.forms.values import ABSENT
from inbox.rules.schema.schema_regex import is_pattern_checked
from inbox.rules.schema.schemas import TOO_LARGE_TO_SAY
from inbox.rules.text.numbers import NumberFormat
from inbox.rules.text.safe_text import escape_invisible, json_text

if TYPE_CHECKING:
    from inbox.forms.form_nodes import FileField, Node

MAX_DEFAULT_CHARACTERS = 200

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

FIELD_MISSING = gettext_noop("This field was not submitted. Reload the page and try again.")
FORM_INCOMPLETE = gettext_noop(
    "The form was submitted incompletely. Reload the page and try again."
)
UNCHECKED = gettext_noop(
    "Not validated by the server: the agent's schema cannot be validated safely."
)
CLEAR_OR_UNTICK = gettext_noop("Clear the field, or untick “No value” to send your input.")
READ_ONLY_MISSING = gettext_noop(
    "The agent omitted this read-only value, so the form cannot be completed. Reject "
    "the request, or ask the agent to send it again."
)
KEY_MISSING = gettext_noop("Enter a name, or remove this pair.")
DUPLICATE_KEY = gettext_noop("A field with this name already exists.")
MASKED = gettext_noop("Hidden. Leave it unchanged to send the agent's original value.")
NOT_JSON = gettext_noop(
    "This value cannot be edited: JSON has no NaN, no infinity, no NUL and no half of a character. "
    "Leave it unchanged to send the agent's original value."
)
PART_OF_MASK = gettext_noop("Replace the whole value, not part of the mask.")
MASK_MOVED = gettext_noop("The value contains a mask. Enter the real value, or leave it unchanged.")
_INVALID = gettext_noop("This value does not match the schema.")
INVALID_CHOICE = gettext_noop("Choose one of the listed values.")
FILE_GONE = gettext_noop("This file no longer exists. Upload it again.")
FILE_TYPE = gettext_noop("This file is {media_type}, and the agent asks for {accepted}.")
FILE_TOO_LARGE = gettext_noop("This file is too large for the answer.")
TOO_MANY_FIELDS = gettext_noop("This form cannot hold more fields. Add the others as JSON.")


def help_for(node: "Node") -> list[str]:
    """Return the hints of a field, one sentence each."""
    schema = node.schema
    description = schema.get("description")
    sentences = [escape_invisible(description[:2_000])] if isinstance(description, str) else []
    sentences = [sentence for sentence in sentences if sentence.strip()]
    if node.kind == "fixed":
        return sentences
    sentences += _kind_hints(node)
    for keyword, text in _LIMITS.items():
        limit = schema.get(keyword)
        if isinstance(limit, int | float) and not _is_trivial_limit(keyword, limit):
            sentences.append(gettext(text).format(limit=_number(limit)))
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and node.kind in ("text", "area", "json"):
        sentences.append(_pattern_hint(pattern))
    examples = schema.get("examples")
    if isinstance(examples, list) and examples and isinstance(examples[0], str | int | float):
        first = examples[0] if isinstance(examples[0], str) else _number(examples[0])
        example = escape_invisible(first)[:MAX_DEFAULT_CHARACTERS]
        sentences.append(gettext("For example {example}").format(example=example))
    sentences += _original_hints(node)
    if "default" in schema and node.original is ABSENT and not node.is_secret:
        default = schema["default"]
        if isinstance(default, str | int | float) and default != "":
            text = value_text(default, mixed=False, is_boolean=isinstance(default, bool))
            if len(text) <= MAX_DEFAULT_CHARACTERS:
                sentences.append(gettext(_DEFAULT).format(default=text))
    return sentences


#: Each value that JSON lacks is written with one of these; a text may hold them, too.
_MAY_BE_NO_JSON = re.compile(r"NaN|Infinity|\\u0000|\\ud[89a-f]")
_ANY_SIZE = strict_json.Limits(max_bytes=2**31, max_depth=1_000, max_nodes=2**31)


def _original_hints(node: "Node") -> list[str]:
    if node.is_masked:
        return [gettext(MASKED)]
    is_written = node.kind in ("json", "number")
    return [gettext(NOT_JSON)] if is_written and _is_no_json(node.initial_text) else []


def _is_no_json(text: str) -> bool:
    """Return whether JSON text, as pages show it, is none that the form reads."""
    if _MAY_BE_NO_JSON.search(text) is None:
        return False
    try:
        strict_json.loads(text, limits=_ANY_SIZE)
    except strict_json.JsonRejected:
        return True
    return False


def _number(value: Any) -> str:
    return number_format().write(json_text(value))


def _pattern_hint(pattern: str) -> str:
    """Return words for a usual pattern, and the pattern itself for others."""
    if (match := _COUNTED.fullmatch(pattern)) and is_pattern_checked(pattern):
        characters, least, most = match.groups()
        count = least if most is None else f"{least}-{most}"
        return gettext(_COUNTED_WORDS[characters]).format(count=count)
    text = _PATTERN if is_pattern_checked(pattern) else _UNCHECKED_PATTERN
    return gettext(text).format(pattern=escape_invisible(pattern[:300]))


#: Patterns such as ^[0-9]{4}$.
_COUNTED = re.compile(r"\^(\[0-9\]|\\d|\[A-Z\]|\[a-z\])\{(\d{1,3})(?:,(\d{1,3}))?\}\$")
_DIGITS = gettext_noop("{count} digits.")
_COUNTED_WORDS = {
    "[0-9]": _DIGITS,
    "\\d": _DIGITS,
    "[A-Z]": gettext_noop("{count} capital letters."),
    "[a-z]": gettext_noop("{count} small letters."),
}


def value_text(value: Any, *, mixed: bool, is_boolean: bool = False) -> str:
    """Return the text of an option; with mixed types, texts have quotes."""
    if is_boolean:
        return gettext(YES if value else NO)
    if isinstance(value, str) and value and not mixed:
        return escape_invisible(value)
    return _number(value)


def invalid_number(numbers: NumberFormat) -> str:
    text = gettext("Enter a number such as {example}.")
    return text.format(example=numbers.write("1250.5"))


def ambiguous_number(typed: str, readings: Sequence[str]) -> str:
    text = gettext("“{typed}” can be read in two ways. Enter {first} or {second}.")
    first, second = readings
    return text.format(typed=escape_invisible(typed), first=first, second=second)


def must_leave_out(name: str) -> str:
    text = gettext("Remove “{name}”. The page has a separate field for it.")
    return text.format(name=name)


def value_label(key: str) -> str:
    return gettext("Value of {key}").format(key=key[:80]) if key else gettext("Value")


def item_label(label: str, number: int) -> str:
    return f"{label} {number}"


def branch_label(number: int, flat_schema: Mapping[str, Any]) -> str:
    title = flat_schema.get("title")
    if isinstance(title, str) and title.strip():
        return escape_invisible(title[:80])
    properties = flat_schema.get("properties")
    for part in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping) and isinstance(part.get("const"), str) and part["const"]:
            return escape_invisible(part["const"][:80])
    if "const" in flat_schema:
        return json_text(flat_schema["const"])[:80]
    named = flat_schema.get("type")
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


def _kind_hints(node: "Node") -> list[str]:
    schema = node.schema
    if node.kind == "json":
        return ["JSON."]
    if node.kind == "day":  # the browser's control shows the format
        return []
    if node.kind == "moment":
        return [gettext("Date and time in UTC.")]
    if node.file_field is not None:
        return [_file_hint(node.file_field)]
    text = _FORMATS.get(str(schema.get("format")))
    return [gettext(text)] if text else []


def _file_hint(field: "FileField") -> str:
    """Return the limits of an upload, before a file is chosen."""
    limit, accepts = filesizeformat(field.limit_bytes), field.accept_attribute
    if accepts == "image/*":
        return gettext("An image of up to {limit}.").format(limit=limit)
    if accepts:
        return gettext("{type}, up to {limit}.").format(type=accepts, limit=limit)
    return gettext("Up to {limit}.").format(limit=limit)


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
_ERRORS = {
    "pattern": _PATTERN,
    "size": TOO_LARGE_TO_SAY.pattern,
    "falseSchema": gettext_noop("No value is expected here."),
    "enum": INVALID_CHOICE,
    "const": INVALID_CHOICE,
    "required": gettext_noop("“{property}” is missing."),
    "uniqueItems": gettext_noop("Each item may appear only once."),
    "additionalProperties": gettext_noop("Unexpected: {names}."),
    "unevaluatedProperties": gettext_noop("Unexpected: {names}."),
    "oneOf": gettext_noop("This value must match exactly one of the options."),
    "anyOf": gettext_noop("This value does not match any of the options."),
}
_UNCHECKED_PATTERN = gettext_noop("Not validated by the server. Pattern: {pattern}")
_DEFAULT = gettext_noop("Default: {default}")


def _is_trivial_limit(keyword: str, limit: float) -> bool:
    """Return whether a limit is implied, or stands for "any integer"."""
    return (keyword.startswith("min") and keyword != "minimum" and limit <= 1) or (
        abs(limit) >= 2**53 - 1
    )


def missing_text(node: "Node") -> str:
    """Return the error of a required field without a value."""
    text = _MISSING.get(node.kind)
    if text is None:
        text = _MISSING_NULLABLE if node.nullable else _MISSING_VALUE
    return gettext(text).format(label=node.label)


_MISSING_CHOICE = gettext_noop("Choose a value for “{label}”.")
_MISSING_ITEMS = gettext_noop("“{label}” is empty. Confirm that, or add an item.")
_MISSING_NULLABLE = gettext_noop("Enter {label}, or tick “No value”.")
_MISSING_VALUE = gettext_noop("Enter {label}.")
_MISSING = {
    "choice": _MISSING_CHOICE,
    "select": _MISSING_CHOICE,
    "branch": _MISSING_CHOICE,
    "day": gettext_noop("Enter a date."),
    "moment": gettext_noop("Enter a date and time."),
    "list": _MISSING_ITEMS,
    "many": _MISSING_ITEMS,
    "group": gettext_noop("Fill in at least one field of “{label}”."),
    "fixed": READ_ONLY_MISSING,
    "file": gettext_noop("Choose a file for “{label}”."),
}


def error_text(keyword: str, detail: Mapping[str, Any], message: str) -> str:
    """Return the error text of a schema violation."""
    limit = detail.get("limit", detail.get("multiple_of"))
    if keyword in ("minLength", "minItems") and limit == 1:
        return gettext("This field is required.")
    if keyword in _LIMITS and isinstance(limit, int | float):
        return gettext(_LIMITS[keyword]).format(limit=_number(limit))
    if keyword == "type":
        return _type_error_text(detail)
    if keyword == "format":
        name = str(detail.get("format", ""))
        example = gettext(_FORMATS[name]) if name in _FORMATS else ""
        return example or gettext("Must be of the format {format}.").format(
            format=escape_invisible(name)
        )
    names = ", ".join(escape_invisible(str(name)) for name in detail.get("unexpected", ()))
    if keyword not in _ERRORS:
        return escape_invisible(message) or gettext(_INVALID)
    return gettext(_ERRORS[keyword]).format(
        pattern=escape_invisible(str(detail.get("pattern", ""))[:300]),
        property=escape_invisible(str(detail.get("property", ""))[:300]),
        names=names[:300],
    )


def _type_error_text(detail: Mapping[str, Any]) -> str:
    types = detail.get("types", ())
    names = [gettext(_TYPE_NAMES[name]) for name in types if name in _TYPE_NAMES]
    if not names:
        return gettext("This value has the wrong type.")
    return gettext("Must be {kind}.").format(kind=reduce(_or, names))


def _or(left: str, right: str) -> str:
    return gettext("{this} or {that}").format(this=left, that=right)


_TYPE_NAMES = {
    "string": gettext_noop("text"),
    "integer": gettext_noop("a whole number"),
    "number": gettext_noop("a number"),
    "boolean": gettext_noop("true or false"),
    "array": gettext_noop("a list"),
    "object": gettext_noop("an object with fields"),
    "null": gettext_noop("null"),
}
