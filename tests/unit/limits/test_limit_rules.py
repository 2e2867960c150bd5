"""The limits of teams, as settings and administrators give them."""

import pytest

from inbox.platform.http.headroom import Headroom
from inbox.rules import errors
from inbox.rules.limits.team_limits import (
    DEFAULT_LIMITS,
    MAX_LIMIT,
    Limit,
    LimitUse,
    check_limits,
    parse_limits,
    reached,
)


def test_the_setting_changes_the_limits_that_it_names():
    limits = parse_limits("queued_runs=5, threads=0")

    assert limits == {**DEFAULT_LIMITS, Limit.QUEUED_RUNS: 5, Limit.THREADS: None}
    assert parse_limits("") == DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("queued_runs", "invalid literal"),
        ("queued_runs=x", "invalid literal"),
        ("queued_runs=-1", "must be 0 to"),
        ("runs=1", "not a valid Limit"),
        ("file_bytes=1", "SIGNOFF_TEAM_FILE_BYTES"),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        parse_limits(text)


@pytest.mark.parametrize("most", [0, -1, MAX_LIMIT + 1])
def test_a_limit_of_a_team_is_a_whole_number_from_one(most):
    check_limits({Limit.THREADS: None, Limit.STREAMS: 1})

    with pytest.raises(errors.InvalidValue) as refusal:
        check_limits({Limit.THREADS: most})

    assert list(refusal.value.detail["problems"]) == ["threads"]


def test_the_use_of_a_limit_is_a_part_of_it():
    assert LimitUse(Limit.THREADS, used=1, most=3, default=3, own=None).percent == 33
    assert LimitUse(Limit.THREADS, used=9, most=3, default=3, own=None).percent == 100
    assert LimitUse(Limit.THREADS, used=9, most=None, default=None, own=None).percent == 0


#: Runs wait instead, and the rate has a message of its own.
_WITHOUT_MESSAGE = {Limit.RUNNING_RUNS, Limit.AGENT_REQUESTS_PER_MINUTE}


@pytest.mark.parametrize("limit", sorted(DEFAULT_LIMITS.keys() - _WITHOUT_MESSAGE))
def test_each_limit_that_refuses_says_so(limit):

    assert "7" in str(reached(limit, 7).message)


def test_headroom_is_granted_far_below_the_limit_only():
    headroom = Headroom()

    assert not headroom.grant("near", used=51, most=100)
    assert headroom.grant("far", used=50, most=100)
    assert not headroom.covers("near")
    assert [headroom.covers("far") for _ in range(7)] == [True] * 6 + [False]


def test_small_limits_are_counted_under_the_lock_each_time():
    assert not Headroom().grant("small", used=1, most=63)
