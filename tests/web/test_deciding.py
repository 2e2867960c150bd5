import json

import pytest

from tests.steps import open_interrupts, reread, resumed_run, start
from tests.web.pages import sent, textarea, words


def test_approving_untouched_arguments_sends_nothing_but_the_approval(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve")

    assert (response.status_code, response.url) == (303, f"/interrupts/{interrupt.pk}/")
    assert sent(interrupt) == {"approved": True}


def test_a_decision_resumes_the_run_and_its_page_shows_the_result(ask, reads_bob):
    interrupt = ask("tool_call")
    reads_bob.send(interrupt, "approve")

    run = resumed_run(interrupt.run)

    assert run.status == "succeeded"
    page = reads_bob.get(f"/interrupts/{interrupt.pk}/")
    assert "You approved this" in words(page)
    assert '"executionCount": 1' in words(page)


def test_edited_arguments_are_sent_and_replace_those_of_the_agent(ask, reads_bob):
    interrupt = ask("tool_call")
    edited = {"to": "eli@example.com", "subject": "Two lines\nof subject"}

    reads_bob.send(interrupt, "approve", args=json.dumps(edited, indent=4), reason="wrong person")

    assert sent(interrupt) == {"approved": True, "editedArgs": edited, "reason": "wrong person"}
    assert "You approved this with changes" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_arguments_that_are_only_spelled_differently_are_not_an_edit(ask, reads_bob):
    interrupt = ask("tool_call")
    offered = textarea(reads_bob.open(interrupt), "args")

    reads_bob.send(interrupt, "approve", args=json.dumps(json.loads(offered)))

    assert sent(interrupt) == {"approved": True}


def test_rejecting_sends_the_reason_and_not_the_edits(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "reject", args="{}", reason="too early")

    assert sent(interrupt) == {"approved": False, "reason": "too early"}


def test_rejecting_without_a_reason_invents_none(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "reject")

    assert sent(interrupt) == {"approved": False}


def test_a_schema_is_answered_as_json(ask, reads_bob):
    interrupt = ask("input_required")
    filing = {"quarter": "Q3", "year": 2025, "revenue": 1.5}

    response = reads_bob.send(interrupt, "answer", answer=json.dumps(filing))

    assert response.status_code == 303
    assert sent(interrupt) == filing


@pytest.mark.parametrize(("chosen", "answer"), [("true", True), ("false", False)])
def test_a_yes_or_no_question_is_answered_by_what_was_chosen(ask, reads_bob, chosen, answer):
    interrupt = ask("confirmation")

    reads_bob.send(interrupt, "answer", answer=chosen)

    assert sent(interrupt) is answer


def test_a_yes_or_no_question_has_no_answer_until_somebody_chooses(ask, reads_bob):
    interrupt = ask("confirmation")

    response = reads_bob.send(interrupt, "answer")

    assert "checked" not in reads_bob.open(interrupt)
    assert response.status_code == 422
    assert reread(interrupt).status == "open"


def test_a_question_without_a_schema_is_resolved_with_nothing_at_all(ask, reads_bob):
    interrupt = ask("custom_reason")

    reads_bob.send(interrupt, "answer", answer=" ")

    assert reread(interrupt).status == "resolved"
    assert sent(interrupt) is None


def test_a_question_without_a_schema_may_be_answered_with_any_json(ask, reads_bob):
    interrupt = ask("custom_reason")

    reads_bob.send(interrupt, "answer", answer="[1, null]")

    assert sent(interrupt) == [1, None]


def test_a_question_can_be_called_off(ask, reads_bob):
    interrupt = ask("input_required")

    reads_bob.send(interrupt, "cancel", answer="half an ans")

    assert reread(interrupt).status == "cancelled"
    assert "You cancelled this" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_the_page_counts_the_siblings_that_are_decided(world, reads_bob):
    first, second, third = open_interrupts(start(world, "rehearse:parallel3"))

    reads_bob.send(first, "approve")
    reads_bob.send(second, "reject")

    page = words(reads_bob.get(f"/interrupts/{third.pk}/"))
    assert "2 of 3 decided" in page
    assert "You rejected" in page


def test_an_htmx_request_gets_the_decided_request_without_the_frame(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", live=True)

    assert response.status_code == 200
    assert 'id="detail"' in response.content.decode()
    assert 'id="rail"' not in response.content.decode()
