"""The pages on which a reviewer asks an agent back, and on which the answer is shown."""

import pytest

from inbox.models import Interrupt
from tests.integration.decisions.test_feedback import desk, refund, refund_run
from tests.support.steps import open_interrupts, resumed_run
from tests.support.web.pages import sent, words

__all__ = ["desk", "refund", "refund_run"]

ASK = {"feedback": "Is the parcel <b>lost</b>?"}


def page_of(reader, interrupt):
    return words(reader.get(f"/interrupts/{interrupt.pk}/"))


def test_a_reviewer_asks_back_and_the_next_request_says_so(
    refund_run, refund, reads_bob, reads_alice
):
    assert "Ask back" in page_of(reads_bob, refund)
    assert "Ask back" not in page_of(reads_alice, refund)

    answered = reads_bob.send(refund, "ask_back", ASK)

    assert answered.status_code == 303
    assert sent(refund) == {"approved": False, "feedback": "Is the parcel <b>lost</b>?"}
    (again,) = open_interrupts(resumed_run(refund_run))
    before, after = page_of(reads_bob, refund), page_of(reads_bob, again)
    assert "You sent this back to the agent" in before
    assert "The agent asked again: Refund $142.50" in before
    assert "Follows a request that was sent back: Refund $142.50" in after
    assert "Bob Is the parcel <b>lost</b>?" in after
    assert "<b>lost" not in reads_bob.open(again)


def test_edits_go_to_the_agent_with_the_question(refund_run, refund, reads_bob):
    reads_bob.send(refund, "ask_back", {**ASK, "args/amount": "100"})

    assert sent(refund)["editedArgs"]["amount"] == 100
    page = page_of(reads_bob, refund)
    assert "Suggested:" in page
    assert "Approved:" not in page
    (again,) = open_interrupts(resumed_run(refund_run))
    assert '"amount":100' in again.args


def test_a_question_needs_a_text(refund, reads_bob):
    answered = reads_bob.send(refund, "ask_back", {"feedback": " ", "args/amount": "100"})

    assert answered.status_code == 422
    assert "Enter a question or a correction for the agent." in words(answered)
    page = answered.content.decode()
    assert '<details class="ask-back" id="ask-back" open' in page
    assert 'value="100"' in page
    assert Interrupt.objects.get(pk=refund.pk).status == "open"


def test_a_question_does_not_go_with_a_rejection(refund, reads_bob):
    reads_bob.send(refund, "reject", ASK)

    assert sent(refund) == {"approved": False}


def test_an_agent_that_does_not_listen_gets_no_button(ask, reads_bob):
    interrupt = ask("tool_call")

    assert "Ask back" not in page_of(reads_bob, interrupt)
    refused = reads_bob.client.post(
        f"/interrupts/{interrupt.pk}/decide",
        {"action": "ask_back", "feedback": "Why?", "view_digest": interrupt.shown_digest},
    )
    assert refused.status_code == 422
    assert Interrupt.objects.get(pk=interrupt.pk).status == "open"


@pytest.mark.parametrize("path", ["/decided/", "/audit/"])
def test_lists_tell_questions_from_rejections(refund, reads_bob, path):
    reads_bob.send(refund, "ask_back", ASK)

    page = reads_bob.get(path)

    assert page.status_code == 200
    assert "asked back" in words(page) or "Sent back" in words(page)
