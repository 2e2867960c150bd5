"""Durations as pages write them, and the axis that the bars of a page share."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from inbox.web.base.durations import duration_text
from inbox.web.runs.time_axis import MIN_WIDTH, WIDTH, TimeAxis

START = datetime(2026, 11, 28, 13, 1, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [
        (-1, "0 ms", "0 ms"),
        (0.0234, "23 ms", "23 ms"),
        (0.9996, "1 s", "1 Sek."),
        (40, "40 s", "40 Sek."),
        (59.4, "59 s", "59 Sek."),
        (59.9, "1 min", "1 Min."),
        (60, "1 min", "1 Min."),
        (289, "4 min 49 s", "4 Min. 49 Sek."),
        (3600, "1 h", "1 Std."),
        (4515, "1 h 15 min", "1 Std. 15 Min."),
        (86_400, "1 d", "1 T."),
        (200_000, "2 d 7 h", "2 T. 7 Std."),
    ],
)
def test_a_duration_has_at_most_two_units(seconds, english, german):
    assert duration_text(timedelta(seconds=seconds)) == english
    with translation.override("de"):
        assert duration_text(timedelta(seconds=seconds)) == german


@pytest.mark.parametrize(
    "seconds",
    [0, 0.001, 1, 7, 40, 75, 299, 4_500, 20_000, 86_399, 86_400, 400_000, 10**7, 5 * 10**8],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
def test_an_axis_covers_its_times_in_at_most_five_steps(seconds, zone):
    end = START + timedelta(seconds=seconds)

    with timezone.override(ZoneInfo(zone)):
        axis = TimeAxis.around(START, end)

    assert axis.start <= START
    assert end <= axis.end
    assert 1 <= len(axis.ticks) <= 5
    labels = [tick.label for tick in axis.ticks]
    assert all(label != other for label, other in pairwise(labels))


def test_ticks_are_full_hours_of_the_reader():
    with timezone.override(ZoneInfo("Asia/Kathmandu")):
        axis = TimeAxis.around(START, START + timedelta(hours=4))

    assert [tick.label for tick in axis.ticks] == ["18:00", "19:00", "20:00", "21:00", "22:00"]


@pytest.mark.parametrize(
    "day", [datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)]
)
def test_days_with_a_change_of_the_clock_begin_at_midnight(day):
    with timezone.override(ZoneInfo("Europe/Berlin")):
        axis = TimeAxis.around(day, day + timedelta(days=3))

    labels = [tick.label for tick in axis.ticks]
    assert labels == [f"{day.day + number} {day:%b}" for number in range(len(labels))]


def test_bars_are_cut_at_the_axis_and_never_too_narrow_to_be_seen():
    axis = TimeAxis.around(START, START + timedelta(hours=1))
    hour = timedelta(hours=1)

    early = axis.bar("ran", START - 9 * hour, START)
    late = axis.bar("ran", axis.end, axis.end + hour)
    short = axis.bar("ran", START, START)
    every = axis.bar("ran", START - hour, axis.end + 9 * hour)

    assert early.x == "0.0"
    assert float(late.x) + float(late.width) == WIDTH
    assert float(short.width) == MIN_WIDTH
    assert (every.x, every.width) == ("0.0", f"{WIDTH:.1f}")
    assert axis.bar("ran", START - 9 * hour, START - 8 * hour) is None
    assert axis.bar("ran", axis.end + hour, axis.end + 2 * hour) is None
