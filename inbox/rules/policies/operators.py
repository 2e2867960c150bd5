"""The operators of conditions: operand, test, words and implication of each."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from typing import Any, Final

from inbox.rules.policies.facts import Doubt
from inbox.rules.policies.language.document_values import (
    integer_from,
    list_of,
    read_bounds,
    read_domains,
    read_glob,
    read_number,
    read_present,
    read_scalar,
    read_schema,
    text_up_to,
)
from inbox.rules.policies.language.policy import Op
from inbox.rules.schema.schemas import is_valid
from inbox.rules.text.messages import TranslatableMessage

#: Longer texts are not compared.
MAX_CHARACTERS = 200_000
_INFINITY: Final = Decimal("Infinity")
_PARTS: Final = {"fact": "", "value": ""}
_ANY: Final = frozenset({"string", "number", "boolean", "array", "object", "null"})
_SCALAR: Final = frozenset({"string", "number", "boolean"})
_NUMBER, _TEXT = frozenset({"number"}), frozenset({"string"})


class Truth(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN


# Tests of one value, which is never None


def exact(number: int | float) -> Decimal:
    """Return the number that the JSON text of a finite number says."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def compare(left: Any, right: int | float) -> int | None:
    """Return -1, 0 or 1 for numbers, None for other types; neither true nor NaN is a number."""
    if type(left) not in (int, float) or (type(left) is float and not isfinite(left)):
        return None
    if type(left) is not type(right):
        left, right = exact(left), exact(right)  # type: ignore[assignment]
    return int(left > right) - int(left < right)


def _number_test(accepts: Callable[[int], bool]) -> Callable[[Any, Any], Truth | Doubt]:
    def test(value: Any, operand: Any) -> Truth | Doubt:
        order = compare(value, operand)
        if order is None:
            return Doubt.WRONG_TYPE
        return YES if accepts(order) else NO

    return test


def _is_between(value: Any, bounds: Any) -> Truth | Doubt:
    lower, upper = (compare(value, bound) for bound in bounds)
    if lower is None or upper is None:
        return Doubt.WRONG_TYPE
    return YES if lower >= 0 >= upper else NO


def is_equal(value: Any, operand: Any) -> bool | None:
    """Return whether two scalars are equal; None if their types differ."""
    if type(operand) in (int, float):
        order = compare(value, operand)
        return None if order is None else order == 0
    return bool(value == operand) if type(value) is type(operand) else None


def _is(value: Any, operand: Any) -> Truth | Doubt:
    equal = is_equal(value, operand)
    if equal is None:
        return Doubt.WRONG_TYPE
    return YES if equal else NO


def _is_one_of(value: Any, operands: Any) -> Truth | Doubt:
    results = [is_equal(value, operand) for operand in operands]
    if True in results:
        return YES
    return NO if False in results else Doubt.WRONG_TYPE


def _text_test(accepts: Callable[[str, Any], bool]) -> Callable[[Any, Any], Truth | Doubt]:
    def test(value: Any, operand: Any) -> Truth | Doubt:
        if not isinstance(value, str):
            return Doubt.WRONG_TYPE
        if len(value) > MAX_CHARACTERS:
            return Doubt.TOO_LARGE
        return YES if accepts(value, operand) else NO

    return test


def matches_glob(text: str, pattern: str) -> bool:
    """
    Return whether the complete text matches a pattern in which `*` is any text.

    Takes the leftmost match of each part, without backtracking.
    """
    first, *parts = pattern.split("*")
    if not parts:
        return text == pattern
    last = parts.pop()
    end = len(text) - len(last)
    position = len(first)
    if end < position or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts:
        at = text.find(part, position, end)
        if at < 0:
            return False
        position = at + len(part)
    return True


_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST: Final = rf"(?P<host>(?:{_LABEL}\.)+{_LABEL})"
_ADDRESS: Final = re.compile(
    rf"(?:[a-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@)?{_HOST}", re.IGNORECASE | re.ASCII
)
_URL: Final = re.compile(
    rf"[a-z][a-z0-9+.-]*://{_HOST}(?::[0-9]{{1,5}})?(?:[/?#][!-\[\]-~]*)?", re.IGNORECASE | re.ASCII
)


