"""Programs ask over REST, and people, policies and the clock answer."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.requests.heard import flush_heard
from inbox.models import AgentRequest
from tests.support.requests.programs import (
    APPROVED,
    DENIED,
    actions,
    decide,
    pass_time,
    program,
)

__all__ = ["program"]


def test_an_asked_call_is_open_until_a_person_decides(program, bob):
    request = program.ask(session={"id": "nightly:22", "title": "Nightly"})

    assert request["status"] == "open"
    assert (request["decided"], request["of"]) == (0, 1)
    (item,) = request["items"]
    assert item["status"] == "open"
    assert item["tool"] == "refund"
    assert request["session"] == {"id": "nightly:22", "title": "Nightly"}
    assert program.read(request) == {
        name: value for name, value in request.items() if name not in ("replayed", "attached")
    }

    decide(request, bob, APPROVED)

    decided = program.read(request)
    assert decided["status"] == "decided"
    (item,) = decided["items"]
    assert item["status"] == "approved"
    assert item["state"] == "waiting"
    assert item["by"] == {"kind": "human", "name": "Bob"}
    assert item["args"] == {"charge": "ch_17", "amount": 4750}
    assert item["start_before"]


def test_reading_a_request_writes_when_the_program_was_heard_later(program, later):
    request = program.ask()
    pass_time(later, seconds=60)
    first = AgentRequest.objects.get(pk=request["id"]).heard_at

    with CaptureQueriesContext(connection) as queries:
        program.read(request)
    assert not [query for query in queries if query["sql"].startswith(("UPDATE", "INSERT"))]

    flush_heard()
    second = AgentRequest.objects.get(pk=request["id"]).heard_at
    assert (second - first).total_seconds() >= 60


def test_edited_arguments_are_what_is_to_be_executed(program, bob):
    request = program.ask()

    decide(request, bob, {"approved": True, "editedArgs": {"charge": "ch_17", "amount": 4000}})

    (item,) = program.read(request)["items"]
    assert item["edited"] is True
    assert item["args"] == {"charge": "ch_17", "amount": 4000}


def test_edits_are_refused_unless_the_program_offers_them(program, bob):
    from inbox.rules.errors import EditsNotOffered

    request = program.ask(may_edit=False)

    with pytest.raises(EditsNotOffered):
        decide(request, bob, {"approved": True, "editedArgs": {"amount": 1}})


def test_a_denied_call_ends_the_request_at_once(program, bob):
    request = program.ask()

    decide(request, bob, DENIED)

    ended = program.read(request)
    assert ended["status"] == "done"
    (item,) = ended["items"]
    assert (item["status"], item["reason"], item["state"]) == ("denied", "Not now", None)
    assert actions(request)[-1] == "run.succeeded"


def test_several_items_are_decided_one_by_one(program, bob):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    request = program.ask(
        {"id": "publish", "title": "Publish?", "tool": "npm_publish", "args": {"version": "4.2.0"}},
        {"id": "notes", "title": "Release notes", "answer_schema": schema},
        {"id": "go", "title": "Announce it?"},
    )

    decide(request, bob, APPROVED, item="publish")
    partly = program.read(request)
    decide(request, bob, {"text": "Faster"}, item="notes")
    decide(request, bob, APPROVED, item="go")

    assert (partly["status"], partly["decided"], partly["of"]) == ("open", 1, 3)
    decided = program.read(request)
    assert decided["status"] == "decided"
    assert [item["status"] for item in decided["items"]] == ["approved", "answered", "approved"]
    assert decided["items"][1]["payload"] == {"text": "Faster"}


def test_a_question_without_a_schema_is_answered_with_yes_or_no(program, bob):
    request = program.ask({"title": "Deploy?"})

    decide(request, bob, {"approved": False})

    ended = program.read(request)
    assert (ended["status"], ended["items"][0]["status"]) == ("done", "denied")


def test_a_request_expires_unless_it_says_never(program, later):
    request, for_ever = program.ask(expires_in=60), program.ask(expires_in=None)

    pass_time(later, hours=25)

    expired = program.read(request)
    assert (expired["status"], expired["items"][0]["status"]) == ("expired", "expired")
    assert for_ever["expires_at"] is None
    assert program.read(for_ever)["status"] == "open"


def test_the_same_idempotency_key_asks_once(program):
    body = {"title": "Deploy?"}

    first = program.post("/api/requests", body, **{"Idempotency-Key": "k"})
    again = program.post("/api/requests?wait=0", body, **{"Idempotency-Key": "k"})
    other = program.post("/api/requests", {"title": "Else?"}, **{"Idempotency-Key": "k"})

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json()["id"] == again.json()["id"]
    assert again.json()["replayed"] is True
    assert first.headers["Location"] == f"/api/requests/{first.json()['id']}"


def test_the_etag_of_an_asked_request_is_that_of_its_address(program):
    created = program.post("/api/requests", {"title": "Deploy?"})

    read = program.get(created.headers["Location"])

    assert read.headers["ETag"] == created.headers["ETag"]


def test_a_longer_list_takes_no_more_queries(program):
    program.ask(tool="refund", args={"amount": 1})
    with CaptureQueriesContext(connection) as single:
        program.get("/api/requests")
    for amount in range(4):
        program.ask(tool="refund", args={"amount": amount}, session={"id": "s"})

    with CaptureQueriesContext(connection) as queries:
        listed = program.get("/api/requests").json()["results"]

    assert len(listed) == 5
    assert len(queries) == len(single)
