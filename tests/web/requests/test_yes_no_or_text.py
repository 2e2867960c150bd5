"""Questions that ask to approve, and questions with options, on their page."""

import ag_ui.core as agui
import pytest

from tests.support.steps import open_interrupts, reread, start
from tests.support.web.pages import words


@pytest.fixture
def asks(world, as_agent):
    """Return a function that opens an interrupt without a response schema."""

    def ask(**members):
        async def play(run_input, ctx):
            interrupt = agui.Interrupt(id="i-1", reason="langgraph:interrupt", **members)
            outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=None if run_input.resume else outcome,
            )

        (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
        return interrupt

    return ask


def answer_of(interrupt):
    return reread(interrupt).decisions.get().payload


@pytest.mark.parametrize(("button", "payload"), [("yes", "true"), ("no", "false")])
def test_an_approval_in_words_has_yes_and_no(asks, reads_bob, button, payload):
    interrupt = asks(message="Do you approve the transfer?")
    page = reads_bob.open(interrupt)
    assert 'value="yes"' in page
    assert 'value="no"' in page

    reads_bob.send(interrupt, button)

    assert answer_of(interrupt) == payload


def test_a_text_is_still_an_answer_but_not_the_word_no(asks, reads_bob):
    interrupt = asks(message="Do you approve the transfer?")

    refused = reads_bob.send(interrupt, "answer", answer="no")
    assert refused.status_code == 422
    assert "Answer No (false), or write a sentence." in words(refused)
    assert reread(interrupt).status == "open"

    reads_bob.send(interrupt, "answer", answer="Only up to 500 EUR.")
    assert answer_of(interrupt) == '"Only up to 500 EUR."'


def test_each_option_has_a_button(asks, reads_bob):
    value = {"question": "Ship it?", "options": ["approve", {"label": "Not now", "value": "later"}]}
    interrupt = asks(message="Ship it?", metadata={"langgraph": {"value": value}})
    page = reads_bob.open(interrupt)
    assert page.count('value="option:') == 2
    assert "Not now" in page

    reads_bob.send(interrupt, "option:1")

    assert answer_of(interrupt) == '"later"'
