"""Open hours, compared with counting the open minutes one by one."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from inbox.rules.policies.language.business_hours import MAX_DAYS, add_business_time, is_open
from inbox.rules.policies.language.policy import Calendar

DAY = ((9 * 60, 17 * 60),)
WORKDAYS = (DAY, DAY, DAY, DAY, DAY, (), ())
#: Weeks with a change of the clocks: a gap, a repeated hour, half an hour, a skipped day.
CHANGES = {
    "Europe/Berlin": ["2026-03-28", "2026-10-24"],
    "America/New_York": ["2026-03-07", "2026-10-31"],
    "Australia/Lord_Howe": ["2026-04-04", "2026-10-03"],
    "America/Sao_Paulo": ["2018-11-03", "2019-02-16"],  # at midnight
    "Pacific/Apia": ["2011-12-29"],
    "Asia/Kolkata": ["2026-03-28"],
}
MINUTE = timedelta(minutes=1)


def at(text, zone="UTC"):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def is_open_by_the_clock(calendar, instant):
    local = instant.astimezone(ZoneInfo(calendar.zone))
    minutes = local.hour * 60 + local.minute
    intervals = calendar.week[local.weekday()] if local.date() not in calendar.closed else ()
    return any(start <= minutes < end for start, end in intervals)


def minute_by_minute(calendar, start, minutes):
    instant = start
    while minutes:
        minutes -= is_open_by_the_clock(calendar, instant)
        instant += MINUTE
    return instant


def random_calendar(random, zone, day):
    week = []
    for _ in range(7):
        times = sorted(random.sample(range(0, 24 * 60 + 1, 15), k=random.choice([0, 2, 4])))
        week.append(tuple(zip(times[::2], times[1::2], strict=True)))
    week[day.weekday()] = ((0, 24 * 60),)
    closed = {day + timedelta(days=random.randint(0, 4))} if random.random() < 0.3 else set()
    return Calendar(zone, tuple(week), frozenset(closed))


@pytest.mark.parametrize("zone", CHANGES)
def test_each_open_minute_counts_once_over_changes_of_the_clocks(zone):
    random = Random(zone)
    for text in CHANGES[zone]:
        day = date.fromisoformat(text)
        for _ in range(13):
            calendar = random_calendar(random, zone, day)
            start = at(f"{day}T00:00").astimezone(UTC) + MINUTE * random.randint(-720, 2160)
            minutes = random.randint(1, 2000)

            end = add_business_time(calendar, start, MINUTE * minutes)

            assert end == minute_by_minute(calendar, start, minutes)
            for _ in range(20):
                instant = start + MINUTE * random.randint(0, 4000)
                assert is_open(calendar, instant) == is_open_by_the_clock(calendar, instant)


def test_four_hours_on_friday_afternoon_end_on_monday():
    berlin = Calendar("Europe/Berlin", WORKDAYS)

    end = add_business_time(berlin, at("2026-03-27T15:00", "Europe/Berlin"), timedelta(hours=4))

    # Two hours on Friday; the clocks change on Sunday.
    assert end == at("2026-03-30T11:00", "Europe/Berlin")


def test_time_outside_of_open_hours_does_not_count():
    utc = Calendar("UTC", WORKDAYS)

    end = add_business_time(utc, at("2026-03-02T20:00"), timedelta(minutes=30))

    assert end == at("2026-03-03T09:30")


def test_time_ends_at_closing_time_and_not_at_the_next_opening():
    utc = Calendar("UTC", WORKDAYS)

    assert add_business_time(utc, at("2026-03-02T16:00"), timedelta(hours=1)) == at(
        "2026-03-02T17:00"
    )


def test_closed_dates_are_not_open():
    closed = Calendar("UTC", WORKDAYS, frozenset({date(2026, 3, 3)}))

    assert not is_open(closed, at("2026-03-03T10:00"))
    assert add_business_time(closed, at("2026-03-02T16:30"), timedelta(hours=1)) == at(
        "2026-03-04T09:30"
    )


def test_a_calendar_that_is_hardly_ever_open_ends_the_search():
    rare = Calendar("UTC", (((0, 1),), *[()] * 6))
    start = at("2026-03-02T12:00")

    end = add_business_time(rare, start, timedelta(days=300))

    assert end == start + timedelta(days=MAX_DAYS)
