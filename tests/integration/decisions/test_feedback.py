"""A reviewer asks back, the agent asks again, and both requests are linked."""

import json

import pytest

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.decide import decide
from inbox.actions.people.provisioning import ensure_agent
from inbox.models import AuditEntry, Decision, ToolCall
from inbox.queries.decisions.interrupts import detail_for
from inbox.queries.decisions.sent_back import interrupts_after, sent_back_before
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import Claimed, Forbidden, InvalidPayload, ViewChanged
from inbox.rules.people.access import SEED
from inbox.rules.runs.states import EntryStatus
from tests.support.policies.published import publish, rule
from tests.support.steps import answer, approve, events, open_interrupts, resumed_run, start

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
QUESTION = {"approved": False, "feedback": "Is the parcel lost?"}


@pytest.fixture
def desk(world):
    return ensure_agent(
        team=world.team,
        slug="refund-desk",
        implementation="refund-desk",
        description="",
        actor=SEED,
    )


@pytest.fixture
def refund_run(world, desk):
    return start(world, "go", agent=desk)


@pytest.fixture
def refund(refund_run):
    return open_interrupts(refund_run)[0]


def next_request(run):
    return open_interrupts(resumed_run(run))[0]


def test_the_agent_gets_the_question_and_asks_again(refund_run, refund, bob):
    answer(refund, bob, QUESTION)

    again = next_request(refund_run)

    call = ToolCall.objects.get(pk=refund.tool_call_id)
    assert (call.state, call.verdict) == ("not_run", "sent_back")
    (result,) = [
        event
        for event in events(refund.thread_id)
        if event["type"] == "TOOL_CALL_RESULT" and event["toolCallId"] == call.tool_call_id
    ]
    assert json.loads(result["content"]) == {
        "ok": False,
        "denied": True,
        "reason": None,
        "feedback": "Is the parcel lost?",
    }
    assert again.args == refund.args


def test_suggested_arguments_are_those_of_the_next_request(refund_run, refund, bob):
    args = {**json.loads(refund.args), "amount": 100}
    answer(refund, bob, {**QUESTION, "editedArgs": args})

    again = next_request(refund_run)

    assert json.loads(again.args) == args
    approve(again, bob)
    resumed_run(again.run)
    assert "$100.00" in ToolCall.objects.get(pk=again.tool_call_id).result


def test_both_requests_are_linked(refund_run, refund, bob):
    answer(refund, bob, QUESTION)
    again = next_request(refund_run)

    (before,) = detail_for(bob, again.pk).sent_back
    assert (before.interrupt.pk, before.feedback) == (refund.pk, "Is the parcel lost?")
    assert [row.pk for row in detail_for(bob, refund.pk).next_interrupts] == [again.pk]


def test_requests_after_other_decisions_are_not_linked(refund_run, refund, bob):
    assert not detail_for(bob, refund.pk).sent_back

    answer(refund, bob, {"approved": False, "reason": "no"})
    resumed_run(refund_run)

    assert not detail_for(bob, refund.pk).next_interrupts


def test_the_link_costs_no_query_where_nothing_was_resumed(refund, bob, django_assert_num_queries):
    detail = detail_for(bob, refund.pk)

    with django_assert_num_queries(0):
        assert not sent_back_before(detail.interrupt)
        assert not interrupts_after(detail.interrupt, detail.decision)


def test_asking_back_needs_what_a_rejection_needs(world, refund, alice, bob, dora):
    with pytest.raises(Forbidden):
        answer(refund, alice, QUESTION)
    with pytest.raises(ViewChanged):
        decide(
            interrupt_id=refund.pk,
            status=EntryStatus.RESOLVED,
            payload=QUESTION,
            view_digest="0" * 64,
            actor=bob,
            entrance=Entrance.REST,
        )
    claim_interrupt(interrupt_id=refund.pk, actor=dora)
    with pytest.raises(Claimed):
        answer(refund, bob, QUESTION)
    assert not Decision.objects.exists()


def test_one_person_of_several_sends_a_request_back(world, desk, bob, dora):
    publish(world, rule("two", "ask", require=TWO))
    (refund,) = open_interrupts(start(world, "go", agent=desk))
    approve(refund, dora)

    decision = answer(refund, bob, QUESTION)

    assert decision.status == EntryStatus.RESOLVED
    refund.refresh_from_db()
    assert refund.status == "resolved"


def test_an_agent_that_does_not_listen_is_asked_nothing(world, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    with pytest.raises(InvalidPayload, match="takes no questions"):
        answer(interrupt, bob, QUESTION)


def test_the_audit_trail_has_the_question(refund, bob):
    answer(refund, bob, QUESTION)

    entry = AuditEntry.objects.get(action="interrupt.resolved")
    assert entry.content["detail"]["payload"] == QUESTION
