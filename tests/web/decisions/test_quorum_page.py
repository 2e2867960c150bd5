"""The page of a request that several people have to approve, and its row in the inbox."""

import json

import ag_ui.core as agui
import pytest

from inbox.models import Endorsement
from tests.support.policies.published import publish, rule
from tests.support.steps import answer, approve, open_interrupts, reread, start
from tests.support.web.pages import words

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}


@pytest.fixture
def interrupt(world):
    publish(world, rule("two", "ask", require=TWO))
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


def page_of(reader, interrupt):
    return words(reader.get(f"/interrupts/{interrupt.pk}/"))


def test_approving_on_the_page_is_one_of_two(interrupt, reads_bob, dora):
    assert "0 of 2 approved" in page_of(reads_bob, interrupt)

    sent = reads_bob.send(interrupt, "approve")

    assert sent.status_code == 303
    page = page_of(reads_bob, interrupt)
    assert "1 of 2 approved" in page
    assert "Bob approved" in page
    assert "One reviewer" in page
    assert "Withdraw my approval" in page


def test_the_page_says_as_which_of_several_an_approval_counts(interrupt, reads_bob, dora):
    assert 'data-counts="Counts as 1 of 2"' in reads_bob.open(interrupt)

    approve(interrupt, dora)

    assert 'data-counts="Counts as 2 of 2"' in reads_bob.open(interrupt)


def test_an_approval_is_withdrawn_on_the_page(interrupt, reads_bob):
    reads_bob.send(interrupt, "approve")

    reads_bob.client.post(f"/interrupts/{interrupt.pk}/withdraw-approval")

    assert Endorsement.objects.get().withdrawn_at is not None
    assert "Withdraw my approval" not in page_of(reads_bob, interrupt)


def test_too_few_people_are_pointed_out(interrupt, reads_bob):
    assert "Too few people can approve this." in page_of(reads_bob, interrupt)


def test_enough_people_are_not_pointed_out(interrupt, reads_bob, dora):
    assert "Too few people" not in page_of(reads_bob, interrupt)


def test_the_form_has_the_changes_that_were_endorsed(interrupt, bob, dora, reads_bob):
    args = {**json.loads(interrupt.args), "subject": "Changed by Dora"}
    answer(interrupt, dora, {"approved": True, "editedArgs": args})

    assert "Changed by Dora" in reads_bob.open(interrupt)
    reads_bob.send(interrupt, "approve")

    approved = json.loads(reread(interrupt.tool_call).approved_args)
    assert approved["subject"] == "Changed by Dora"
    decided = words(reads_bob.get(f"/decided/{interrupt.pk}/"))
    assert "Approved together by Dora, Bob" in decided


def test_the_second_person_sees_what_the_first_has_changed(interrupt, dora, reads_bob):
    before = json.loads(interrupt.args)
    answer(
        interrupt, dora, {"approved": True, "editedArgs": {**before, "subject": "Changed by Dora"}}
    )

    response = reads_bob.get(f"/interrupts/{interrupt.pk}/")

    page = response.content.decode()
    assert f"changed from {before['subject']} to Changed by Dora" in words(response)
    assert "Changed by Dora" in page.partition("<ins")[2]
    assert before["subject"] in page.partition('<del class="value-before">')[2]


def test_plain_approval_of_the_first_shows_no_change(interrupt, dora, reads_bob):
    approve(interrupt, dora)

    response = reads_bob.get(f"/interrupts/{interrupt.pk}/")

    assert "value-before" not in response.content.decode()
    assert "<ins" not in response.content.decode()


def test_the_row_in_the_inbox_has_the_progress(interrupt, bob, reads_bob, reads_alice):
    assert "0 of 2" in words(reads_bob.get("/"))

    approve(interrupt, bob)

    assert "Approved by you 1 of 2" in words(reads_bob.get("/"))
    assert "Approved by you" not in words(reads_alice.get("/"))


OPTIONS = {"type": "string", "enum": ["Alpha", "Beta", "Gamma"]}


@pytest.fixture
def question(world, as_agent):
    """A question with three options, which two people answer together."""

    async def play(run_input, ctx):
        schema = {"type": "object", "properties": {"plan": OPTIONS}, "required": ["plan"]}
        interrupt = agui.Interrupt(
            id="i-1", reason="input_required", message="Which plan?", response_schema=schema
        )
        outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id,
            run_id=run_input.run_id,
            outcome=None if run_input.resume else outcome,
        )

    publish(world, rule("two", "ask", require=TWO))
    return open_interrupts(start(world, "go", agent=as_agent(play)))[0]


def test_the_next_person_sees_the_answer_and_agrees_with_it(question, dora, reads_bob):
    answer(question, dora, {"plan": "Alpha"})
    page = page_of(reads_bob, question)
    assert "1 of 2 answered" in page
    assert "Dora answered \u201c Alpha \u201d" in page
    assert "Agree with \u201c Alpha \u201d" in page
    assert "answered \u201c Alpha \u201d as one of several" in page

    reads_bob.send(question, "agree")

    assert reread(question).decisions.get().payload == '{"plan":"Alpha"}'
    decided = words(reads_bob.get(f"/decided/{question.pk}/"))
    assert "Answered together by Dora, Bob" in decided
    assert "Approved together" not in decided


def test_another_answer_opens_the_question_again(question, dora, reads_bob):
    answer(question, dora, {"plan": "Alpha"})

    reads_bob.send(question, "option:1")

    assert reread(question).status == "open"
    page = page_of(reads_bob, question)
    assert "1 of 2 answered" in page
    assert "Bob answered \u201c Beta \u201d" in page
    assert "Agree with" not in page  # Bob has answered

    answer(reread(question), dora, {"plan": "Beta"})
    assert reread(question).decisions.get().payload == '{"plan":"Beta"}'


def test_an_agreement_with_what_has_changed_is_refused(question, dora, bob, reads_bob):
    answer(question, dora, {"plan": "Alpha"})
    form = reads_bob.form(question).post()
    answer(reread(question), dora, {"plan": "Gamma"})

    refused = reads_bob.post(question, form, "agree")

    assert refused.status_code == 409
    assert reread(question).status == "open"


def test_an_endorsement_without_a_payload_is_an_approval(interrupt, dora, reads_bob):
    approve(interrupt, dora)
    Endorsement.objects.update(payload="")

    assert "Dora approved" in page_of(reads_bob, interrupt)
    reads_bob.send(interrupt, "approve")

    assert reread(interrupt).status == "resolved"
