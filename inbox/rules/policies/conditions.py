"""Evaluation of conditions with three truth values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
from inbox.rules.policies.operators import NO, OPERATORS, UNKNOWN, YES, Truth


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
        result = OPERATORS[condition.op].test(value, condition.value)
    if isinstance(result, Doubt):
        return Outcome(UNKNOWN, result)
    return _OUTCOMES[negate(result) if condition.negated else result]


def value_truth(condition: Condition, value: Any) -> Truth:
    """Return the truth of a condition for a text, number or boolean at its path."""
    result = OPERATORS[condition.op].test(value, condition.value)
    if condition.each or isinstance(result, Doubt):
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
    test, operand = OPERATORS[condition.op].test, condition.value
    results = [Doubt.MISSING if item is None else test(item, operand) for item in items]
    truths = (UNKNOWN if isinstance(result, Doubt) else result for result in results)
    if condition.each is Each.EVERY:
        truth = all_of(truths) if items else UNKNOWN
    else:
        truth = any_of(truths)
    if truth is not UNKNOWN:
        return truth
    return next((result for result in results if isinstance(result, Doubt)), Doubt.NO_ITEMS)
