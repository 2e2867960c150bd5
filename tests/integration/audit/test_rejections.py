"""What somebody tried, and was refused, is in the trail with its code; for strangers nothing is."""

import pytest

from inbox.actions.audit.rejections import is_recorded
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.retries import retry_run
from inbox.actions.runs.start_run import start_run
from inbox.rules import errors
from tests.support import steps
from tests.support.audit.entries import audited
from tests.support.steps import approve, open_interrupts, start


def claim(interrupt, actor):
    claim_interrupt(interrupt_id=interrupt.pk, actor=actor)


def withdraw(interrupt, actor):
    withdraw_decision(interrupt_id=interrupt.pk, actor=actor)


def cancel(interrupt, actor):
    cancel_run(run_id=interrupt.run_id, actor=actor)


def retry(interrupt, actor):
    retry_run(run_id=interrupt.run_id, actor=actor, restartable=True)


ATTEMPTS = {
    claim: ("interrupt.refused", "claim", "CLAIMED"),
    withdraw: ("interrupt.refused", "withdraw", "FORBIDDEN"),
    cancel: ("run.refused", "cancel", "CLAIMED"),
    retry: ("run.refused", "retry", "RETRY_REFUSED"),
}


@pytest.fixture
def interrupt(world):
    """A question of a run that has paused; its run has not failed, and cannot be tried again."""
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_an_attempt_that_is_refused_is_written_down(attempt, interrupt, bob, dora):
    claim(interrupt, bob)

    with pytest.raises(errors.RequestRejected):
        attempt(interrupt, dora)

    action, tried, code = ATTEMPTS[attempt]
    assert audited(action) == [(action, {"tried": tried, "code": code})]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_stranger_leaves_no_entry(attempt, interrupt, carol):
    with pytest.raises(errors.NotFound):
        attempt(interrupt, carol)

    assert audited("interrupt.refused") == audited("run.refused") == []


def test_what_is_done_already_is_no_refusal(interrupt, bob):
    approve(interrupt, bob)
    approve(interrupt, bob)

    assert audited("interrupt.refused") == []


def test_repeated_refusals_of_one_kind_are_folded(interrupt, alice, bob, dora):
    claim(interrupt, bob)

    for _ in range(12):
        with pytest.raises(errors.Claimed):
            claim(interrupt, dora)
    with pytest.raises(errors.Forbidden):
        withdraw(interrupt, dora)

    assert [detail for _, detail in audited("interrupt.refused")] == [
        {"tried": "claim", "code": "CLAIMED"},
        {"tried": "claim", "code": "CLAIMED", "count": 10},
        {"tried": "withdraw", "code": "FORBIDDEN"},
    ]


@pytest.mark.parametrize(
    ("count", "recorded"),
    [(1, True), (2, False), (9, False), (10, True), (11, False), (20, False), (100, True)],
)
def test_entries_are_written_for_powers_of_ten(count, recorded):
    assert is_recorded(count) is recorded


def test_repeated_rejected_resumes_are_folded(world, interrupt, bob):
    entries = (steps.ResumeEntry("x", "resolved", True),)

    for _ in range(3):
        sent = steps.request(thread_id=interrupt.thread.external_id, entries=entries)
        with pytest.raises(errors.UnknownInterrupt):
            start_run(agent=world.agent, request=sent, actor=bob)

    assert len(audited("resume.rejected")) == 1
