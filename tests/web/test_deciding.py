import json

import pytest

from tests.steps import open_interrupts, reread, resumed_run, start
from tests.web.pages import input_value, sent, words


def test_approving_untouched_arguments_sends_nothing_but_the_approval(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve")

    assert (response.status_code, response.url) == (303, f"/?done={interrupt.pk}")
    assert sent(interrupt) == {"approved": True}


def test_the_next_request_opens_by_itself_and_says_what_was_done(world, reads_bob):
    first, second, _ = open_interrupts(start(world, "rehearse:parallel3"))

    response = reads_bob.send(first, "approve")
    page = reads_bob.get(response.url)

    assert response.url == f"/interrupts/{second.pk}/?done={first.pk}"
    assert f"Approved: {first.title}" in words(page)
    assert f'action="/interrupts/{first.pk}/withdraw"' in page.content.decode()


def test_a_page_that_says_what_was_done_does_not_say_so_again_when_it_is_read_again(
    world, reads_bob
):
    first, *_ = open_interrupts(start(world, "rehearse:parallel3"))

    page = reads_bob.get(reads_bob.send(first, "approve").url).content.decode()

    assert "done=" not in page.partition("data-url=")[2].partition(">")[0]


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
    edited = {"to": "eli@example.com", "subject": "Your invoice"}

    reads_bob.send(interrupt, "approve", {"args/to": edited["to"], "reason": "wrong person"})

    assert sent(interrupt) == {"approved": True, "editedArgs": edited, "reason": "wrong person"}
    assert "You approved this with changes" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_arguments_may_be_edited_as_json(ask, reads_bob):
    interrupt = ask("tool_call")
    edited = {"to": "eli@example.com", "subject": "Two lines\nof subject"}

    reads_bob.send(interrupt, "approve", as_json={"args": json.dumps(edited, indent=4)})

    assert sent(interrupt) == {"approved": True, "editedArgs": edited}


def test_arguments_that_are_only_spelled_differently_are_not_an_edit(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "approve", as_json={"args": json.dumps(json.loads(interrupt.args))})

    assert sent(interrupt) == {"approved": True}


def test_rejecting_sends_the_reason_and_not_the_edits(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "reject", {"args/to": "", "reason": "too early"})

    assert sent(interrupt) == {"approved": False, "reason": "too early"}


def test_rejecting_without_a_reason_invents_none(ask, reads_bob):
    interrupt = ask("tool_call")

    reads_bob.send(interrupt, "reject")

    assert sent(interrupt) == {"approved": False}


FILING = {"quarter": "Q3", "year": 2025, "revenue": 1.5}


def test_a_schema_is_answered_by_its_form(ask, reads_bob):
    interrupt = ask("input_required")
    form = reads_bob.form(interrupt)
    (third,) = [
        control.attributes["value"]
        for control in form.controls
        if control.name == "answer/quarter" and control.attributes["value"].endswith("2")
    ]

    typed = {"answer/quarter": third, "answer/year": "2025", "answer/revenue": "1.5"}
    response = reads_bob.send(interrupt, "answer", typed)

    assert response.status_code == 303
    assert sent(interrupt) == FILING


def test_a_schema_may_be_answered_as_json(ask, reads_bob):
    interrupt = ask("input_required")

    response = reads_bob.send(interrupt, "answer", as_json={"answer": json.dumps(FILING)})

    assert response.status_code == 303
    assert sent(interrupt) == FILING


@pytest.mark.parametrize(("chosen", "answer"), [("0", True), ("1", False)])
def test_a_yes_or_no_question_is_answered_by_what_was_chosen(ask, reads_bob, chosen, answer):
    interrupt = ask("confirmation")

    reads_bob.send(interrupt, "answer", {"answer": chosen})

    assert sent(interrupt) is answer


def test_a_yes_or_no_question_has_no_answer_until_somebody_chooses(ask, reads_bob):
    interrupt = ask("confirmation")

    response = reads_bob.send(interrupt, "answer")

    assert not any(
        "checked" in control.attributes for control in reads_bob.form(interrupt).controls
    )
    assert response.status_code == 422
    assert reread(interrupt).status == "open"


def test_a_question_without_a_schema_is_resolved_with_nothing_at_all(ask, reads_bob):
    interrupt = ask("custom_reason")

    reads_bob.send(interrupt, "answer")

    assert reread(interrupt).status == "resolved"
    assert sent(interrupt) is None


def test_a_question_without_a_schema_may_be_answered_with_any_json(ask, reads_bob):
    interrupt = ask("custom_reason")

    reads_bob.send(interrupt, "answer", as_json={"answer": "[1, null]"})

    assert sent(interrupt) == [1, None]


def test_a_question_can_be_called_off(ask, reads_bob):
    interrupt = ask("input_required")

    reads_bob.send(interrupt, "cancel", {"answer/year": "half an ans"})

    assert reread(interrupt).status == "cancelled"
    assert "You cancelled this" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_the_page_counts_the_siblings_that_are_decided(world, reads_bob):
    first, second, third = open_interrupts(start(world, "rehearse:parallel3"))

    reads_bob.send(first, "approve")
    reads_bob.send(second, "reject")

    page = words(reads_bob.get(f"/interrupts/{third.pk}/"))
    assert "2 of 3 decided" in page
    assert "You rejected" in page


def test_an_htmx_request_is_sent_to_the_next_page(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", live=True)

    assert response.status_code == 204
    assert response["HX-Redirect"] == f"/?done={interrupt.pk}"


def test_a_draft_shows_the_changes_and_decides_nothing(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", {"args/to": "eli@example.com"}, draft="look")

    assert response.status_code == 200
    assert "Approve with 1 change" in words(response)
    assert "removed: dana added: eli @example.com" in words(response)
    assert reread(interrupt).status == "open"


def test_changes_can_be_undone_by_hand(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", draft="look")

    assert "No changes" in words(response)


def test_the_digest_of_what_was_shown_stands_with_the_decision(ask, reads_bob):
    interrupt = ask("tool_call")
    digest = input_value(reads_bob.open(interrupt), "view_digest")

    reads_bob.send(interrupt, "approve")

    assert interrupt.decisions.get().view_digest == digest