def _domain_is(value: Any, domains: Any) -> Truth | Doubt:
    """Compare the domain of an e-mail address, URL or domain; another text is no such thing."""
    if not isinstance(value, str):
        return Doubt.WRONG_TYPE
    if len(value) > 2_000:
        return Doubt.TOO_LARGE
    match = _ADDRESS.fullmatch(value) or _URL.fullmatch(value)
    if match is None:
        return Doubt.WRONG_TYPE
    return YES if match["host"].lower() in domains else NO


def _is_at_most_long(value: Any, most: Any) -> Truth | Doubt:
    if not isinstance(value, str | list):
        return Doubt.WRONG_TYPE
    return YES if len(value) <= most else NO


def _fits_schema(value: Any, schema: Any) -> Truth | Doubt:
    return YES if is_valid(schema=schema, value=value) else NO


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; an open end leaves the bound itself out."""

    low: Decimal = -_INFINITY
    high: Decimal = _INFINITY
    low_open: bool = False
    high_open: bool = False

    def is_inside(self, other: "Range") -> bool:
        low = (self.low, self.low_open) >= (other.low, other.low_open)
        high = (self.high, not self.high_open) <= (other.high, not other.high_open)
        return low and high

    def is_disjoint(self, other: "Range") -> bool:
        low = max((self.low, self.low_open), (other.low, other.low_open))
        high = min((self.high, not self.high_open), (other.high, not other.high_open))
        return low[0] > high[0] or (low[0] == high[0] and (low[1] or not high[1]))

    @property
    def opposite(self) -> "Range | None":
        """The other numbers, None if they are two ranges."""
        if self.low == -_INFINITY:
            return Range(low=self.high, low_open=not self.high_open)
        if self.high == _INFINITY:
            return Range(high=self.low, high_open=not self.low_open)
        return None


@dataclass(frozen=True)
class Operator:
    """An operator of conditions; `read` returns its operand."""

    #: The words of a condition, and of its opposite.
    words: tuple[TranslatableMessage, TranslatableMessage]
    types: frozenset[str]  #: JSON types of the values that it is about, and "time"
    #: Returns the operand of a JSON value, or raises `Invalid`.
    read: Callable[[Any], Any]
    test: Callable[[Any, Any], Truth | Doubt]  #: gets a value, which is never None, and the operand
    signs: tuple[str, str] | None = None  #: of the condition and of its opposite
    #: True if each value that passes with the first operand passes with the second.
    implies: Callable[[Any, Any], bool] = lambda _operand, _other: False
    numbers: Callable[[Any], Range] | None = None  #: those that pass, of operators on numbers


_AT_MOST: Final = TranslatableMessage("{fact} is at most {value}", **_PARTS)
_ABOVE: Final = TranslatableMessage("{fact} is above {value}", **_PARTS)
_AT_LEAST: Final = TranslatableMessage("{fact} is at least {value}", **_PARTS)
_BELOW: Final = TranslatableMessage("{fact} is below {value}", **_PARTS)
#: Everything about each operator; a form offers them in this order.
OPERATORS: Final[dict[Op, Operator]] = {
    Op.IS: Operator(
        words=(
            TranslatableMessage("{fact} is {value}", **_PARTS),
            TranslatableMessage("{fact} is not {value}", **_PARTS),
        ),
        types=_SCALAR,
        read=read_scalar,
        test=_is,
        signs=("=", "\u2260"),
    ),
    Op.LTE: Operator(
        words=(_AT_MOST, _ABOVE),
        types=_NUMBER,
        read=read_number,
        test=_number_test(lambda order: order <= 0),
        signs=("\u2264", ">"),
        numbers=lambda most: Range(high=exact(most)),
    ),
    Op.LT: Operator(
        words=(_BELOW, _AT_LEAST),
        types=_NUMBER,
        read=read_number,
        test=_number_test(lambda order: order < 0),
        signs=("<", "\u2265"),
        numbers=lambda bound: Range(high=exact(bound), high_open=True),
    ),
    Op.GTE: Operator(
        words=(_AT_LEAST, _BELOW),
        types=_NUMBER,
        read=read_number,
        test=_number_test(lambda order: order >= 0),
        signs=("\u2265", "<"),
        numbers=lambda least: Range(low=exact(least)),
    ),
    Op.GT: Operator(
        words=(_ABOVE, _AT_MOST),
        types=_NUMBER,
        read=read_number,
        test=_number_test(lambda order: order > 0),
        signs=(">", "\u2264"),
        numbers=lambda bound: Range(low=exact(bound), low_open=True),
    ),
    Op.BETWEEN: Operator(
        words=(
            TranslatableMessage("{fact} is between {value}", **_PARTS),
            TranslatableMessage("{fact} is not between {value}", **_PARTS),
        ),
        types=_NUMBER,
        read=read_bounds,
        test=_is_between,
        numbers=lambda bounds: Range(exact(bounds[0]), exact(bounds[1])),
    ),
    Op.IS_ONE_OF: Operator(
        words=(
            TranslatableMessage("{fact} is one of: {value}", **_PARTS),
            TranslatableMessage("{fact} is none of: {value}", **_PARTS),
        ),
        types=_SCALAR,
        read=list_of(read_scalar),
        test=_is_one_of,
    ),
    Op.STARTS_WITH: Operator(
        words=(
            TranslatableMessage("{fact} starts with {value}", **_PARTS),
            TranslatableMessage("{fact} does not start with {value}", **_PARTS),
        ),
        types=_TEXT,
        read=text_up_to(),
        test=_text_test(str.startswith),
        implies=str.startswith,
    ),
    Op.ENDS_WITH: Operator(
        words=(
            TranslatableMessage("{fact} ends with {value}", **_PARTS),
            TranslatableMessage("{fact} does not end with {value}", **_PARTS),
        ),
        types=_TEXT,
        read=text_up_to(),
        test=_text_test(str.endswith),
        implies=str.endswith,
    ),
    Op.CONTAINS: Operator(
        words=(
            TranslatableMessage("{fact} contains {value}", **_PARTS),
            TranslatableMessage("{fact} does not contain {value}", **_PARTS),
        ),
        types=_TEXT,
        read=text_up_to(),
        test=_text_test(str.__contains__),
        implies=str.__contains__,
    ),
    Op.MATCHES: Operator(
        words=(
            TranslatableMessage("{fact} matches {value}", **_PARTS),
            TranslatableMessage("{fact} does not match {value}", **_PARTS),
        ),
        types=_TEXT,
        read=read_glob,
        test=_text_test(matches_glob),
    ),
    Op.DOMAIN_IS: Operator(
        words=(
            TranslatableMessage("{fact} is an address at {value}", **_PARTS),
            TranslatableMessage("{fact} is not an address at {value}", **_PARTS),
        ),
        types=_TEXT,
        read=read_domains,
        test=_domain_is,
        implies=lambda domains, others: set(domains) <= set(others),
    ),
    Op.LONGEST: Operator(
        words=(
            TranslatableMessage("{fact} has a length of at most {value}", **_PARTS),
            TranslatableMessage("{fact} has a length above {value}", **_PARTS),
        ),
        types=frozenset({"string", "array"}),
        read=integer_from(0, 1_000_000),
        test=_is_at_most_long,
        implies=lambda most, other: bool(most <= other),
    ),
    Op.PRESENT: Operator(
        words=(
            TranslatableMessage("{fact} has a value", **_PARTS),
            TranslatableMessage("{fact} has no value", **_PARTS),
        ),
        types=_ANY | {"time"},
        read=read_present,
        test=lambda _value, _operand: YES,
    ),
    Op.SCHEMA: Operator(
        words=(
            TranslatableMessage("{fact} fits the schema {value}", **_PARTS),
            TranslatableMessage("{fact} does not fit the schema {value}", **_PARTS),
        ),
        types=_ANY,
        read=read_schema,
        test=_fits_schema,
    ),
    Op.IN_HOURS: Operator(
        words=(
            TranslatableMessage("{fact} is in the hours {value}", **_PARTS),
            TranslatableMessage("{fact} is outside of the hours {value}", **_PARTS),
        ),
        types=frozenset({"time"}),
        read=text_up_to(),
        test=lambda _value, _operand: Doubt.CALENDAR,
    ),
}
