"""Quiet hours and digests, against a clock that looks at every minute."""

from datetime import UTC, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from inbox.rules.notifications.schedule import Schedule

ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",  # half an hour
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Pacific/Apia",
]
#: Days with changes of the clocks in one of the zones, and one without.
DAYS = [
    datetime(2026, 3, 8, tzinfo=UTC),
    datetime(2026, 3, 29, tzinfo=UTC),
    datetime(2026, 4, 5, tzinfo=UTC),
    datetime(2026, 10, 4, tzinfo=UTC),
    datetime(2026, 10, 25, tzinfo=UTC),
    datetime(2026, 11, 1, tzinfo=UTC),
    datetime(2026, 7, 1, tzinfo=UTC),
]
MINUTE = timedelta(minutes=1)


def clock_of(at, zone):
    return at.astimezone(ZoneInfo(zone)).strftime("%H:%M")


def is_quiet(schedule, at):
    clock = clock_of(at, schedule.zone)
    start, end = f"{schedule.quiet_from:%H:%M}", f"{schedule.quiet_to:%H:%M}"
    if start <= end:
        return start <= clock < end
    return clock >= start or clock < end


def slow_end(schedule, at):
    while is_quiet(schedule, at):
        at += MINUTE
    return at


def slow_digest(schedule, at):
    """The first minute of a local day at or after the time of the digest, after `at`."""
    target = f"{schedule.digest_at:%H:%M}"
    day = at.astimezone(ZoneInfo(schedule.zone)).date()
    if clock_of(at, schedule.zone) >= target:
        day += timedelta(days=1)
    while True:
        at += MINUTE
        local = at.astimezone(ZoneInfo(schedule.zone))
        if (local.date(), local.strftime("%H:%M")) >= (day, target):
            return at


@pytest.mark.parametrize("zone", ZONES)
def test_times_are_those_of_a_clock_that_looks_every_minute(zone):
    random = Random(zone)
    for day in DAYS:
        for _ in range(12):
            moments = [time(random.randrange(24), random.choice([0, 15, 30])) for _ in range(3)]
            schedule = Schedule(zone, *moments)
            at = day + timedelta(minutes=random.randrange(-720, 2_160))

            assert schedule.end_of_quiet(at) == slow_end(schedule, at), (schedule, at)
            assert schedule.next_digest(at) == slow_digest(schedule, at), (schedule, at)


def test_without_quiet_hours_every_time_is_good():
    at = datetime(2026, 1, 1, 3, 4, 5, tzinfo=UTC)

    assert Schedule("Europe/Berlin").end_of_quiet(at) == at


def test_quiet_hours_end_on_the_next_morning():
    schedule = Schedule("Europe/Berlin", time(20), time(7))

    evening = datetime(2026, 1, 1, 21, 30, tzinfo=UTC)  # 22:30
    assert schedule.end_of_quiet(evening) == datetime(2026, 1, 2, 6, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_every_minute_around_a_repeated_hour_has_the_time_of_the_clock(zone):
    day = {"Europe/Berlin": DAYS[4], "Australia/Lord_Howe": DAYS[2]}[zone] - timedelta(hours=12)
    schedules = [Schedule(zone, time(22), time(hour, 30), time(hour, 30)) for hour in (1, 2, 3)]
    for minute in range(18 * 60):
        at = day + minute * MINUTE
        for schedule in schedules:
            assert schedule.end_of_quiet(at) == slow_end(schedule, at), (schedule, at)
            if minute % 7 == 0:
                assert schedule.next_digest(at) == slow_digest(schedule, at), (schedule, at)
