"""The deletion of an old thread, and people and programs that use it at the same moment."""

from datetime import timedelta
from functools import partial

import pytest

from inbox.actions.audit import thread_deletion
from inbox.actions.audit.thread_deletion import delete_if_old, keep_thread
from inbox.actions.people.members import change_team
from inbox.actions.runs import start_run as starting
from inbox.actions.runs.retries import retry_run
from inbox.models import AuditEntry, Run, Thread
from inbox.rules.errors import NotFound
from inbox.rules.people.access import SEED
from inbox.transparency_log.reconciliation import reconcile
from tests.support import steps
from tests.support.races.concurrently import Meeting, at_once, failures, rounds

pytestmark = pytest.mark.services


@pytest.fixture
def old_run(committed_world):
    """Return a maker of failed runs, each on a thread that is old enough to be deleted."""
    change_team(team_id=committed_world.team.pk, thread_days=30, actor=SEED)

    def make():
        run = steps.start(committed_world, "rehearse:error")
        assert run.status == "failed"
        thread = Thread.objects.filter(pk=run.thread_id)
        thread.update(updated_at=run.queued_at - timedelta(days=31))
        return run

    return make


def deletion_of(run):
    return partial(delete_if_old, thread_id=run.thread_id)


def message_to(run, world):
    request = steps.request("rehearse:echo", thread_id=run.thread.external_id)
    return partial(
        starting.start_run, agent=world.agent, request=request, actor=world.actor(world.alice)
    )


def test_a_message_finds_the_old_thread_or_a_new_one(old_run, committed_world):
    for _ in range(rounds(short=15, long=100)):
        run = old_run()

        was_deleted, started = at_once([deletion_of(run), message_to(run, committed_world)])

        assert isinstance(was_deleted, bool), was_deleted
        assert (started.run.thread_id == run.thread_id) is not was_deleted
        assert Thread.objects.filter(pk=run.thread_id).exists() is not was_deleted
        assert steps.drive(started).status == "succeeded"
    assert reconcile() == []


def test_a_retry_and_the_deletion_exclude_each_other(old_run, committed_world):
    alice = committed_world.actor(committed_world.alice)
    for _ in range(rounds(short=15, long=100)):
        run = old_run()

        was_deleted, retry = at_once(
            [deletion_of(run), partial(retry_run, run_id=run.pk, actor=alice, restartable=True)]
        )

        assert isinstance(was_deleted, bool), was_deleted
        if was_deleted:
            assert isinstance(retry, NotFound)
        assert Run.objects.filter(pk=run.pk).exists() is not was_deleted
    assert reconcile() == []


def test_a_thread_that_is_kept_at_the_same_moment_is_kept_or_gone(old_run):
    for _ in range(rounds(short=10, long=50)):
        run = old_run()

        was_deleted, thread = at_once(
            [
                deletion_of(run),
                partial(keep_thread, thread_id=run.thread_id, is_kept=True, actor=SEED),
            ]
        )

        assert isinstance(thread, NotFound) is was_deleted
        assert Thread.objects.filter(pk=run.thread_id, is_kept=True).exists() is not was_deleted


def test_two_sweepers_delete_a_thread_once(old_run):
    run = old_run()

    outcomes = at_once([deletion_of(run)] * 4)

    assert sorted(outcomes) == [False, False, False, True]
    assert AuditEntry.objects.filter(chain=run.thread_id, action="thread.deleted").count() == 1


def _meet(monkeypatch):
    """Let the deletion and a message meet after each has found that the other has not come."""
    meeting = Meeting(2)
    for module, name in ((thread_deletion, "_is_idle"), (starting, "_check_idle")):
        monkeypatch.setattr(module, name, meeting.after(getattr(module, name)))
    return meeting


def test_a_message_and_the_deletion_never_meet(old_run, committed_world, monkeypatch):
    run = old_run()
    meeting = _meet(monkeypatch)

    outcomes = at_once([deletion_of(run), message_to(run, committed_world)])

    assert not meeting.met
    assert failures(outcomes) == []


def test_without_the_lock_they_meet(old_run, committed_world, monkeypatch, without_the_lock):
    run = old_run()
    meeting = _meet(monkeypatch)

    outcomes = at_once([deletion_of(run), message_to(run, committed_world)])

    assert meeting.met
    # One of them fails at a foreign key, or the accepted run is deleted with its thread.
    assert failures(outcomes) or not Run.objects.filter(pk=outcomes[1].run.pk).exists()
