"""Runs that wait for a thread: other runs of this process start them when they end."""

from datetime import timedelta

import pytest

from inbox import engine
from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.runs.start_run import start_run
from inbox.engine import worker
from inbox.engine.worker_shares import WorkerShares
from inbox.models import Run
from inbox.platform.clock import database_now
from inbox.queries.runs.overdue import runs_queued_for
from inbox.queries.runs.queued_runs import is_resume, queued_runs
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.steps import request


@pytest.fixture
def shares(monkeypatch, settings):
    settings.CELERY_WORKER_CONCURRENCY = 2
    shares = WorkerShares()
    monkeypatch.setattr(worker, "shares", shares)
    return shares


@pytest.fixture
def queue(world, alice):
    """Queue a run, the first one the longest ago."""
    queued = []

    def queue(agent=None, text="rehearse:echo"):
        run = start_run(agent=agent or world.agent, request=request(text), actor=alice).run
        queued.append(run)
        Run.objects.filter(pk=run.pk).update(
            queued_at=database_now() - timedelta(minutes=10) + timedelta(seconds=len(queued))
        )
        return run

    return queue


@pytest.fixture
def desk(world):
    return ensure_agent(
        team=world.team, slug="desk", implementation="rehearsal", description="", actor=SEED
    )


def statuses(*runs):
    return [steps.reread(run).status for run in runs]


def resume(queue, bob):
    interrupted = queue(text="rehearse:tool_call")
    engine.execute_run(interrupted.pk)
    steps.approve(steps.open_interrupts(interrupted)[0], bob)
    return Run.objects.get(resumes=interrupted)


def test_a_run_beyond_the_share_of_its_team_stays_queued(queue, shares, world):
    run = queue()
    shares.take(world.team.pk, world.agent.pk, is_resume=False)

    engine.execute_run(run.pk)

    assert statuses(run) == ["queued"]


def test_a_resume_starts_beside_as_many_new_runs_as_may_start(queue, shares, world, bob):
    run = resume(queue, bob)
    while shares.take(world.team.pk, world.agent.pk, is_resume=False):
        pass

    engine.execute_run(run.pk)

    assert statuses(run) == ["succeeded"]


def test_a_run_that_ends_starts_the_runs_that_waited(queue, shares, world, bob):
    first, second = queue(), queue()
    thread = shares.take(world.team.pk, world.agent.pk, is_resume=False)
    engine.execute_run(first.pk)
    engine.execute_run(second.pk)
    thread.release()

    engine.execute_run(resume(queue, bob).pk)

    assert statuses(first, second) == ["succeeded", "succeeded"]


def test_no_run_looks_at_the_queue_while_none_waits(queue, shares, django_assert_num_queries):
    engine.execute_run(queue().pk)

    with django_assert_num_queries(0):
        worker.drive_waiting_runs()


def test_a_thread_is_given_back_when_the_claim_fails(queue, shares, world, monkeypatch):
    run = queue()

    def fail(*_, **__):
        raise RuntimeError("no connection")

    monkeypatch.setattr("inbox.actions.runs.run_lease.append_run_started", fail)
    with pytest.raises(RuntimeError):
        engine.execute_run(run.pk)

    assert shares.runs_of(world.team.pk) == 0
    assert shares.may_take(world.team.pk, world.agent.pk, is_resume=False)


def test_queued_runs_come_in_turns_and_resumes_first(queue, desk, bob, shares):
    first, second, third = queue(), queue(), queue()
    other = queue(desk)
    approved = resume(queue, bob)

    assert [run.run_id for run in queued_runs(most=10)] == [
        approved.pk,
        first.pk,
        other.pk,
        second.pk,
        third.pk,
    ]
    assert is_resume(approved)
    assert not is_resume(first)


def test_the_sweeper_wakes_runs_behind_a_long_queue(queue, desk, monkeypatch):
    monkeypatch.setattr("inbox.queries.runs.overdue._MAX_ROWS", 2)
    first, _ = queue(), queue()
    other = queue(desk)

    assert runs_queued_for(timedelta(seconds=5)) == [first.pk, other.pk]
