"""The bench's own arithmetic and parsers; what it measures is no test."""

import psutil
import pytest

from bench.figures import medians, percentile, range_of, spread
from bench.meter import foreign_cpu_seconds
from bench.plan import FOREIGN_CORES, turns
from bench.report import neighbours, ratio, table
from bench.wire import FrameParser, parse_head


@pytest.mark.parametrize(
    ("percent", "expected"), [(50, 5), (95, 10), (99, 10), (10, 1), (11, 2), (100, 10)]
)
def test_a_percentile_is_one_of_the_values(percent, expected):
    assert percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percent) == expected


def test_there_is_no_percentile_of_nothing():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_a_spread_is_in_milliseconds():
    assert spread("trip", [0.001, 0.002, 0.003]) == {
        "trip p50 ms": 2.0,
        "trip p95 ms": 3.0,
        "trip p99 ms": 3.0,
    }


def test_a_median_is_taken_figure_by_figure():
    runs = [{"a": 1.0, "b": 5.0}, {"a": 3.0, "b": 5.0}, {"a": 2.0, "b": None}]

    assert medians(runs) == {"a": 2.0, "b": None}
    assert range_of(runs, "a") == (1.0, 3.0)
    assert range_of([{"b": None}], "b") is None


def test_subjects_take_turns_and_the_order_changes_every_round():
    assert [*turns(["bare", "a", "b"], 2)] == ["bare", "a", "b", "b", "a", "bare"]


def test_a_ratio_is_the_median_of_the_ratios_of_rounds():
    bare = [{"p50": 1.0}, {"p50": 10.0}, {"p50": 2.0}]
    product = [{"p50": 3.0}, {"p50": 20.0}, {"p50": 4.0}]

    assert ratio(bare, product, "p50") == 2.0
    assert ratio(bare, [{}, {}, {}], "p50") is None
    assert ratio([{"p50": 0.0}] * 3, product, "p50") is None


def test_a_table_has_each_subject_and_its_ratio_to_bare():
    rounds = {"bare": [{"p50 ms": 2.0}], "embedded": [{"p50 ms": 5.0, "pages ms": 7.0}]}

    lines = table({"W1": rounds}, ["bare", "embedded"], base="bare").splitlines()

    assert [line.split() for line in lines] == [
        ["bare", "embedded", "vs", "bare"],
        ["W1"],
        ["p50", "ms", "2", "5", "x2.50"],
        ["pages", "ms", "-", "7"],
    ]


def test_the_report_says_what_other_processes_used():
    rounds = {"bare": [{FOREIGN_CORES: 0.5}, {FOREIGN_CORES: 1.5}, {FOREIGN_CORES: 0.25}]}

    assert neighbours({"W1": rounds}).startswith("Other processes used 0.5 of ")
    assert "at most 1.5" in neighbours({"W1": rounds})


def test_foreign_processor_time_is_a_part_of_that_of_the_machine():
    foreign = foreign_cpu_seconds()

    assert 0 <= foreign <= sum(psutil.cpu_times())


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_frames_are_cut_wherever_the_network_cuts_the_bytes(size):
    stream = b': keep-alive\n\nid: 1\ndata: {"a":1}\n\ndata: {"b":2}\n\nid: 3\ndata: {"c'
    parser = FrameParser()

    frames = [
        data
        for start in range(0, len(stream), size)
        for data in parser.feed(stream[start : start + size])
    ]

    assert frames == [b'{"a":1}', b'{"b":2}']


def test_a_head_keeps_all_cookies():
    head = parse_head(
        b"HTTP/1.1 302 Found\r\nSet-Cookie: csrftoken=a; Path=/\r\n"
        b"Set-Cookie: sessionid=b=c; HttpOnly\r\nLocation: /\r\n\r\n"
    )

    assert head.status == 302
    assert head.cookies == {"csrftoken": "a", "sessionid": "b=c"}
    assert head.headers["location"] == "/"
