"""REST: agents elsewhere, added, changed and tested by administrators."""

import json

import pytest

from inbox.models import AuditEntry, Endpoint
from tests.support.agents.remote_agent_server import REFUSAL, elsewhere

__all__ = ["elsewhere"]

URL = "https://agents.example.com/agui"
SECRET = "Bearer kept-to-ourselves"


@pytest.fixture
def admin(world, key_with):
    """A machine that may see and administer the team."""
    return key_with("read", "admin")


def test_an_agent_is_added_changed_and_tested(admin, elsewhere):
    path = "/api/agents/refunds"
    body = {"url": elsewhere.url, "headers": {"Authorization": SECRET}, "description": "Refunds."}
    elsewhere.runs = [REFUSAL]

    added = admin.put(path, body)
    changed = admin.put(path, {"url": f"{elsewhere.url}?tenant=7", "headers": None})
    tested = admin.post(f"{path}/test")
    seen = admin.get(path).json()

    assert (added.status_code, changed.status_code) == (201, 200)
    assert seen["kind"] == "remote"
    assert seen["description"] == "Refunds."
    assert seen["remote"]["url"] == f"{elsewhere.url}?tenant=7"
    assert seen["remote"]["headers"] == ["Authorization"]
    assert tested.json()["found"] == "agent"
    assert tested.json()["message"] == "The agent responded correctly."
    assert (tested.json()["protocol_version"], tested.json()["dialect"]) == ("1.0", "canonical")
    assert {**seen["remote"]["test"], "at": None} == {**tested.json(), "at": None}
    assert elsewhere.headers[0]["Authorization"] == SECRET
    assert not [
        response for response in (added, changed, tested) if SECRET in response.content.decode()
    ]


@pytest.mark.parametrize(
    ("published", "human_in_the_loop"),
    [
        (None, {"supported": True, "interrupts": True}),
        ({"transport": {"streaming": True}}, None),
        (
            {"humanInTheLoop": {"interrupts": True, "approveWithEdits": True, "feedback": False}},
            {"interrupts": True, "approveWithEdits": True},
        ),
    ],
)
def test_capabilities_have_what_the_connection_test_found(
    admin, elsewhere, published, human_in_the_loop
):
    admin.put("/api/agents/refunds", {"url": elsewhere.url})
    before = admin.get("/api/agents/refunds/capabilities").json()["capabilities"]
    elsewhere.runs, elsewhere.capabilities = [REFUSAL], published

    admin.post("/api/agents/refunds/test")

    after = admin.get("/api/agents/refunds/capabilities").json()["capabilities"]
    assert "humanInTheLoop" not in before
    assert after.get("humanInTheLoop") == human_in_the_loop


def test_an_absent_or_null_header_stays_as_it_is(admin):
    admin.put("/api/agents/refunds", {"url": URL, "headers": {"A": "1", "B": "2"}})

    absent = admin.put("/api/agents/refunds", {"url": f"{URL}/2"})
    null = admin.put("/api/agents/refunds", {"url": URL, "headers": {"A": None}})

    assert absent.json()["remote"]["headers"] == ["A", "B"]
    assert null.json()["remote"]["headers"] == ["A"]


def test_no_secret_goes_to_another_place(admin):
    admin.put("/api/agents/refunds", {"url": URL, "headers": {"Authorization": SECRET}})

    answer = admin.put("/api/agents/refunds", {"url": "https://evil.example/"})

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
    assert list(answer.json()["problems"]["headers"]) == ["Authorization"]
    assert SECRET not in answer.content.decode()
    assert Endpoint.objects.get().url == URL


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": 7}, "url"),
        ({"url": "gopher://x/"}, "url"),
        ({"url": "http://x/\u0001"}, "url"),
        ({"url": f"{URL}/{'x' * 2_000}"}, "url"),
        ({"url": URL, "headers": []}, "headers"),
        ({"url": URL, "headers": {"X": 7.5, "X Y": "a"}}, "headers"),
        ({"url": URL, "headers": {"X": {}}}, "headers"),
        ({"url": URL, "headers": {"X": ""}}, "headers"),
        ({"url": URL, "headers": {"X": "a\n"}}, "headers"),
        ({"url": URL, "headers": {"X": "x" * 4_001}}, "headers"),
        ({"url": URL, "description": "x" * 201}, "description"),
        ({"url": URL, "team": "no team"}, "team"),
    ],
)
def test_what_has_another_shape_is_said_by_field(admin, body, field):
    answer = admin.put("/api/agents/refunds", body)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
    assert field in answer.json()["problems"]
    assert not Endpoint.objects.exists()


