"""What was approved is what runs: decisions are signed, and checked before anything runs."""

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import override_settings

from agents.demo_agent import execution_counter
from inbox import engine, sweeper
from inbox.models import AuditEntry, Decision, Interrupt, Run, Team, ToolCall
from inbox.rules import errors
from inbox.rules.decisions.consent import view_digest
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.steps import (
    approve,
    deny,
    open_interrupts,
    start,
)


@pytest.fixture
def approved(world, bob):
    """A resume that is queued: the e-mail was approved, and has not been sent."""
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    approve(interrupt, bob)
    return Run.objects.get(resumes=run)


@pytest.fixture
def executions():
    return lambda run: sum(
        execution_counter.count(run.thread.external_id, call.tool_call_id)
        for call in ToolCall.objects.filter(thread=run.thread_id)
    )


def drive(run):
    engine.execute_run(run.pk)
    return steps.reread(run)


def test_an_approved_call_runs(approved, executions):
    ended = drive(approved)

    assert (ended.status, executions(approved)) == ("succeeded", 1)


def change_payload(run):
    Decision.objects.update(payload='{"approved":true,"note":"changed"}')


def change_actor(run):
    Decision.objects.update(actor_label="Somebody", user_id=None)


def change_time(run):
    decision = Decision.objects.get()
    Decision.objects.update(created_at=decision.created_at - timedelta(seconds=1))


def change_arguments(run):
    ToolCall.objects.update(edited_args='{"amount":9000,"to":"attacker"}')


def change_proposal(run):
    ToolCall.objects.update(args='{"amount":9000,"to":"attacker"}')


def change_arguments_and_their_digest(run):
    from inbox.rules.decisions.consent import digest

    args = '{"amount":9000,"to":"attacker"}'
    ToolCall.objects.update(edited_args=args)
    Decision.objects.update(args_digest=digest(args))


def change_question(run):
    interrupt = Interrupt.objects.get()
    body = {**json.loads(interrupt.body), "message": "Something harmless"}
    Interrupt.objects.update(body=json.dumps(body))


def change_status(run):
    Interrupt.objects.update(status="cancelled")


def remove_signature(run):
    Decision.objects.update(signature="")


def move_question_to_another_run(run):
    Interrupt.objects.update(run=run)


BY_HAND = [
    change_payload,
    change_actor,
    change_time,
    change_arguments,
    change_proposal,
    change_arguments_and_their_digest,
    change_question,
    change_status,
    remove_signature,
    move_question_to_another_run,
]


@pytest.mark.parametrize("by_hand", BY_HAND, ids=lambda change: change.__name__)
def test_a_row_changed_by_hand_lets_no_tool_run(approved, executions, by_hand):
    by_hand(approved)

    ended = drive(approved)

    assert (ended.status, ended.error_code) == ("failed", "DECISION_NOT_VERIFIED")
    assert executions(approved) == 0


def test_a_decision_written_by_hand_resumes_nothing(world, bob, executions):
    """The verify step of an attacker who can write to the database, and has no key."""
    run = start(world, "rehearse:tool_call")
    interrupt = Interrupt.objects.get()
    now = interrupt.created_at
    Decision.objects.create(
        interrupt=interrupt,
        status="resolved",
        payload='{"approved":true}',
        view_digest=interrupt.view_digest,
        actor_kind="human",
        actor_label="Bob",
        user=world.bob,
        created_at=now,
    )
    Interrupt.objects.update(status="resolved", closed_at=now)
    Run.objects.filter(pk=run.pk).update(resume_at=now)

    sweeper.sweep()

    resume = Run.objects.get(resumes=run)
    assert (resume.status, resume.error_code) == ("failed", "DECISION_NOT_VERIFIED")
    assert executions(run) == 0


def test_a_denial_turned_into_an_approval_runs_nothing(world, bob, executions):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    deny(interrupt, bob)
    resume = Run.objects.get(resumes=run)
    Decision.objects.update(payload='{"approved":true}')
    ToolCall.objects.update(state="proposed", verdict="approved")

    assert drive(resume).error_code == "DECISION_NOT_VERIFIED"
    assert executions(run) == 0


def forge_arguments(run):
    ToolCall.objects.update(args='{"amount":9000}', edited_args=None)


def deny_by_hand(run):
    Decision.objects.update(payload='{"approved":false}')


def shorten_the_time(run):
    Team.objects.update(execute_within_hours=0)


def lapse(run):
    ToolCall.objects.update(state="lapsed")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (forge_arguments, "ARGUMENTS_NOT_APPROVED"),
        (change_payload, "DECISION_NOT_VERIFIED"),
        (deny_by_hand, "DECISION_NOT_VERIFIED"),
        (shorten_the_time, "APPROVAL_LAPSED"),
        (lapse, "AGENT_ERROR"),
    ],
)
def test_the_executor_refuses_what_changed_after_the_resume_began(
    approved, executions, monkeypatch, change, code
):
    from inbox.actions.runs import run_lease

    begin = run_lease.start_tool_calls

    def change_then_begin(**begun):
        change(approved)
        return begin(**begun)

    monkeypatch.setattr(run_lease, "start_tool_calls", change_then_begin)

    ended = drive(approved)

    assert (ended.status, ended.error_code) == ("failed", code)
    assert executions(approved) == 0


