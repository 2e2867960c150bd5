"""Two people answer the last two of several parallel interrupts at the same moment."""

from functools import partial

import pytest
from django.db import IntegrityError

from inbox import engine
from inbox.actions.audit import audit_trail
from inbox.actions.decisions import decide
from inbox.models import Decision, Run
from inbox.queries.runs.latest_run import interrupted_run
from tests.support import steps
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)

pytestmark = pytest.mark.services


def ask_all_but_two(world, actor, number):
    """A run that asked `number` questions of which two are left."""
    run = steps.start(world, f"rehearse:parallel:{number}")
    *answered, first, second = steps.open_interrupts(run)
    for interrupt in answered:
        steps.approve(interrupt, actor)
    return run, first, second


def answer_both(run, first, second, bob, erin):
    outcomes = at_once([partial(steps.approve, first, bob), partial(steps.approve, second, erin)])
    return outcomes, list(Run.objects.filter(resumes=run))


def test_exactly_one_resume_and_no_thread_waits(committed_world, race_bob, erin):
    for number in range(rounds(short=40, long=200)):
        run, first, second = ask_all_but_two(committed_world, race_bob, 2 + number % 3)

        outcomes, resumes = answer_both(run, first, second, race_bob, erin)

        assert failures(outcomes) == []
        assert len(resumes) == 1
        engine.execute_run(resumes[0].pk)
        resumed = steps.reread(resumes[0])
        assert resumed.status == "succeeded"
        assert len(steps.results(resumed)) == 2 + number % 3
        assert interrupted_run(run.thread) is None


@pytest.fixture
def meeting(monkeypatch):
    """Hold each reviewer between her own write and the look at the others, and after it."""
    meeting = Meeting(2)
    look = meeting.before(meeting.after(decide.queue_resume_if_complete))
    monkeypatch.setattr(decide, "queue_resume_if_complete", look)
    return meeting


def test_the_lock_keeps_the_second_away_until_the_first_has_committed(
    committed_world, race_bob, erin, meeting
):
    run, first, second = ask_all_but_two(committed_world, race_bob, 2)

    outcomes, resumes = answer_both(run, first, second, race_bob, erin)

    assert not meeting.met
    assert failures(outcomes) == []
    assert len(resumes) == 1


def test_without_the_lock_the_chain_of_the_trail_lets_one_of_them_through(
    committed_world, race_bob, erin, monkeypatch, without_the_lock
):
    run, first, second = ask_all_but_two(committed_world, race_bob, 2)
    meeting = Meeting(2)
    # Both have looked at the other interrupt, and want the same place in the chain.
    monkeypatch.setattr(audit_trail, "_next_place", meeting.after(audit_trail._next_place))

    outcomes, resumes = answer_both(run, first, second, race_bob, erin)

    assert meeting.met
    assert [type(outcome) for outcome in failures(outcomes)] == [IntegrityError]
    assert (len(steps.open_interrupts(run)), resumes) == (1, [])


def test_without_the_lock_both_see_an_open_interrupt_and_nothing_resumes(
    committed_world, race_bob, erin, meeting, without_the_lock, without_the_trail
):
    run, first, second = ask_all_but_two(committed_world, race_bob, 2)

    outcomes, resumes = answer_both(run, first, second, race_bob, erin)

    assert without_the_lock.entries
    assert meeting.met
    assert failures(outcomes) == []
    assert Decision.objects.filter(interrupt__run=run).count() == 2
    assert steps.open_interrupts(run) == []
    assert resumes == []
    assert interrupted_run(run.thread) == run


def test_without_the_lock_the_constraints_allow_one_resume(
    committed_world, race_bob, erin, monkeypatch, without_the_lock
):
    run, first, second = ask_all_but_two(committed_world, race_bob, 2)
    # Both decisions are visible to both: as if each had looked after the other's commit.
    steps.approve(first, race_bob)
    look = partial(_plan_again, run, Meeting(2))
    assert interrupted_run(run.thread) == run
    monkeypatch.setattr(decide, "queue_resume_if_complete", lambda **_: None)
    steps.approve(second, erin)

    outcomes = at_once([look, look])

    assert [type(outcome) for outcome in failures(outcomes)] == [IntegrityError]
    assert Run.objects.filter(resumes=run).count() == 1


def _plan_again(run, meeting):
    from django.db import transaction

    from inbox.actions.runs.resume import queue_resume_if_complete
    from inbox.models.locks import lock_thread
    from inbox.queries.runs.interrupt_states import load_interrupt_states

    with transaction.atomic():
        thread, now = lock_thread(run.thread_id)
        assert all(item.state.answer for item in load_interrupt_states(run))
        meeting.wait()
        return queue_resume_if_complete(thread=thread, run=run, now=now, started_by="race")
