"""What is masked is revealed before it is approved, or approved explicitly without being seen."""

import json

import pytest

from inbox.actions.decisions.decide import decide
from inbox.models import Decision
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import MaskedNotSeen
from inbox.rules.runs.states import EntryStatus
from tests.support.agents.agent_events import about, asking, proposed
from tests.support.audit.entries import audited
from tests.support.http.rest_client import Caller
from tests.support.steps import open_interrupts, reread, start
from tests.support.web.pages import words

BADGE = "Hidden at the agent's request"
MARKED = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "editedArgs": {"properties": {"command": {"writeOnly": True}}},
    },
}


@pytest.fixture
def ask_with(world, as_agent):
    """Ask for the approval of a call with these arguments."""

    def ask(args, metadata=None, schema=None):
        async def play(run_input, _context):
            for event in proposed(args=json.dumps(args)):
                yield event
            more = {"response_schema": schema} if schema else {}
            yield asking(run_input, about(metadata=metadata, **more))

        (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
        return interrupt

    return ask


@pytest.fixture
def masked(ask_with):
    return ask_with({"auth": {"to": "attacker", "amount": 9000}})


def reveal(reader, interrupt, what="arguments"):
    return reader.client.post(f"/interrupts/{interrupt.pk}/reveal", {"what": what})


def test_approval_of_masked_values_needs_a_reveal(masked, reads_bob):
    page = reads_bob.send(masked, "approve")

    assert page.status_code == 422
    assert "Approve without seeing the masked values" in words(page)
    assert reread(masked).status == "open"


def test_revealed_values_are_approved(masked, reads_bob):
    reveal(reads_bob, masked)

    reads_bob.send(masked, "approve")

    assert Decision.objects.get(interrupt=masked).unseen is False
    assert "Approve without seeing" not in words(reads_bob.get(f"/interrupts/{masked.pk}/"))


def test_reveal_by_another_person_does_not_count(masked, reads_bob, reads_ana):
    reveal(reads_ana, masked)

    assert reads_bob.send(masked, "approve").status_code == 422


def test_each_masked_set_has_to_be_revealed(ask_with, reads_bob):
    interrupt = ask_with({"token": "a"}, metadata={"secret": "b"})
    reveal(reads_bob, interrupt, "arguments")

    assert reads_bob.send(interrupt, "approve").status_code == 422

    reveal(reads_bob, interrupt, "request")
    assert reads_bob.send(interrupt, "approve").status_code == 303


def test_approval_without_seeing_is_in_the_decision_and_the_trail(masked, reads_bob):
    page = reads_bob.send(masked, "approve", unseen="on")

    assert page.status_code == 303
    assert Decision.objects.get(interrupt=masked).unseen is True
    ((_, content),) = audited("interrupt.resolved")
    assert content["unseen"] is True
    assert "Approved without seeing the masked values" in words(
        reads_bob.get(f"/decided/{masked.pk}/")
    )
    trail = words(reads_bob.get(f"/audit/threads/{masked.thread_id}/"))
    assert "approved without seeing the masked values" in trail


def test_tick_without_masks_is_not_recorded(ask_with, reads_bob):
    interrupt = ask_with({"to": "Ada"})

    reads_bob.send(interrupt, "approve", unseen="on")

    assert Decision.objects.get(interrupt=interrupt).unseen is False


def test_masked_values_are_rejected_without_a_reveal(masked, reads_bob):
    assert reads_bob.send(masked, "reject").status_code == 303


def test_people_over_rest_say_that_they_approve_unseen(masked, reads_bob):
    url = f"/api/interrupts/{masked.pk}"
    interrupt = reads_bob.get(url).json()
    body = {
        "status": "resolved",
        "payload": {"approved": True},
        "view_digest": interrupt["view_digest"],
    }

    def decide_with(**more):
        return reads_bob.client.post(
            f"{url}/decide", {**body, **more}, content_type="application/json"
        )

    refused, accepted = decide_with(), decide_with(unseen=True)

    assert (refused.status_code, refused.json()["code"]) == (422, "MASKED_NOT_SEEN")
    assert refused.json()["masked"] == ["arguments"]
    assert (accepted.status_code, accepted.json()["unseen"]) == (200, True)


def test_keys_that_decide_see_everything_and_need_no_reveal(masked, world):
    caller = Caller(world.key)
    body = caller.get(f"/api/interrupts/{masked.pk}").json()

    assert body["masked"] == []
    answer = caller.post(
        f"/api/interrupts/{masked.pk}/decide",
        {"status": "resolved", "payload": {"approved": True}, "view_digest": body["view_digest"]},
    )
    assert (answer.status_code, answer.json()["unseen"]) == (200, False)


def test_reveal_of_an_earlier_view_does_not_count(world, as_agent, reads_bob, bob):
    async def play(run_input, _context):
        for event in proposed(args=json.dumps({"token": "a"})):
            yield event
        yield asking(run_input, about(), about().model_copy(update={"id": "again"}))

    first, second = open_interrupts(start(world, "go", agent=as_agent(play)))
    reveal(reads_bob, second)
    decide(
        interrupt_id=first.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": True, "editedArgs": {"token": "b"}},
        view_digest=first.shown_digest,
        actor=bob,
        entrance=Entrance.PAGE,
        unseen=True,
    )

    with pytest.raises(MaskedNotSeen):
        decide(
            interrupt_id=second.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True},
            view_digest=reread(second).shown_digest,
            actor=bob,
            entrance=Entrance.PAGE,
        )


def test_badge_says_that_the_agent_asked_to_hide_a_value(ask_with, reads_bob):
    interrupt = ask_with({"command": "rm -rf /", "note": "x"}, schema=MARKED)

    assert f"{BADGE}: command" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))
    body = reads_bob.get(f"/api/interrupts/{interrupt.pk}").json()
    assert body["masked"] == [{"pointer": "/args/command", "hidden_by": "agent"}]


def test_secret_names_have_no_badge_of_the_agent(masked, reads_bob):
    assert BADGE not in words(reads_bob.get(f"/interrupts/{masked.pk}/"))
    body = reads_bob.get(f"/api/interrupts/{masked.pk}").json()
    assert body["masked"] == [{"pointer": "/args/auth/to", "hidden_by": "name"}]
    assert body["args"]["auth"]["amount"] == 9000