def test_a_signature_of_a_former_key_counts_after_a_rotation(world, bob, executions):
    run = start(world, "rehearse:tool_call")
    with override_settings(DECISION_KEYS=["an old key of thirty-two characters"]):
        approve(open_interrupts(run)[0], bob)
    resume = Run.objects.get(resumes=run)
    keys = ["a new key of thirty-two characters!", "an old key of thirty-two characters"]

    with override_settings(DECISION_KEYS=keys):
        assert drive(resume).status == "succeeded"
    assert executions(run) == 1


def test_keys_of_its_own_leave_what_the_secret_key_signed_valid(approved):
    with override_settings(DECISION_KEYS=["a first key of thirty-two characters"]):
        assert drive(approved).status == "succeeded"


def test_a_signature_of_an_unknown_key_does_not_count(approved):
    with override_settings(SECRET_KEY="another key of thirty-two characters"):
        assert drive(approved).error_code == "DECISION_NOT_VERIFIED"


def test_a_withdrawn_decision_has_no_signature(world, bob):
    from inbox.actions.decisions.withdrawals import withdraw_decision

    first, *_ = open_interrupts(start(world, "rehearse:parallel3"))
    approve(first, bob)

    withdraw_decision(interrupt_id=first.pk, actor=bob)

    assert Decision.objects.get().signature == ""


# -- asking again ---------------------------------------------------------------------------------


def test_a_retry_after_a_failed_verification_asks_people_again(approved, bob, executions):
    change_arguments(approved)
    failed = drive(approved)

    asking = engine.retry_run(failed.pk, bob).run

    assert asking.status == "interrupted"
    (again,) = open_interrupts(asking)
    assert again.repeats == approved.resumes.interrupts.get()
    assert "attacker" not in again.args
    approve(again, bob)
    ended = steps.resumed_run(asking)
    assert (ended.status, executions(approved)) == ("succeeded", 1)


def test_an_approval_that_nobody_used_in_time_lapses(approved, later, executions):
    later(hours=25)

    ended = drive(approved)

    assert (ended.status, ended.error_code) == ("failed", "APPROVAL_LAPSED")
    assert ToolCall.objects.get(thread=approved.thread_id).state == "lapsed"
    assert executions(approved) == 0


def test_the_time_of_an_approval_counts_from_when_its_set_was_complete(world, bob, later):
    Team.objects.update(execute_within_hours=1)
    run = start(world, "rehearse:parallel3")
    first, *others = open_interrupts(run)
    approve(first, bob)
    later(minutes=50)
    for interrupt in others:
        approve(interrupt, bob)
    later(minutes=100)

    assert steps.resumed_run(run).status == "succeeded"


def test_a_call_that_started_in_time_is_made_again_after_a_lost_worker(
    approved, monkeypatch, later
):
    killed = kill_while_driving(approved, monkeypatch=monkeypatch, at="finish_run")
    later(hours=25)
    sweeper.sweep()

    assert drive(killed).status == "succeeded"


def test_a_team_sets_after_how_long_approvals_lapse(approved, later):
    Team.objects.update(execute_within_hours=72)
    later(hours=71)

    assert drive(approved).status == "succeeded"


def test_a_retry_of_a_lapsed_approval_asks_people_again(approved, bob, later, executions):
    later(hours=25)
    failed = drive(approved)

    asking = engine.retry_run(failed.pk, bob).run
    (again,) = open_interrupts(asking)
    approve(again, bob)

    assert steps.resumed_run(asking).status == "succeeded"
    assert executions(approved) == 1


def test_a_lapsed_approval_stays_so_when_the_team_waits_longer(approved, later):
    later(hours=25)
    failed = drive(approved)
    Team.objects.update(execute_within_hours=72)

    asking = engine.retry_run(failed.pk, SEED).run

    assert asking.status == "interrupted"


def test_a_denial_of_what_was_asked_again_counts(approved, bob, later, executions):
    later(hours=25)
    asking = engine.retry_run(drive(approved).pk, bob).run

    deny(open_interrupts(asking)[0], bob)

    assert steps.resumed_run(asking).status == "succeeded"
    assert executions(approved) == 0


def test_a_retry_that_would_run_approved_calls_needs_a_reviewer(approved, alice, monkeypatch):
    from inbox.actions.runs.run_termination import fail_run
    from inbox.models.locks import lock_thread

    with transaction.atomic():
        thread, now = lock_thread(approved.thread_id)
        failure = errors.ProtocolBroken("before anything ran")
        fail_run(thread=thread, run=approved, failure=failure, now=now)

    with pytest.raises(errors.Forbidden):
        engine.retry_run(approved.pk, alice)


def test_why_a_run_was_refused_is_in_the_trail(world, bob, executions):
    run = start(world, "rehearse:tool_call")
    Team.objects.update(grace_seconds=5)
    approve(open_interrupts(run)[0], bob)
    change_arguments(run)
    Run.objects.filter(pk=run.pk).update(resume_at=run.finished_at)

    sweeper.sweep()

    failed = AuditEntry.objects.get(action="run.failed")
    assert json.loads(failed.payload.text)["detail"]["code"] == "DECISION_NOT_VERIFIED"


def test_an_interrupt_of_the_first_formula_is_decided_as_before(world, bob, executions):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    first = view_digest(
        version=1, interrupt=json.loads(interrupt.body), tool=interrupt.tool, args=interrupt.args
    )
    Interrupt.objects.update(view_version=1, view_digest=first)

    approve(interrupt, bob)

    assert steps.resumed_run(run).status == "succeeded"
