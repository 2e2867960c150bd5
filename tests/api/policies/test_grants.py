"""REST: grants."""

import json

import pytest

from inbox.models import Grant
from tests.support.steps import open_interrupts, start


@pytest.fixture
def interrupt(world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    return interrupt


@pytest.fixture
def reviewer(client, world):
    client.force_login(world.bob)
    return client


def decide(client, interrupt, **grant):
    body = {
        "status": "resolved",
        "payload": {"approved": True},
        "view_digest": interrupt.shown_digest,
        "unseen": True,
        "grant": grant,
    }
    return client.post(f"/api/interrupts/{interrupt.pk}/decide", body, "application/json")


def test_a_decision_makes_a_grant_that_can_be_read_and_revoked(reviewer, interrupt):
    assert decide(reviewer, interrupt, scope="agent", most_uses=3).status_code == 200

    (grant,) = reviewer.get("/api/teams/tests/grants").json()["results"]
    args = json.loads(interrupt.args)
    assert grant["arguments"] == {name: {"same": value} for name, value in args.items()}
    assert (grant["scope"], grant["thread"], grant["most_uses"]) == ("agent", None, 3)
    assert (grant["made_by"], grant["made_from"]) == ("Bob", str(interrupt.pk))
    assert reviewer.get(f"/api/grants/{grant['id']}").json() == grant

    revoked = reviewer.post(
        f"/api/grants/{grant['id']}/revoke", content_type="application/json"
    ).json()
    assert revoked["end_reason"] == "revoked"
    assert (
        reviewer.post(f"/api/grants/{grant['id']}/revoke", content_type="application/json").json()
        == revoked
    )


def test_limits_above_the_caps_are_refused_with_all_problems(reviewer, interrupt):
    response = decide(reviewer, interrupt, minutes=1441, most_uses=0, arguments={"no": "any"})

    assert response.status_code == 422
    assert [problem["pointer"] for problem in response.json()["problems"]] == [
        "/grant/arguments/no",
        "/grant/minutes",
        "/grant/most_uses",
    ]
    assert not Grant.objects.exists()


def test_secret_values_of_a_grant_are_masked(reviewer, interrupt):
    decide(reviewer, interrupt)
    row = Grant.objects.get()
    terms = json.loads(row.terms)
    terms["limits"]["api_key"] = {"bound": "same", "value": "sk-123"}
    row.terms = json.dumps(terms)
    row.save(update_fields=["terms"])

    text = reviewer.get(f"/api/grants/{row.pk}").content.decode()

    assert "api_key" in text
    assert "sk-123" not in text


def test_a_key_makes_no_grant(client, world, interrupt):
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED

    _, token = make_key(team_id=world.team.pk, name="bot", scopes=["decide"], actor=SEED)
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"

    assert decide(client, interrupt).json()["code"] == "INVALID_VALUE"
