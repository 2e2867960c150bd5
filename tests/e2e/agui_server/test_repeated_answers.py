"""Answers without an interrupt id that arrive twice, because a network or a client repeats them."""

import httpx
import pytest

from tests.e2e.agui_server.test_legacy_clients import Older, asked_by, command
from tests.support.http.agui_client import run_input, types


@pytest.fixture(params=["draft", "langgraph"])
def client(request, product, key):
    with httpx.Client(base_url=product.url, timeout=20) as http:
        older = Older(http, key)
        older.dialect = request.param
        yield older


def answer_to(events, *, approved=True):
    """A request that answers what was asked last, without its id."""
    payload = {"approved": approved}
    is_draft = "interrupt" in events[-1]
    fields = {"resume": {"payload": payload}} if is_draft else command(payload)
    return run_input(threadId=events[-1]["threadId"], **fields)


def tools_asked(events):
    """The tools that the client is asked to approve."""
    if "interrupt" in events[-1]:
        return [events[-1]["interrupt"]["payload"]["functionName"]]
    return [value["toolName"] for value in asked_by(events)]


def waiting(client, thread_id):
    results = client.get("/api/interrupts?state=open")["results"]
    return [interrupt for interrupt in results if interrupt["thread_id"] == thread_id]


def tools_waiting(client, thread_id):
    return [interrupt["tool"] for interrupt in waiting(client, thread_id)]


def test_a_repeated_last_answer_runs_nothing_again(client):
    events = client.run(run_input("rehearse:tool_call"))
    answer = answer_to(events)
    done = client.run(answer)

    again = client.run(answer)
    other = client.run({**answer_to(events, approved=False), "runId": answer["runId"]})

    assert "TOOL_CALL_RESULT" in types(done)
    assert types(again)[-1] == "RUN_FINISHED"
    assert "TOOL_CALL_RESULT" not in types(again)
    assert tools_asked(again) == []
    assert other[-1]["code"] == "INTERRUPT_ALREADY_RESOLVED"


def test_a_repeated_answer_is_followed_by_the_next_interrupt_again(client):
    events = client.run(run_input("rehearse:multi_step"))
    answer = answer_to(events)
    assert tools_asked(client.run(answer)) == ["deploy"]

    again = client.run(answer)

    assert tools_asked(again) == ["deploy"]
    assert tools_waiting(client, events[-1]["threadId"]) == ["deploy"]
    assert tools_asked(client.run(answer_to(again))) == []
    assert tools_waiting(client, events[-1]["threadId"]) == []


def test_another_answer_in_a_repeated_request_is_refused(client):
    events = client.run(run_input("rehearse:multi_step"))
    answer = answer_to(events)
    client.run(answer)

    other = client.run({**answer_to(events, approved=False), "runId": answer["runId"]})

    assert other[-1]["code"] == "INTERRUPT_ALREADY_RESOLVED"
    assert tools_waiting(client, events[-1]["threadId"]) == ["deploy"]


def test_a_repeated_request_answers_nothing_after_a_reload(client):
    events = client.run(run_input("rehearse:multi_step"))
    answer = answer_to(events)
    client.run(answer)
    client.reload(events[-1]["threadId"])

    again = client.run(answer)

    assert tools_asked(again) == ["deploy"]
    assert tools_waiting(client, events[-1]["threadId"]) == ["deploy"]


@pytest.mark.parametrize("client", ["draft"], indirect=True)
def test_a_request_repeated_after_a_later_one_answers_nothing(client):
    """Clients of the draft are asked one thing after the other."""
    events = client.run(run_input("rehearse:parallel3"))
    first = answer_to(events)
    client.run(answer_to(client.run(first)))

    again = client.run(first)

    assert tools_asked(again) == ["send_email"]
    assert len(tools_waiting(client, events[-1]["threadId"])) == 1


def test_a_client_may_answer_under_the_run_id_that_it_was_asked_in(client):
    events = client.run(run_input("rehearse:tool_call"))

    done = client.run({**answer_to(events), "runId": events[-1]["runId"]})

    assert "TOOL_CALL_RESULT" in types(done)


@pytest.mark.parametrize("client", ["draft"], indirect=True)
def test_a_repeated_answer_that_was_withdrawn_decides_nothing(client):
    events = client.run(run_input("rehearse:parallel3"))
    answer = answer_to(events)
    thread_id = events[-1]["threadId"]
    before = {interrupt["id"] for interrupt in waiting(client, thread_id)}
    client.run(answer)
    (decided,) = before - {interrupt["id"] for interrupt in waiting(client, thread_id)}
    withdrawn = client.http.post(f"/api/interrupts/{decided}/withdraw", headers=client.headers)
    assert withdrawn.status_code == 200, withdrawn.text

    again = client.run(answer)

    assert again[-1]["code"] == "VIEW_CHANGED"
    assert {interrupt["id"] for interrupt in waiting(client, thread_id)} == before


@pytest.mark.parametrize("client", ["langgraph"], indirect=True)
def test_a_late_repeat_of_a_map_of_answers_is_replayed(client):
    events = client.run(run_input("rehearse:multi_step"))
    thread_id = events[-1]["threadId"]
    (email,) = asked_by(events)
    answer = run_input(threadId=thread_id, **command({email["id"]: {"approved": True}}))
    assert tools_asked(client.run(answer)) == ["deploy"]

    again = client.run(answer)
    with_new_run_id = client.run({**answer, "runId": "another"})

    for replay in (again, with_new_run_id):
        assert types(replay)[-1] == "RUN_FINISHED"
        assert tools_asked(replay) == ["deploy"]
    assert tools_waiting(client, thread_id) == ["deploy"]


@pytest.mark.parametrize("client", ["langgraph"], indirect=True)
def test_a_late_map_with_another_answer_is_refused(client):
    events = client.run(run_input("rehearse:multi_step"))
    thread_id = events[-1]["threadId"]
    (email,) = asked_by(events)
    client.run(run_input(threadId=thread_id, **command({email["id"]: {"approved": True}})))

    other = client.run(run_input(threadId=thread_id, **command({email["id"]: {"approved": False}})))

    assert other[-1]["code"] == "INTERRUPT_ALREADY_RESOLVED"
    assert tools_waiting(client, thread_id) == ["deploy"]
