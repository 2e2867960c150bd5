"""REST: approving an interrupt together, and withdrawing an approval."""

import pytest
from django.test import Client

from tests.support.policies.published import publish, rule
from tests.support.steps import open_interrupts, reread, start

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}


@pytest.fixture
def interrupt(world):
    publish(world, rule("two", "ask", require=TWO))
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


@pytest.fixture
def bob_client(world):
    client = Client()
    client.force_login(world.bob)
    return client


def approve(client, interrupt):
    body = {
        "status": "resolved",
        "payload": {"approved": True},
        "view_digest": reread(interrupt).shown_digest,
        "unseen": True,
    }
    return client.post(
        f"/api/interrupts/{interrupt.pk}/decide", body, content_type="application/json"
    )


def test_one_of_two_approvals_is_accepted_and_withdrawn(interrupt, bob_client):
    answer = approve(bob_client, interrupt)

    assert (answer.status_code, answer.json()) == (
        202,
        {"endorsed": 1, "of": 2, "missing": ["reviewer"]},
    )
    withdrawn = bob_client.delete(f"/api/interrupts/{interrupt.pk}/endorsement")
    assert withdrawn.status_code == 204


def test_a_key_is_not_one_of_several(interrupt, key_with):
    api = key_with("read", "decide")
    body = {
        "status": "resolved",
        "payload": {"approved": True},
        "view_digest": interrupt.shown_digest,
    }

    answer = api.post(f"/api/interrupts/{interrupt.pk}/decide", body)

    assert (answer.status_code, answer.json()["code"]) == (403, "POLICY_REQUIREMENT")


def test_bulk_decisions_leave_it_out_with_a_reason(interrupt, bob_client):
    body = {
        "status": "resolved",
        "payload": {"approved": True},
        "items": [{"id": str(interrupt.pk), "view_digest": interrupt.shown_digest}],
    }
    answer = bob_client.post("/api/interrupts/decide", body, content_type="application/json")

    (result,) = answer.json()["results"]
    assert result["error"]["code"] == "NOT_IN_BULK"


def test_an_interrupt_has_its_endorsements_and_the_required_people(interrupt, bob_client):
    approve(bob_client, interrupt)

    body = bob_client.get(f"/api/interrupts/{interrupt.pk}").json()

    assert body["required"] == {"endorsed": 1, "of": 2, "missing": ["reviewer"]}
    assert [row["by"] for row in body["endorsements"]] == ["Bob"]


def test_each_endorsement_has_its_answer_over_rest(interrupt, bob_client, key_with):
    approve(bob_client, interrupt)

    body = key_with("read").get(f"/api/interrupts/{interrupt.pk}").json()

    (endorsement,) = body["endorsements"]
    assert (endorsement["by"], endorsement["answer"]) == ("Bob", {"approved": True})
    assert endorsement["counts"] is True
