"""Concurrent requests do not exceed the limits of a team together."""

from functools import partial

import pytest

from inbox.actions.limits import limit_checks
from inbox.actions.runs import run_lease, start_run
from inbox.models import Run
from inbox.rules.errors import LimitReached
from tests.support.limits import limit_teams
from tests.support.races.concurrently import (
    LONG_WAIT_SECONDS,
    Meeting,
    at_once,
    failures,
    rounds,
)
from tests.support.steps import request


@pytest.fixture
def starts(committed_world):
    """Starts of runs in threads of their own, by the same person."""
    alice = committed_world.actor(committed_world.alice)
    return [
        partial(start_run.start_run, agent=committed_world.agent, request=request(""), actor=alice)
        for _ in range(8)
    ]


@pytest.fixture
def without_the_lock(monkeypatch):
    monkeypatch.setattr(limit_checks, "lock_team", lambda _team_id: None)
    monkeypatch.setattr(Meeting, "wait_seconds", LONG_WAIT_SECONDS)


def meet_before(monkeypatch, module, name):
    """Have two threads wait for each other before they call a function."""
    meeting = Meeting(2)
    monkeypatch.setattr(module, name, meeting.before(getattr(module, name)))
    return meeting


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_as_many_runs_start_as_the_limit_of_the_queue_allows(starts, settings, number):
    limit_teams(settings, queued_runs=3)

    outcomes = at_once(starts)

    assert [type(failure) for failure in failures(outcomes)] == [LimitReached] * 5
    assert Run.objects.filter(status="queued").count() == 3


def test_as_many_threads_begin_as_the_limit_allows(starts, settings):
    limit_teams(settings, threads=3)

    assert len(failures(at_once(starts))) == 5


def test_without_the_lock_of_the_team_too_many_runs_start(
    starts, settings, without_the_lock, monkeypatch
):
    limit_teams(settings, queued_runs=1)
    meeting = meet_before(monkeypatch, start_run, "queue_run")

    assert failures(at_once(starts[:2])) == []
    assert meeting.met
    assert Run.objects.filter(status="queued").count() == 2


def test_under_the_lock_of_the_team_one_run_starts(starts, settings, monkeypatch):
    limit_teams(settings, queued_runs=1)
    meeting = meet_before(monkeypatch, start_run, "queue_run")

    assert len(failures(at_once(starts[:2]))) == 1
    assert not meeting.met


def claims(starts):
    runs = [start().run for start in starts]
    return [partial(run_lease.claim_run, run_id=run.pk) for run in runs]


def test_as_many_runs_are_claimed_as_the_team_may_run(starts, settings):
    limit_teams(settings, running_runs=3)

    outcomes = at_once(claims(starts))

    assert sum(claimed is not None for claimed in outcomes) == 3
    assert Run.objects.filter(status="running").count() == 3


def test_without_the_lock_of_the_team_too_many_runs_are_claimed(
    starts, settings, without_the_lock, monkeypatch
):
    limit_teams(settings, running_runs=1)
    both = claims(starts[:2])
    meet_before(monkeypatch, run_lease, "take_lease")

    at_once(both)

    assert Run.objects.filter(status="running").count() == 2
