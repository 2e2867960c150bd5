"""The bench's own arithmetic and parsers; what it measures is no test."""

import pytest

from bench.figures import medians, percentile, range_of, spread
from bench.report import is_met
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


@pytest.mark.parametrize(
    ("aim", "value", "met"), [("<10", 10, True), ("<10", 10.1, False), (">100", 99, False)]
)
def test_an_aim_includes_its_limit(aim, value, met):
    assert is_met(aim, value) is met


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
