"""The strip above the list of tool calls: a column for each day, which filters by that day."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from django.urls import reverse
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext, ngettext

from inbox.queries.audit import tool_calls
from inbox.rules.audit.audit_filters import CallFilter
from inbox.rules.decisions.metrics import by_series
from inbox.rules.people.access import Actor
from inbox.web.base.charts import FEWEST, Bucket, ColumnChart, column_chart
from inbox.web.base.days import day_name, today
from inbox.web.base.numbers import number_text

_DAYS, _MAX_DAYS = 30, 90
_TICKS = 6


@dataclass(frozen=True)
class Strip:
    """The columns, and how many calls the chosen days have of all."""

    chart: ColumnChart
    title: str
    chosen: int | None  #: None without a choice of days
    since: date | None  #: the first day that is counted, None if all are
    is_drawn: bool


def strip_of(actor: Actor, filters: CallFilter) -> Strip:
    days = _days(filters, today())
    counts = tool_calls.count_by_day(actor, filters, days, get_current_timezone())
    has_days = bool(filters.since or filters.until)
    step = max(1, len(days) // _TICKS)
    buckets = [
        Bucket(
            name=day_name(day),
            counts=by_series(counts.by_day[day]),
            tick=day_name(day) if (len(days) - 1 - index) % step == 0 else "",
            url=_address(filters, day),
            is_chosen=has_days and _is_chosen(filters, day),
        )
        for index, day in enumerate(days)
    ]
    chart = column_chart(buckets)
    return Strip(
        chart=chart,
        title=_title(chart, days),
        chosen=sum(bucket.total for bucket in buckets if bucket.is_chosen) if has_days else None,
        since=counts.since if counts.since > days[0] else None,
        is_drawn=chart.total >= FEWEST,
    )


def _days(filters: CallFilter, newest: date) -> Sequence[date]:
    """Return the days until `newest`, or those that end with the chosen ones of long ago."""
    last = min(filters.until or newest, newest)
    last = newest if (newest - last).days < _DAYS else last
    chosen = (last - filters.since).days + 1 if filters.since and filters.since <= last else 0
    count = min(max(_DAYS, chosen), _MAX_DAYS, last.toordinal())
    return [last - timedelta(days=ago) for ago in range(count - 1, -1, -1)]


def _is_chosen(filters: CallFilter, day: date) -> bool:
    return (filters.since or day) <= day <= (filters.until or day)


def _address(filters: CallFilter, day: date) -> str:
    """Return the list of that day; of all days if the list already is of that day."""
    is_this = filters.since == filters.until == day
    query = replace(filters, since=None if is_this else day, until=None if is_this else day)
    return f"{reverse('audit')}?{query.to_query()}"


def _title(chart: ColumnChart, days: Sequence[date]) -> str:
    if chart.busiest is None:
        return gettext("No calls in {days} days.").format(days=len(days))
    says = ngettext(
        "{count} call in {days} days, on {day}.",
        "{count} calls in {days} days, most on {day}.",
        chart.total,
    )
    return says.format(count=number_text(chart.total), days=len(days), day=chart.busiest.name)