def test_remote_agent_without_a_url_is_rejected(admin):
    answer = admin.put("/api/agents/refunds", {})

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
    assert "url" in answer.json()["problems"]
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "http://a..b/"}, "url"),
        ({"url": f"http://{'a' * 64}.example/"}, "url"),
        ({"url": "https://me:secret@agents.example.com/"}, "url"),
        ({"url": URL, "headers": {"X": None}}, "headers"),
        ({"url": URL, "headers": {"": "x"}}, "headers"),
        ({"url": URL, "headers": {"Host": "x"}}, "headers"),
        ({"url": URL, "headers": {f"X-{number}": "x" for number in range(21)}}, "headers"),
    ],
)
def test_what_a_rule_forbids_is_said_by_field(admin, body, field):
    answer = admin.put("/api/agents/refunds", body)

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
    assert list(answer.json()["problems"]) == [field]
    assert not Endpoint.objects.exists()


def test_an_agent_of_the_installation_is_not_replaced(admin):
    answer = admin.put("/api/agents/rehearsal", {"url": URL})

    assert (answer.status_code, answer.json()["code"]) == (409, "ADDRESS_TAKEN")


def test_an_agent_that_runs_here_has_no_connection_to_test(admin):
    answer = admin.post("/api/agents/rehearsal/test")
    agent = admin.get("/api/agents/rehearsal").json()

    assert (answer.status_code, answer.json()["code"]) == (409, "NOT_REMOTE")
    assert (agent["kind"], agent["remote"]) == ("local", None)


def test_only_administrators_see_where_an_agent_is(admin, key_with, elsewhere):
    admin.put("/api/agents/refunds", {"url": elsewhere.url, "headers": {"Authorization": SECRET}})
    elsewhere.runs = [REFUSAL]
    admin.post("/api/agents/refunds/test")
    reader = key_with("read", "run", "decide")

    detail = reader.get("/api/agents/refunds")
    listed = reader.get("/api/agents")

    for text in (detail.content.decode(), listed.content.decode()):
        assert elsewhere.url not in text
        assert "Authorization" not in text
    assert set(detail.json()["remote"]) == {"test"}
    assert set(detail.json()["remote"]["test"]) == {"found", "at"}


def test_who_administers_several_teams_says_which(world, admin):
    from django.test import Client

    from inbox.models import Membership

    Membership.objects.create(user=world.carol, team=world.team, role="admin")
    client = Client()
    client.force_login(world.carol)

    def put(**body):
        return client.put(
            "/api/agents/refunds", json.dumps({"url": URL, **body}), "application/json"
        )

    assert "team" in put().json()["problems"]
    assert put(team="nowhere").status_code == 404
    assert put(team="tests").json()["team"] == "tests"
    assert put(team="others").json()["code"] == "ADDRESS_TAKEN"
    assert put(description="It has a team now.").status_code == 200


def test_the_trail_tells_what_was_done_and_no_secret(admin, elsewhere):
    admin.put("/api/agents/refunds", {"url": elsewhere.url, "headers": {"Authorization": SECRET}})
    admin.put("/api/agents/refunds", {"url": elsewhere.url})
    elsewhere.runs = [REFUSAL]
    admin.post("/api/agents/refunds/test")

    entries = AuditEntry.objects.filter(payload__text__contains="refunds").order_by("pk")

    actions = ["agent.added", "agent.changed", "agent.tested"]
    assert [entry.action for entry in entries] == actions
    assert not [entry for entry in entries if "kept-to-ourselves" in entry.payload.text]
