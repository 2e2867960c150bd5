"""Workers that are rung for the same run: one drives it."""

from functools import partial

import pytest

from inbox import engine
from inbox.actions.runs import claim, run_lease
from inbox.actions.runs.recovery import recover_run
from inbox.actions.runs.start_run import start_run
from inbox.rules.errors import LeaseLost
from tests.support import steps
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)

pytestmark = pytest.mark.services


@pytest.fixture
def queue(committed_world):
    alice = committed_world.actor(committed_world.alice)

    def queue_echo():
        return start_run(
            agent=committed_world.agent, request=steps.request("rehearse:echo"), actor=alice
        ).run

    return queue_echo


def test_one_of_four_workers_claims_a_run(queue):
    for _ in range(rounds(short=20, long=100)):
        run = queue()

        outcomes = at_once([partial(run_lease.claim_run, run_id=run.pk)] * 4)

        assert failures(outcomes) == []
        assert sum(claim is not None for claim in outcomes) == 1
        claimed = steps.reread(run)
        assert (claimed.status, claimed.fence, claimed.attempt) == ("running", 1, 1)
        assert steps.event_types(run) == ["RUN_STARTED"]


def test_a_run_that_four_workers_are_rung_for_is_driven_once(queue):
    for _ in range(rounds(short=10, long=100)):
        run = queue()

        outcomes = at_once([partial(engine.execute_run, run.pk)] * 4)

        assert failures(outcomes) == []
        assert steps.reread(run).status == "succeeded"
        assert steps.event_types(run).count("RUN_FINISHED") == 1


def test_without_the_lock_two_workers_find_the_same_run_queued(
    queue, monkeypatch, without_the_lock
):
    run = queue()
    meeting = Meeting(2)
    # Both have read that it is queued, and neither has said that it is not.
    monkeypatch.setattr(run_lease, "save_fields", meeting.before(run_lease.save_fields))

    outcomes = at_once([partial(run_lease.claim_run, run_id=run.pk)] * 2)

    assert without_the_lock.entries
    assert meeting.met
    # The log's numbers are the last line of defence: RUN_STARTED cannot be stored twice.
    assert [type(error).__name__ for error in failures(outcomes)] == ["IntegrityError"]


def test_a_worker_and_the_sweeper_never_both_have_the_run(queue, monkeypatch):
    """The lease ran out; the worker writes at the moment the sweeper takes the run away."""
    monkeypatch.setattr(claim, "LEASE", -claim.LEASE)
    for _ in range(rounds(short=20, long=100)):
        run = queue()
        _, lease = run_lease.claim_run(run_id=run.pk)
        monkeypatch.setattr(claim, "LEASE", abs(claim.LEASE))

        outcomes = at_once(
            [
                partial(run_lease.renew_lease, lease=lease),
                partial(recover_run, run_id=run.pk, restartable=True),
            ]
        )

        monkeypatch.setattr(claim, "LEASE", -claim.LEASE)
        has_lease = not isinstance(outcomes[0], LeaseLost)
        assert steps.reread(run).status == ("running" if has_lease else "queued")
        assert (outcomes[1] is None) == has_lease
        assert [error for error in failures(outcomes) if not isinstance(error, LeaseLost)] == []
