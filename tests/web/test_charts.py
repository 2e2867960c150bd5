"""The structures that templates draw as charts."""

from datetime import UTC, datetime, timedelta

import pytest
from django.template.loader import render_to_string

from inbox.web.base.charts import Bucket, Point, column_chart, dot_chart
from tests.support.web.markup import on_one_line

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


def days(*counts):
    return column_chart([Bucket(f"day {n}", count) for n, count in enumerate(counts)])


def height(column):
    return sum(float(part.height) for part in column.parts)


def test_series_stack_in_one_order_whatever_the_order_of_the_counts():
    (column,) = days({"expired": 1, "approved": 2, "rule": 3, "rejected": 1, "edited": 1}).columns

    assert [part.series for part in column.parts] == [
        *("rule", "approved", "edited", "rejected", "expired")
    ]
    tops = [float(part.y) for part in column.parts]
    assert tops == sorted(tops, reverse=True)
    assert (column.parts[0].y, column.parts[0].height) == ("62.5", "37.5")


def test_one_busy_day_is_cut_and_leaves_the_others_readable():
    chart = days(*[{"approved": 5}] * 29, {"rule": 300, "rejected": 37})

    *others, busy = chart.columns
    assert chart.top == 7
    assert all(height(column) > 70 and not column.notch for column in others)
    assert busy.notch
    assert busy.bucket.total == 337
    assert height(busy) == 100


def test_one_busy_day_of_a_week_is_cut_too():
    assert [bool(column.notch) for column in days(*[{"rule": 5}] * 6, {"rule": 337}).columns] == [
        *[False] * 6,
        True,
    ]


def test_busy_days_that_do_not_stand_out_are_not_cut():
    for chart in (
        days({"rule": 9}, {"rule": 10}),
        days({"rule": 7}),
        days(*[{"rule": n} for n in range(1, 31)]),
    ):
        assert not any(column.notch for column in chart.columns)


def test_many_busy_days_are_the_measure_themselves():
    chart = days(*[{"rule": 5}] * 20, *[{"rule": 300}] * 10)

    assert chart.top == 300


def test_empty_days_do_not_lower_the_edge():
    chart = days(*[{}] * 28, {"rule": 9}, {"rule": 10})

    assert chart.top == 10
    assert chart.columns[0].parts == []


def test_without_any_call_there_is_no_busiest_day():
    chart = days({}, {"rule": 0})

    assert (chart.total, chart.top, chart.busiest) == (0, 0, None)


def test_a_small_part_beside_a_large_one_can_be_seen():
    (column,) = days({"rule": 990, "rejected": 1, "expired": 1}).columns

    assert min(float(part.height) for part in column.parts) > 2
    assert round(height(column)) == 100


def test_a_chart_is_drawn_with_its_finding_links_and_a_table():
    buckets = [
        Bucket("17 Nov", {"approved": 5}, url="/audit/?since=1", is_chosen=True),
        *[Bucket("empty", {})] * 3,
        Bucket("18 Nov", {"rule": 337}, tick="18 Nov"),
    ]
    page = on_one_line(
        render_to_string(
            "components/columns.html",
            {"chart": column_chart(buckets), "title": "337 on 18 Nov", "head": "Day"},
        )
    )

    assert 'role="img" aria-label="337 on 18 Nov"' in page
    assert "<b>337</b>" in page
    assert '<th scope="row"><a href="/audit/?since=1">17 Nov</a></th>' in page
    assert page.count('<th scope="row">') == 2
    assert page.count("f-chosen") == 1


def dots(*amounts):
    end = datetime(2026, 11, 27, tzinfo=UTC)
    begin = end - timedelta(days=10)
    points = [Point(begin + timedelta(days=n), amount, "rule") for n, amount in enumerate(amounts)]
    return dot_chart(points, begin=begin, end=end)


def test_dots_have_their_place_by_time_and_amount():
    chart = dots(0, 50, 100)

    assert [(dot.x, dot.y) for dot in chart.dots] == [
        *[("0.0", "100.0"), ("100.0", "50.0"), ("200.0", "0.0")]
    ]
    assert [value for _, value in chart.amounts.ticks] == [0, 50, 100]
    assert chart.amounts.y(1000) == "0.0"


def test_amounts_over_two_decades_have_a_logarithmic_axis():
    chart = dots(5, 50, 5000)

    assert chart.amounts.is_logarithmic
    assert [dot.y for dot in chart.dots] == ["100.0", "66.7", "0.0"]
    assert len(chart.amounts.ticks) <= 4
    assert not dots(5, 500).amounts.is_logarithmic


@pytest.mark.parametrize(
    "amounts", [[1e16, 2e19], [1e-9, 1e-5], [3.1, 3.2, 400.0], [1e300, 1.0], [5e-324, 1.0]]
)
def test_an_axis_has_at_most_four_marks_whatever_the_amounts(amounts):
    points = [Point(BEGIN, amount, "approved") for amount in amounts]

    ticks = dot_chart(points, begin=BEGIN, end=BEGIN + timedelta(days=1)).amounts.ticks

    assert 1 <= len(ticks) <= 5


def test_a_limit_above_all_amounts_has_a_place_of_its_own():
    points = [Point(BEGIN, amount, "approved") for amount in (10.0, 100.0)]

    axis = dot_chart(points, begin=BEGIN, end=BEGIN + timedelta(days=1), limits=[500]).amounts

    assert float(axis.y(500)) < float(axis.y(100)) < float(axis.y(10))


def test_dots_without_a_spread_or_without_points_are_no_error():
    assert [dot.y for dot in dots(0, 0).dots] == ["100.0", "100.0"]
    assert [dot.y for dot in dots(7).dots] == ["0.0"]
    assert dots().dots == []
    assert dots(-5, -1).amounts.low == -5


def test_dots_outside_of_the_time_are_left_out():
    assert len(dots(*range(20)).dots) == 11
