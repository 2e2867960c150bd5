"""REST: keys, made, seen, rotated and revoked by administrators."""

import json

import pytest

from inbox.models import ApiKey
from tests.support.audit.entries import audited
from tests.support.http.rest_client import Caller, start_run
from tests.support.steps import open_interrupts, start

KEYS = "/api/teams/tests/keys"


@pytest.fixture
def admin(key_with):
    """A machine that may do everything in the team."""
    return key_with("read", "run", "decide", "admin")


def test_a_key_is_made_seen_rotated_and_revoked(admin):
    response = admin.post(KEYS, {"name": "ci", "scopes": ["run", "read"], "expires_in_days": 30})
    token, path = response.json()["token"], f"/api/keys/{response.json()['id']}"
    rotated = admin.post(f"{path}/rotate", {"overlap_hours": 0})
    new = rotated.json()["token"]

    assert (response.status_code, rotated.status_code) == (201, 200)
    assert Caller(token).get("/api/runs").status_code == 401
    assert Caller(new).get("/api/runs").status_code == 200

    revoked = admin.post(f"{path}/revoke")
    seen = admin.get(path).json()
    assert revoked.json()["revoked_at"] == seen["revoked_at"] is not None
    assert Caller(new).get("/api/runs").status_code == 401
    assert (seen["team"], seen["name"], seen["scopes"]) == ("tests", "ci", ["read", "run"])
    assert (seen["agent"], seen["made_by"]) == (None, "key k")
    assert [action for action, _ in audited("key.")][-3:] == [
        *("key.created", "key.rotated", "key.revoked"),
    ]
    assert admin.get(KEYS).json()["results"][0]["id"] == seen["id"]
    everything = json.dumps([seen, revoked.json(), admin.get(KEYS).json(), audited("key.")])
    assert token not in everything
    assert new not in everything


def test_keys_are_read_a_page_at_a_time_the_latest_first(admin):
    key_ids = [admin.post(KEYS, {"name": name, "scopes": ["read"]}).json()["id"] for name in "ab"]

    first = admin.get(f"{KEYS}?limit=1").json()
    second = admin.get(f"{KEYS}?limit=1&after={first['next_after']}").json()

    assert [key["id"] for key in first["results"] + second["results"]] == key_ids[::-1]
    assert admin.get(f"{KEYS}?after=x").status_code == 400


def test_a_key_ends_after_ninety_days_unless_somebody_says_otherwise(admin):
    usual = admin.post(KEYS, {"name": "ci", "scopes": ["read"]}).json()
    never = admin.post(KEYS, {"name": "ci", "scopes": ["read"], "expires_in_days": None}).json()

    row = ApiKey.objects.get(pk=usual["id"])
    assert (row.expires_at - row.created_at).days == 90
    assert never["expires_at"] is None


@pytest.mark.parametrize(
    ("wrong", "field", "status"),
    [
        ({"name": ""}, "name", 400),
        ({"name": " "}, "name", 400),
        ({"name": 5}, "name", 400),
        ({"name": "c\ni"}, "name", 422),
        ({"scopes": []}, "scopes", 400),
        ({"scopes": ["all"]}, "scopes", 400),
        ({"scopes": "read"}, "scopes", 400),
        ({"agent": "no agent"}, "agent", 400),
        ({"agent": "nobody"}, "agent", 422),
        ({"agent": "rehearsal", "scopes": ["decide"]}, "scopes", 422),
        ({"expires_in_days": 0}, "expires_in_days", 400),
        ({"expires_in_days": 10**15}, "expires_in_days", 400),
        ({"expires_in_days": "soon"}, "expires_in_days", 400),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(admin, wrong, field, status):
    refused = admin.post(KEYS, {"name": "ci", "scopes": ["read"], **wrong})

    assert refused.status_code == status
    assert list(refused.json()["problems"]) == [field]


def test_more_than_it_has_no_key_gives(key_with):
    manager = key_with("admin")

    refused = manager.post(KEYS, {"name": "ci", "scopes": ["decide"]})

    assert (refused.status_code, refused.json()["code"]) == (403, "MORE_THAN_OWN")
    assert refused.json()["beyond"] == ["decide"]
    assert manager.post(KEYS, {"name": "ci", "scopes": ["admin"]}).status_code == 201


def test_what_has_ended_gets_no_new_token(admin):
    key = admin.post(KEYS, {"name": "ci", "scopes": ["read"]}).json()["id"]
    admin.post(f"/api/keys/{key}/revoke")

    refused = admin.post(f"/api/keys/{key}/rotate")

    assert (refused.status_code, refused.json()["code"]) == (409, "KEY_ENDED")


@pytest.mark.parametrize("body", [{"overlap_hours": 169}, {"overlap_hours": -1}])
def test_the_token_before_lives_for_a_week_at_most(admin, body):
    key = admin.post(KEYS, {"name": "ci", "scopes": ["read"]}).json()["id"]

    refused = admin.post(f"/api/keys/{key}/rotate", body)

    assert (refused.status_code, list(refused.json()["problems"])) == (400, ["overlap_hours"])


def test_an_agent_that_has_a_key_cannot_answer_what_it_asks(admin, world):
    key_fields = {"name": "own", "scopes": ["read", "run"], "agent": "rehearsal"}
    agent = Caller(admin.post(KEYS, key_fields).json()["token"])
    started = start_run(agent)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    answer = {
        "status": "resolved",
        "payload": {"approved": True},
        "view_digest": interrupt.view_digest,
    }

    decided = agent.post(f"/api/interrupts/{interrupt.pk}/decide", answer)
    many = agent.post("/api/interrupts/withdraw", {"ids": [str(interrupt.pk)]})

    assert started.status_code == 202
    assert (decided.status_code, decided.json()["code"]) == (403, "FORBIDDEN")
    assert many.json()["results"][0]["error"]["code"] == "FORBIDDEN"
    assert agent.get(KEYS).status_code == 404
