"""Reviewers who share an inbox: claims, withdrawals and the grace period at the same moment."""

import time
from datetime import timedelta
from functools import partial

import pytest

from inbox import engine
from inbox.actions.decisions import claims_and_comments, decide, withdrawals
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.people.members import change_team
from inbox.actions.runs import resume, retries
from inbox.actions.runs.resume import resume_if_due
from inbox.actions.runs.start_run import start_run
from inbox.models import Claim, Decision, Run
from inbox.platform.clock import database_now
from inbox.rules.errors import (
    AlreadyDecided,
    AlreadyResumed,
    Claimed,
    InterruptExpired,
    RetryRejected,
    ThreadBusy,
)
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)

pytestmark = pytest.mark.services


def ask(world, scenario="tool_call"):
    return steps.open_interrupts(steps.start(world, f"rehearse:{scenario}"))


def claim(interrupt, actor, **options):
    return partial(claim_interrupt, interrupt_id=interrupt.pk, actor=actor, **options)


def withdraw(interrupt, actor):
    return partial(withdraw_decision, interrupt_id=interrupt.pk, actor=actor)


def resumes(interrupt):
    return Run.objects.filter(resumes=interrupt.run).count()


def meet_at(monkeypatch, module, name):
    """Make two threads wait for each other before they call this function of a module."""
    meeting = Meeting(2)
    monkeypatch.setattr(module, name, meeting.before(getattr(module, name)))
    return meeting


def test_of_two_people_who_claim_at_once_one_is_told_of_the_other(committed_world, race_bob, erin):
    for _ in range(rounds(short=20, long=100)):
        (interrupt,) = ask(committed_world)

        outcomes = at_once([claim(interrupt, race_bob), claim(interrupt, erin)])

        (late,) = failures(outcomes)
        (granted,) = [outcome for outcome in outcomes if isinstance(outcome, Claim)]
        assert isinstance(late, Claimed)
        assert late.detail["by"] == ("Bob" if granted.user_id == race_bob.user_id else "Erin")
        entries = interrupt.audit.order_by("seq").values_list("action", flat=True)
        assert list(entries) == ["interrupt.opened", "interrupt.claimed", "interrupt.refused"]


def test_without_the_lock_the_constraint_prevents_two_claims(
    committed_world, race_bob, erin, monkeypatch, without_the_lock
):
    (interrupt,) = ask(committed_world)
    meeting = meet_at(monkeypatch, claims_and_comments, "check_open")

    outcomes = at_once([claim(interrupt, race_bob), claim(interrupt, erin)])

    assert meeting.met
    assert [type(error).__name__ for error in failures(outcomes)] == ["IntegrityError"]


def test_a_claim_and_another_persons_answer_exclude_each_other(committed_world, race_bob, erin):
    for _ in range(rounds(short=20, long=100)):
        (interrupt,) = ask(committed_world)

        outcomes = at_once([claim(interrupt, race_bob), partial(steps.approve, interrupt, erin)])

        claimed, answered = outcomes
        if isinstance(claimed, Claim):
            assert isinstance(answered, Claimed)
            assert steps.open_interrupts(interrupt.run) == [interrupt]
        else:
            assert isinstance(claimed, AlreadyDecided)
            assert isinstance(answered, Decision)
            assert not Claim.objects.filter(interrupt=interrupt).exists()


def test_a_claim_and_my_own_answer_leave_no_claim_on_what_is_closed(committed_world, race_bob):
    for _ in range(rounds(short=20, long=100)):
        (interrupt,) = ask(committed_world)

        at_once([claim(interrupt, race_bob), partial(steps.approve, interrupt, race_bob)])

        assert steps.reread(interrupt).status == "resolved"
        assert not Claim.objects.filter(interrupt=interrupt).exists()


