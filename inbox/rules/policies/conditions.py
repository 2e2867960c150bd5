"""Evaluation of conditions with three truth values."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from typing import Any, Final

from inbox.rules.policies.facts import Doubt, FactReader
from inbox.rules.policies.language.business_hours import is_open
from inbox.rules.policies.language.policy import (
    MAX_EACH,
    Calendar,
    Condition,
    Each,
    Op,
)
from inbox.rules.schema.schemas import is_valid

#: Longer texts are not compared.
MAX_CHARACTERS = 200_000


class Truth(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN


@dataclass(frozen=True)
class Outcome:
    """The truth of a condition, with the reason if it is unknown."""

    truth: Truth
    doubt: Doubt | None = None


def negate(truth: Truth) -> Truth:
    if truth is UNKNOWN:
        return UNKNOWN
    return NO if truth is YES else YES


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return NO if any is NO, otherwise UNKNOWN if any is UNKNOWN, otherwise YES."""
    result = YES
    for truth in truths:
        if truth is NO:
            return NO
        if truth is UNKNOWN:
            result = UNKNOWN
    return result


def any_of(truths: Iterable[Truth]) -> Truth:
    """Return YES if any is YES, otherwise UNKNOWN if any is UNKNOWN, otherwise NO."""
    result = NO
    for truth in truths:
        if truth is YES:
            return YES
        if truth is UNKNOWN:
            result = UNKNOWN
    return result


def evaluate_condition(
    condition: Condition, reader: FactReader, calendars: Mapping[str, Calendar]
) -> Truth:
    return condition_outcome(condition, reader, calendars).truth


def condition_outcome(
    condition: Condition, reader: FactReader, calendars: Mapping[str, Calendar]
) -> Outcome:
    """
    Return the truth of a condition, and the reason for UNKNOWN.

    A condition on the tool or an argument is NO for what names no tool call, also with `not`: a
    question is neither a call of this tool nor one of another tool.
    """
    if not reader.names_call and condition.is_about_calls:
        return _OUTCOMES[NO]
    value = reader.value(condition.path, condition.tokens)
    result: Truth | Doubt
    if condition.op is Op.PRESENT:
        result = _is_present(value)
    elif isinstance(value, Doubt):
        result = value
    elif condition.op is Op.IN_HOURS:
        result = _is_in_hours(reader, calendars.get(condition.value))
    elif condition.each:
        result = _each(condition, value)
    else:
        result = _TESTS[condition.op](value, condition.value)
    if isinstance(result, Doubt):
        return Outcome(UNKNOWN, result)
    return _OUTCOMES[negate(result) if condition.negated else result]


def value_truth(condition: Condition, value: Any) -> Truth:
    """Return the truth of a condition for a text, number or boolean at its path."""
    if condition.op is Op.PRESENT:
        result: Truth | Doubt = YES
    elif condition.each or condition.op is Op.IN_HOURS:
        return UNKNOWN
    else:
        result = _TESTS[condition.op](value, condition.value)
    if isinstance(result, Doubt):
        return UNKNOWN
    return negate(result) if condition.negated else result


_OUTCOMES: Final = {truth: Outcome(truth) for truth in Truth}


def _is_present(value: Any) -> Truth | Doubt:
    if value is Doubt.TOO_LARGE:
        return Doubt.TOO_LARGE
    return NO if value is Doubt.MISSING else YES


def _is_in_hours(reader: FactReader, calendar: Calendar | None) -> Truth | Doubt:
    at = reader.local_time
    if calendar is None or at is None or at.utcoffset() is None:
        return Doubt.CALENDAR if calendar is None else Doubt.MISSING
    return YES if is_open(calendar, at) else NO


def _each(condition: Condition, items: Any) -> Truth | Doubt:
    if not isinstance(items, list):
        return Doubt.WRONG_TYPE
    if len(items) > MAX_EACH:
        return Doubt.TOO_LARGE
    test, operand = _TESTS[condition.op], condition.value
    results = [Doubt.MISSING if item is None else test(item, operand) for item in items]
    truths = (UNKNOWN if isinstance(result, Doubt) else result for result in results)
    if condition.each is Each.EVERY:
        truth = all_of(truths) if items else UNKNOWN
    else:
        truth = any_of(truths)
    if truth is not UNKNOWN:
        return truth
    return next((result for result in results if isinstance(result, Doubt)), Doubt.NO_ITEMS)


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


_TESTS: Final[dict[Op, Callable[[Any, Any], Truth | Doubt]]] = {
    Op.LT: _number_test(lambda order: order < 0),
    Op.LTE: _number_test(lambda order: order <= 0),
    Op.GT: _number_test(lambda order: order > 0),
    Op.GTE: _number_test(lambda order: order >= 0),
    Op.BETWEEN: _is_between,
    Op.IS: _is,
    Op.IS_ONE_OF: _is_one_of,
    Op.STARTS_WITH: _text_test(str.startswith),
    Op.ENDS_WITH: _text_test(str.endswith),
    Op.CONTAINS: _text_test(str.__contains__),
    Op.MATCHES: _text_test(matches_glob),
    Op.DOMAIN_IS: _domain_is,
    Op.LONGEST: _is_at_most_long,
    Op.SCHEMA: _fits_schema,
}
