"""Open hours of calendars, also on days with a change of the clocks."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from inbox.rules.policies.language.policy import Calendar

#: A calendar that opens less often than that ends the search.
MAX_DAYS = 800
#: Local days begin and end within this of the same day in UTC.
_LARGEST_OFFSET = timedelta(hours=15)


def is_open(calendar: Calendar, at: datetime) -> bool:
    """Return whether an instant is in the open hours."""
    local = at.astimezone(ZoneInfo(calendar.zone))
    if local.date() in calendar.closed:
        return False
    minute = local.hour * 60 + local.minute
    return any(start <= minute < end for start, end in calendar.week[local.weekday()])


def add_business_time(calendar: Calendar, start: datetime, duration: timedelta) -> datetime:
    """
    Return the instant at which so much open time has passed since `start`, in UTC.

    At the latest MAX_DAYS after `start`, even if the calendar is hardly ever open.
    """
    start = start.astimezone(UTC)
    remaining = duration
    for opened, closed in _stretches(calendar, start):
        length = closed - max(opened, start)
        if length >= remaining:
            return max(opened, start) + remaining
        remaining -= max(length, timedelta())
    return start + timedelta(days=MAX_DAYS)


def _stretches(calendar: Calendar, start: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the open stretches in UTC that end after `start`, in order."""
    zone = ZoneInfo(calendar.zone)
    first = start.astimezone(zone).date() - timedelta(days=1)
    for number in range(MAX_DAYS):
        day = first + timedelta(days=number)
        intervals = calendar.week[day.weekday()]
        if not intervals or day in calendar.closed:
            continue
        stretches = [
            (max(opened, since), min(closed, until))
            for since, until, offset in _segments(zone, day)
            for opened, closed in _in_utc(day, intervals, offset)
        ]
        yield from sorted(
            (opened, closed) for opened, closed in stretches if opened < closed and closed > start
        )


def _in_utc(
    day: date, intervals: tuple[tuple[int, int], ...], offset: timedelta
) -> Iterator[tuple[datetime, datetime]]:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) - offset
    for start, end in intervals:
        yield midnight + timedelta(minutes=start), midnight + timedelta(minutes=end)


def _segments(zone: ZoneInfo, day: date) -> Iterator[tuple[datetime, datetime, timedelta]]:
    """Yield the stretches of one UTC offset around a local day: start, end, offset."""
    since = datetime(day.year, day.month, day.day, tzinfo=UTC) - _LARGEST_OFFSET
    until = since + timedelta(days=1) + 2 * _LARGEST_OFFSET
    while since < until:
        offset = _offset(zone, since)
        end = until if _offset(zone, until) == offset else _change(zone, since, until)
        yield since, end, offset
        since = end


def _change(zone: ZoneInfo, since: datetime, until: datetime) -> datetime:
    """Return the first second after `since` with another UTC offset."""
    offset = _offset(zone, since)
    step = timedelta(seconds=1)
    while until - since > step:
        middle = since + (until - since) // 2 // step * step
        if _offset(zone, middle) == offset:
            since = middle
        else:
            until = middle
    return until


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()
