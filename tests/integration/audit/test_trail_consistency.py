"""`audit_verify` compares the trail with the rows that it is about, and says where they differ."""

import json
from datetime import timedelta

import pytest

from inbox.actions.audit.erasure import erase_expired, set_retention
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.models import AuditEntry, Decision, Interrupt, Run, ToolCall
from inbox.rules.people.access import SEED
from inbox.transparency_log.reconciliation import reconcile
from tests.support import steps
from tests.support.steps import (
    approve,
    deny,
    open_interrupts,
    start,
)


@pytest.fixture
def history(world, bob):
    """A call that was approved and ran, one that was denied, and an answer that was withdrawn."""
    run = start(world, "rehearse:tool_call")
    approve(open_interrupts(run)[0], bob)
    steps.resumed_run(run)
    denied = start(world, "rehearse:tool_call")
    deny(open_interrupts(denied)[0], bob)
    steps.resumed_run(denied)
    first, *_ = open_interrupts(start(world, "rehearse:parallel3"))
    approve(first, bob)
    withdraw_decision(interrupt_id=first.pk, actor=bob)
    return run


def places(findings):
    return {finding.place for finding in findings}


def codes(findings):
    return {finding.code for finding in findings}


def test_what_happened_agrees_with_the_trail(history):
    assert reconcile() == []


def test_a_decision_written_by_hand_is_found(world, bob, history):
    interrupt = Interrupt.objects.filter(status="open").first()
    Decision.objects.create(
        interrupt=interrupt,
        status="resolved",
        payload='{"approved":true}',
        actor_kind="human",
        actor_label="Bob",
        user=world.bob,
        created_at=interrupt.created_at,
    )

    assert "decision_not_recorded" in codes(reconcile())


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.update(payload='{"approved":true,"x":1}'),
        lambda rows: rows.update(args_digest="0" * 64),
        lambda rows: rows.update(user=None, actor_label="Somebody"),
        lambda rows: rows.update(signature=""),
        lambda rows: rows.update(created_at=rows.get().created_at + timedelta(seconds=1)),
    ],
    ids=["payload", "arguments", "actor", "signature", "time"],
)
def test_a_changed_decision_is_found(history, change):
    change(Decision.objects.filter(interrupt__run=history))

    assert "decision" in places(reconcile())


def test_a_withdrawal_that_was_undone_is_found(history):
    Decision.objects.exclude(withdrawn_at=None).update(withdrawn_at=None)

    assert "withdrawal_gone" in codes(reconcile())


def test_a_changed_interrupt_is_found(history):
    interrupt = history.interrupts.get()
    body = {**json.loads(interrupt.body), "message": "Something harmless"}
    history.interrupts.update(body=json.dumps(body))

    assert reconcile() != []


def test_a_start_without_an_entry_is_found(history):
    call = ToolCall.objects.filter(started_at=None).first()
    then = call.proposed_at
    ToolCall.objects.filter(pk=call.pk).update(
        state="settled", started_at=then, settled_at=then, result='"42"'
    )

    findings = reconcile()

    assert {(finding.place, finding.arguments["id"]) for finding in findings} == {
        ("tool_call", str(call.pk))
    }
    assert len(findings) == 2


def test_a_result_that_was_taken_away_is_found(history):
    ToolCall.objects.filter(state="settled").update(state="proposed", result=None)

    assert "result_gone" in codes(reconcile())


def test_a_resume_without_an_entry_is_found(history):
    waiting = Run.objects.filter(status="interrupted", resumed_by=None).get()
    waiting.pk, waiting.resumes, waiting.status = None, Run.objects.get(pk=waiting.pk), "succeeded"
    waiting.save(force_insert=True)

    assert "run" in places(reconcile())


def test_erased_texts_are_not_compared(history, later):
    set_retention(team_id=history.team_id, days=1, actor=SEED)
    later(days=2)
    while erase_expired(team_id=history.team_id):
        pass

    assert AuditEntry.objects.filter(payload=None).exists()
    assert reconcile() == []