def test_without_the_lock_a_claim_is_left_on_what_is_closed(
    committed_world, race_bob, erin, monkeypatch, without_the_lock, without_the_trail
):
    (interrupt,) = ask(committed_world)
    meeting = Meeting(2)
    for module, name in ((claims_and_comments, "check_open"), (decide, "check_not_claimed")):
        monkeypatch.setattr(module, name, meeting.after(getattr(module, name)))

    outcomes = at_once([claim(interrupt, race_bob), partial(steps.approve, interrupt, erin)])

    assert meeting.met
    assert failures(outcomes) == []
    assert steps.reread(interrupt).status == "resolved"
    assert Claim.objects.filter(interrupt=interrupt).exists()


def test_withdrawal_racing_the_last_answer_leaves_open_interrupt_or_resume(
    committed_world, race_bob, erin
):
    for _ in range(rounds(short=30, long=200)):
        first, second = ask(committed_world, "parallel:2")
        steps.approve(first, race_bob)

        outcomes = at_once([withdraw(first, race_bob), partial(steps.approve, second, erin)])

        withdrawn = isinstance(outcomes[0], Decision)
        assert withdrawn or isinstance(outcomes[0], AlreadyResumed)
        assert isinstance(outcomes[1], Decision)
        assert resumes(first) == (0 if withdrawn else 1)
        assert steps.reread(first).status == ("open" if withdrawn else "resolved")
        if not withdrawn:
            resume = Run.objects.get(resumes=first.run)
            engine.execute_run(resume.pk)
            assert [result["ok"] for result in steps.results(resume)] == [True, True]


def test_without_the_lock_the_agent_gets_an_answer_that_was_taken_back(
    committed_world, race_bob, erin, monkeypatch, without_the_lock, without_the_trail
):
    first, second = ask(committed_world, "parallel:2")
    steps.approve(first, race_bob)
    meeting = Meeting(2)
    for module, name in (
        (withdrawals, "check_withdrawal"),
        (decide, "queue_resume_if_complete"),
    ):
        monkeypatch.setattr(module, name, meeting.after(getattr(module, name)))

    outcomes = at_once([withdraw(first, race_bob), partial(steps.approve, second, erin)])

    assert meeting.met
    assert failures(outcomes) == []
    assert (resumes(first), steps.reread(first).status) == (1, "open")


def test_withdrawal_racing_expiry_leaves_answered_or_expired_interrupt(committed_world, race_bob):
    """What is taken back just before it expires is expired by the sweeper, which never skips it."""
    change_team(team_id=committed_world.team.pk, grace_seconds=60, actor=SEED)
    for index in range(rounds(short=6, long=30)):
        (interrupt,) = ask(committed_world)
        steps.approve(interrupt, race_bob)
        interrupt.expires_at = database_now() + timedelta(seconds=0.3)
        interrupt.save(update_fields=["expires_at"])
        moment = interrupt.expires_at.timestamp() + (index % 3 - 1) * 0.002
        due = time.monotonic() + moment - database_now().timestamp()

        def at_the_moment(call, due=due):
            time.sleep(max(0.0, due - time.monotonic()))
            return call()

        outcomes = at_once(
            [
                partial(at_the_moment, withdraw(interrupt, race_bob)),
                partial(at_the_moment, partial(expire_interrupts, thread_id=interrupt.thread_id)),
            ]
        )
        while database_now() < interrupt.expires_at:
            time.sleep(0.001)
        expire_interrupts(thread_id=interrupt.thread_id)  # the next sweep, if that came too early

        withdrawn = isinstance(outcomes[0], Decision)
        assert withdrawn or isinstance(outcomes[0], InterruptExpired)
        assert not isinstance(outcomes[1], BaseException)
        decision = Decision.objects.get(interrupt=interrupt, withdrawn_at=None)
        assert (decision.actor_label, steps.reread(interrupt).status) == (
            ("system:expiry", "expired") if withdrawn else ("Bob", "resolved")
        )


