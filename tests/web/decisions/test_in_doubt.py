"""The question whether a tool call happened, which a lost worker or a restore leaves behind."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from inbox.actions.runs.recovery import recover_run
from inbox.actions.runs.restored_runs import stop_restored_run
from inbox.actions.runs.run_lease import EventBatch, claim_run, start_tool_calls
from inbox.actions.runs.tool_calls import CallAttempt
from tests.support.steps import (
    approve,
    open_interrupts,
    reread,
    start,
)
from tests.support.web.pages import decision_form, sent, words


@pytest.fixture
def doubt(world, bob):
    """The interrupt about a charge whose worker died between its start and its result."""
    interrupt = open_interrupts(start(world, "rehearse:effect:one"))[0]
    approve(interrupt, bob)
    run, lease = claim_run(run_id=type(interrupt.run).objects.get(resumes=interrupt.run).pk)
    call = interrupt.tool_call
    start_tool_calls(
        lease=lease,
        batch=EventBatch(),
        attempts=[CallAttempt(call.tool_call_id, call.args, "once")],
    )
    past = timezone.now() - timedelta(seconds=1)
    type(run).objects.filter(pk=run.pk).update(lease_until=past)
    recover_run(run_id=run.pk, restartable=True)
    return open_interrupts(run)[0]


HAPPENED, DID_NOT_HAPPEN, STOP = "0", "1", "2"


def test_the_three_outcomes_are_offered_and_none_is_chosen(doubt, reads_bob):
    form = reads_bob.form(doubt)

    for branch in (HAPPENED, DID_NOT_HAPPEN, STOP):
        assert f"branch:{branch}:answer" in form.buttons
    assert form.control("answer@branch").value == ""


def test_page_shows_the_idempotency_key_and_the_arguments(doubt, reads_bob):
    page = reads_bob.open(doubt)

    assert "Idempotency key of the call" in page
    assert str(doubt.tool_call.pk) in page
    for name in json.loads(doubt.tool_call.args):
        assert name in page.lower()


def test_the_result_is_passed_on_letter_for_letter(doubt, reads_bob):
    result = '{"ok":  true}\nsecond line'

    reads_bob.send(doubt, "answer", **_chosen(reads_bob, doubt, HAPPENED, result))

    assert sent(doubt) == {"outcome": "happened", "result": result}
    assert reread(doubt.tool_call).result == result


@pytest.mark.parametrize(
    ("branch", "outcome"), [(DID_NOT_HAPPEN, "did_not_happen"), (STOP, "stop")]
)
def test_the_other_outcomes_need_no_more(doubt, reads_bob, branch, outcome):
    reads_bob.send(doubt, "answer", **_chosen(reads_bob, doubt, branch))

    assert sent(doubt) == {"outcome": outcome}


def test_nothing_chosen_is_no_answer(doubt, reads_bob):
    response = reads_bob.send(doubt, "answer")

    assert response.status_code == 422
    assert reread(doubt).status == "open"


def _chosen(reader, doubt, branch, result=""):
    """The fields of the form after an outcome was chosen in it."""
    response = reader.send(doubt, "answer", draft=f"branch:{branch}:answer")
    form = decision_form(response.content.decode())
    if result:
        form.fill("answer@0/result", result)
    return dict(form.post().items())


def test_a_restored_request_is_approved_after_a_check(world, reads_bob):
    run = start(world, "rehearse:tool_call")
    stop_restored_run(thread_id=run.thread_id)
    (row,) = open_interrupts(run)

    refusal = reads_bob.send(row, "approve")

    assert refusal.status_code == 422
    assert 'href="#f-restored"' in refusal.content.decode()
    assert "I have checked that it did not run after the backup" in words(refusal)
    assert reread(row).status == "open"
    reads_bob.send(row, "approve", despite_restore="on")
    assert reread(row).status == "resolved"
    assert "Restored from a backup" not in words(reads_bob.get(f"/interrupts/{row.pk}/"))
