"""Counts of tool calls by day and outcome; days and calls sort alike, by the ids of the calls."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, timedelta, tzinfo
from typing import Any

from django.db.models import Case, Count, F, IntegerField, QuerySet, Value, When

from inbox.models import ToolCall
from inbox.rules.audit.audit_filters import first_id_after, first_id_of, time_of_id
from inbox.rules.decisions.metrics import BY_RULE, DENIED_BY_RULE
from inbox.rules.people.access import POLICY
from inbox.rules.runs.states import ToolCallOutcome


def counted_since(
    calls: "QuerySet[ToolCall]", days: Sequence[date], most: int, zone: tzinfo = UTC
) -> date:
    """Return the first of these days whose calls are all among the `most` latest of all of them."""
    rows = _within(calls, days, zone).order_by("-pk")
    for pk in rows.values_list("pk", flat=True)[most : most + 1]:
        return time_of_id(pk).astimezone(zone).date() + timedelta(days=1)
    return days[0]


def count_calls(
    parts: Sequence["QuerySet[ToolCall]"],
    days: Sequence[date],
    *columns: str,
    zone: tzinfo = UTC,
) -> Iterator[tuple[Any, ...]]:
    """Yield (day, outcome, the columns, number) for the calls of consecutive days."""
    kind = Case(
        When(verdict=ToolCallOutcome.APPROVED, decided_by=POLICY.ident, then=Value(BY_RULE)),
        When(verdict=ToolCallOutcome.DENIED, decided_by=POLICY.ident, then=Value(DENIED_BY_RULE)),
        default=F("verdict"),
    )
    for part in parts if days else ():
        rows = _within(part, days, zone).annotate(day=_day_of(days, zone), kind=kind)
        groups = rows.values_list("day", "kind", *columns)
        for day, *group in groups.annotate(count=Count("pk")).order_by():
            yield (days[day], *group)


def _within(
    calls: "QuerySet[ToolCall]", days: Sequence[date], zone: tzinfo
) -> "QuerySet[ToolCall]":
    rows, end = calls.filter(pk__gte=first_id_of(days[0], zone)), first_id_after(days[-1], zone)
    return rows if end is None else rows.filter(pk__lt=end)


def _day_of(days: Sequence[date], zone: tzinfo, first: int = 0) -> Any:
    """Return an expression for the index of a call's day, by its id, which sorts by time."""
    if len(days) == 1:
        return Value(first, output_field=IntegerField())
    # Binary search: seven comparisons for each row instead of ninety.
    half = len(days) // 2
    return Case(
        When(pk__lt=first_id_of(days[half], zone), then=_day_of(days[:half], zone, first)),
        default=_day_of(days[half:], zone, first + half),
    )