@pytest.fixture
def due(committed_world, race_bob):
    """A question whose answer is due to resume its run right now, and still in its grace period."""
    change_team(team_id=committed_world.team.pk, grace_seconds=60, actor=SEED)

    def answered(**columns):
        (interrupt,) = ask(committed_world)
        steps.approve(interrupt, race_bob)
        if columns:
            Run.objects.filter(pk=interrupt.run_id).update(**columns)
        return interrupt

    return answered


def test_a_withdrawal_and_the_end_of_the_grace_period_exclude_each_other(due, race_bob):
    for index in range(rounds(short=20, long=100)):
        moment = database_now() + timedelta(milliseconds=20 + index % 5)
        interrupt = due(resume_at=moment)
        starts = time.monotonic() + (moment - database_now()).total_seconds()

        def at_the_moment(call, starts=starts):
            time.sleep(max(0.0, starts - time.monotonic()))
            return call()

        outcomes = at_once(
            [
                partial(at_the_moment, withdraw(interrupt, race_bob)),
                partial(at_the_moment, partial(resume_if_due, run_id=interrupt.run_id)),
            ]
        )
        resume_if_due(run_id=interrupt.run_id)  # the next sweep

        withdrawn = isinstance(outcomes[0], Decision)
        assert withdrawn or isinstance(outcomes[0], AlreadyResumed)
        assert not isinstance(outcomes[1], BaseException)
        assert resumes(interrupt) == (0 if withdrawn else 1)
        assert steps.reread(interrupt).status == ("open" if withdrawn else "resolved")
        assert steps.reread(interrupt.run).resume_at is None


def test_four_sweepers_queue_a_resume_that_is_due_once(due):
    for _ in range(rounds(short=20, long=100)):
        interrupt = due(resume_at=database_now())

        outcomes = at_once([partial(resume_if_due, run_id=interrupt.run_id)] * 4)

        assert failures(outcomes) == []
        assert sum(outcome is not None for outcome in outcomes) == 1
        assert resumes(interrupt) == 1


def test_without_the_lock_the_constraint_prevents_two_resumes(due, monkeypatch, without_the_lock):
    interrupt = due(resume_at=database_now())
    meeting = meet_at(monkeypatch, resume, "queue_resume")

    outcomes = at_once([partial(resume_if_due, run_id=interrupt.run_id)] * 2)

    assert meeting.met
    assert [type(error).__name__ for error in failures(outcomes)] == ["IntegrityError"]
    assert resumes(interrupt) == 1


def broken_run(world):
    run = steps.start(world, "rehearse:error")
    assert run.status == "failed"
    return run


def test_a_run_that_four_people_retry_at_once_is_retried_once(committed_world, race_bob):
    for _ in range(rounds(short=20, long=100)):
        run = broken_run(committed_world)

        outcomes = at_once([partial(engine.retry_run, run.pk, race_bob)] * 4)

        assert failures(outcomes) == []
        assert sorted(accepted.replayed for accepted in outcomes) == [False, True, True, True]
        assert Run.objects.filter(retries=run).count() == 1


def test_without_the_lock_the_constraints_prevent_two_retries(
    committed_world, race_bob, monkeypatch, without_the_lock
):
    run = broken_run(committed_world)
    meeting = meet_at(monkeypatch, retries, "queue_run")

    outcomes = at_once([partial(engine.retry_run, run.pk, race_bob)] * 2)

    assert meeting.met
    assert [type(error).__name__ for error in failures(outcomes)] == ["IntegrityError"]
    assert Run.objects.filter(retries=run).count() == 1


def test_a_retry_and_a_new_input_exclude_each_other(committed_world, race_bob):
    for _ in range(rounds(short=20, long=100)):
        run = broken_run(committed_world)
        say = partial(
            start_run,
            agent=committed_world.agent,
            request=steps.request("rehearse:echo", thread_id=run.thread.external_id),
            actor=race_bob,
        )

        outcomes = at_once([partial(engine.retry_run, run.pk, race_bob), say])

        (refused,) = failures(outcomes)
        assert isinstance(refused, RetryRejected | ThreadBusy)
        assert run.thread.runs.count() == 2
