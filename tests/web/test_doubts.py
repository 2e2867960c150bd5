"""The question whether a tool call happened, which a lost worker leaves behind."""

from datetime import timedelta

import pytest
from django.utils import timezone

from inbox.actions.calls import WantedCall
from inbox.actions.recovery import recover_run
from inbox.actions.work import Batch, begin_tool_calls, claim_run
from tests.steps import approve, open_interrupts, reread, start
from tests.web.pages import sent, words


@pytest.fixture
def doubt(world, bob):
    """The interrupt about a charge whose worker died between its start and its result."""
    asked = open_interrupts(start(world, "rehearse:effect:one"))[0]
    approve(asked, bob)
    run, hold = claim_run(run_id=type(asked.run).objects.get(resumes=asked.run).pk)
    call = asked.tool_call
    begin_tool_calls(
        hold=hold, batch=Batch(), wanted=[WantedCall(call.tool_call_id, call.args, "once")]
    )
    past = timezone.now() - timedelta(seconds=1)
    type(run).objects.filter(pk=run.pk).update(lease_until=past)
    recover_run(run_id=run.pk, restartable=True)
    return open_interrupts(run)[0]


def test_the_three_outcomes_are_offered_and_none_is_chosen(doubt, reads_bob):
    page = reads_bob.open(doubt)

    for outcome in ("happened", "did_not_happen", "stop"):
        assert f'name="outcome" value="{outcome}"' in page
    assert "checked" not in page


def test_the_result_is_passed_on_letter_for_letter(doubt, reads_bob):
    reads_bob.send(doubt, "answer", outcome="happened", result='{"ok":  true}\nsecond line')

    assert sent(doubt) == {"outcome": "happened", "result": '{"ok":  true}\nsecond line'}
    assert reread(doubt.tool_call).result == '{"ok":  true}\nsecond line'


@pytest.mark.parametrize("outcome", ["did_not_happen", "stop"])
def test_without_an_outcome_to_report_no_result_is_sent(doubt, reads_bob, outcome):
    reads_bob.send(doubt, "answer", outcome=outcome, result="left over")

    assert sent(doubt) == {"outcome": outcome}


def test_nothing_chosen_is_no_answer(doubt, reads_bob):
    response = reads_bob.send(doubt, "answer", result="typed before choosing")

    assert response.status_code == 422
    assert "Choose what happened" in words(response)
    assert "typed before choosing" in response.content.decode()
    assert reread(doubt).status == "open"
