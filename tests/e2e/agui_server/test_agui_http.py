"""The AG-UI door over HTTP, on a running product."""

import json
import threading

import httpx
import psutil
import pytest

from tests.support.http.agui_client import (
    interrupts,
    numbered,
    resume,
    run_input,
    types,
)
from tests.support.http.rest_client import HOSTILE
from tests.support.processes import manage


def approval_of(question):
    """The body of a decision that approves a question as REST has told it."""
    digest = question["view_digest"]
    return {"status": "resolved", "payload": {"approved": True}, "view_digest": digest}


def test_stream_starts_with_protocol_version_and_ends_with_outcome(door):
    events = door.run(run_input("rehearse:echo"))

    assert events[0]["protocolVersion"] == "1.0"
    assert events[-1]["outcome"] == {"type": "success"}


def test_frames_are_separated_by_line_feeds_and_numbered(door):
    body = json.dumps(run_input("rehearse:echo"))

    answer = door.post("/agui/rehearsal/", body)

    assert "\r" not in answer.text
    assert [seq for seq, _ in numbered(answer)] == list(range(1, answer.text.count("data: ") + 1))


def test_an_approved_call_runs_and_the_thread_goes_on(door):
    events = door.run(run_input("rehearse:tool_call"))

    resumed = door.run(resume(events))

    (result,) = [event for event in resumed if event["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"])["executionCount"] == 1
    assert resumed[-1]["outcome"] == {"type": "success"}
    again = door.run(run_input("rehearse:echo", threadId=events[0]["threadId"]))
    assert again[-1]["outcome"] == {"type": "success"}


def test_a_run_survives_its_client(door):
    body = run_input("rehearse:stream:20:20")
    with door.http.stream("POST", "/agui/rehearsal/", json=body, headers=door.headers) as answer:
        next(numbered(answer))
    # The connection is closed now, long before the end of the run.

    events = door.connect(body["threadId"])

    assert types(events)[-1] == "RUN_FINISHED"
    text = "".join(event.get("delta", "") for event in events)
    assert text or len(events[-2]["messages"]) == 2


def test_a_reloaded_browser_gets_the_messages_and_the_open_questions(door):
    first_events = door.run(run_input("rehearse:parallel3"))

    events = door.connect(first_events[0]["threadId"])

    assert types(events) == [
        "RUN_STARTED",
        "STATE_SNAPSHOT",
        "MESSAGES_SNAPSHOT",
        "RUN_FINISHED",
    ]
    assert interrupts(events) == interrupts(first_events)
    calls = [call for message in events[2]["messages"] for call in message.get("toolCalls", ())]
    assert len(calls) == 3


def test_a_client_that_is_connected_follows_a_decision_made_in_the_inbox(door):
    events = door.run(run_input("rehearse:tool_call"))
    thread = door.thread(events[0]["threadId"])
    (question,) = [
        item for item in door.get("/api/interrupts")["results"] if item["thread"] == thread["id"]
    ]
    path = f"/api/threads/{thread['id']}/events"
    headers = {
        **door.headers,
        "Accept": "text/event-stream",
        "Last-Event-ID": str(thread["last_seq"]),
    }

    with door.http.stream("GET", path, headers=headers) as following:
        decided = door.post(
            f"/api/interrupts/{question['id']}/decide",
            json.dumps(approval_of(question)),
        )
        assert decided.status_code == 200
        seen = []
        for seq, event in numbered(following):
            seen.append((seq, event["type"]))
            if event["type"] == "RUN_FINISHED":
                break

    assert seen[0] == (thread["last_seq"] + 1, "RUN_STARTED")
    assert "TOOL_CALL_RESULT" in [kind for _, kind in seen]
    assert door.connect(events[0]["threadId"])[-1]["outcome"] == {"type": "success"}


def test_whoever_may_not_decide_gets_forbidden_and_the_questions_stay_open(runner, door):
    events = runner.run(run_input("rehearse:tool_call"))

    refused = runner.run(resume(events))

    assert types(refused) == ["RUN_STARTED", "RUN_ERROR"]
    assert refused[-1]["code"] == "FORBIDDEN"
    assert door.run(resume(events))[-1]["outcome"] == {"type": "success"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(lambda entries: entries[:1], "PARTIAL_RESUME", id="partial"),
        pytest.param(lambda entries: [*entries, entries[0]], "DUPLICATE_RESUME", id="duplicate"),
        pytest.param(
            lambda entries: [{**entries[0], "interruptId": "x"}, *entries[1:]],
            "UNKNOWN_INTERRUPT_ID",
            id="unknown",
        ),
        pytest.param(
            lambda entries: [{**entry, "payload": {"approved": "true"}} for entry in entries],
            "INVALID_PAYLOAD",
            id="truthy",
        ),
        pytest.param(
            lambda entries: [
                {**entry, "payload": {"approved": True, "toolCall": {"arguments": {"to": "x"}}}}
                for entry in entries
            ],
            "INVALID_PAYLOAD",
            id="edited elsewhere",
        ),
        pytest.param(lambda entries: [], "PENDING_INTERRUPTS", id="empty"),
    ],
)
def test_what_the_contract_refuses_is_an_event_and_changes_nothing(door, change, code):
    events = door.run(run_input("rehearse:parallel3"))
    full_resume = resume(events)

    refused = door.run({**full_resume, "runId": "refused", "resume": change(full_resume["resume"])})

    assert (types(refused)[-1], refused[-1]["code"]) == ("RUN_ERROR", code)
    assert len(interrupts(door.connect(events[0]["threadId"]))) == 3
    assert door.run(full_resume)[-1]["outcome"] == {"type": "success"}


def test_four_clients_with_the_same_resume_run_the_tool_once(door, product, key):
    events = door.run(run_input("rehearse:tool_call"))
    body = resume(events)
    start = threading.Barrier(4)
    answers = []

    def send():
        with httpx.Client(base_url=product.url, timeout=20) as http:
            client = type(door)(http, key)
            start.wait()
            answers.append(client.run(body))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [answer[-1]["outcome"] for answer in answers] == [{"type": "success"}] * 4
    log = door.get(f"/api/threads/{door.thread(events[0]['threadId'])['id']}/events")
    contents = [
        json.loads(item["event"]["content"])
        for item in log["results"]
        if item["event"]["type"] == "TOOL_CALL_RESULT"
    ]
    assert [content["executionCount"] for content in contents] == [1]


def test_capabilities_are_told(door):
    capabilities = door.get("/agui/rehearsal/capabilities/")

    assert capabilities["humanInTheLoop"]["interrupts"] is True
    assert capabilities["humanInTheLoop"]["approveWithEdits"] is True


# -- bad input --------------------------------------------------------------------------------

NO_INPUTS = {
    "no runId": {"threadId": "t", "messages": []},
    "a null threadId": {"threadId": None, "runId": "r", "messages": []},
    "a legacy resume": run_input("x", resume={"interruptId": "i", "payload": True}),
    "a status of our own": run_input(
        "x", resume=[{"interruptId": "i", "status": "denied", "payload": True}]
    ),
    "messages without roles": run_input("x", messages=[{"id": "1", "content": "x"}]),
    "a list": [],
    "null": None,
}


@pytest.mark.parametrize("body", NO_INPUTS.values(), ids=NO_INPUTS.keys())
def test_what_is_no_run_agent_input_is_400_and_says_why(door, body):
    answer = door.post("/agui/rehearsal/", json.dumps(body))

    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] == "INVALID_INPUT"
    assert len(answer.json()["detail"]) > 20


NOT_KEPT = {
    "an empty threadId": run_input("x", threadId=""),
    "a long runId": run_input("x", runId="r" * 201),
    "a state of more than a mebibyte": run_input("x", state={"x": "y" * 1_100_000}),
}


@pytest.mark.parametrize("body", NOT_KEPT.values(), ids=NOT_KEPT.keys())
def test_an_input_that_cannot_be_kept_is_422_and_says_why(door, body):
    answer = door.post("/agui/rehearsal/", json.dumps(body))

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
    assert len(answer.json()["detail"]) > 20


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("path", ["/agui/rehearsal/", "/agui/rehearsal/connect/"])
def test_a_hostile_body_is_400(door, path, body):
    assert door.post(path, body).status_code == 400


def test_too_large_a_body_is_413(door):
    answer = door.post("/agui/rehearsal/", b'"' + b"x" * 3 * 1024 * 1024 + b'"')

    assert answer.status_code == 413


def test_the_wrong_content_type_is_415(door):
    answer = door.post("/agui/rehearsal/", b"{}", **{"Content-Type": "text/plain"})

    assert answer.status_code == 415


def test_an_unknown_agent_is_404(door):
    assert door.post("/agui/nobody/", json.dumps(run_input("x"))).status_code == 404


def test_an_unknown_thread_cannot_be_connected_to(door):
    assert door.post("/agui/rehearsal/connect/", '{"threadId": "nowhere"}').status_code == 404


def test_without_a_key_the_door_is_shut(product):
    answer = httpx.post(f"{product.url}/agui/rehearsal/", json=run_input("rehearse:echo"))

    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")


def test_a_gigantic_body_costs_no_memory(door, product):
    before = psutil.Process(product.web.pid).memory_info().rss

    with pytest.raises(httpx.HTTPError):  # it is cut off long before its end
        door.http.post(
            "/agui/rehearsal/",
            content=(b"x" * 65_536 for _ in range(1_600)),
            headers={**door.headers, "Content-Type": "application/json"},
        )

    grown = psutil.Process(product.web.pid).memory_info().rss - before
    assert grown < 20 * 1024 * 1024


def test_a_client_that_connects_during_a_run_gets_what_the_run_was_given(door):
    body = run_input("rehearse:stream:10:30")
    with door.http.stream("POST", "/agui/rehearsal/", json=body, headers=door.headers) as answer:
        next(numbered(answer))
        events = door.connect(body["threadId"])

    snapshot = next(event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
    assert [message["role"] for message in snapshot["messages"]][:1] == ["user"]
    assert events[-1]["outcome"] == {"type": "success"}


def test_a_replay_after_the_next_question_was_answered_asks_nothing_again(door):
    events = door.run(run_input("rehearse:multi_step"))
    first = resume(events)
    deploy = door.run(first)
    assert door.run(first)[-1]["outcome"]["type"] == "interrupt"

    door.run(resume(deploy))

    assert door.run(first)[-1]["outcome"] == {"type": "success"}


def test_a_stream_ends_when_its_key_is_revoked(door, product):
    body = run_input("rehearse:echo")
    door.run(body)
    thread = door.thread(body["threadId"])
    reader = product.create_api_key("read")
    headers = {"Authorization": f"Bearer {reader}", "Accept": "text/event-stream"}

    with door.http.stream(
        "GET", f"/api/threads/{thread['id']}/events", headers=headers
    ) as following:
        events = numbered(following)
        next(events)
        manage(product.environment, "shell", "-c", REVOKE.format(prefix=reader[:9]))

        assert all(event for _, event in events)  # it comes to an end


REVOKE = (
    "from inbox.models import ApiKey; from django.utils import timezone; "
    "ApiKey.objects.filter(prefix={prefix!r}).update(revoked_at=timezone.now())"
)


def test_a_chunked_body_is_read_like_any_other(door):
    body = json.dumps({"agent": "rehearsal", "message": "rehearse:echo"}).encode()

    answer = door.http.post(
        "/api/runs",
        content=iter([body[:10], body[10:]]),
        headers={**door.headers, "Content-Type": "application/json"},
    )

    assert answer.status_code == 202, answer.text


def test_an_input_by_the_names_of_another_language_is_no_crash(door):
    body = {"thread_id": "t", "run_id": "r", "messages": [], "state": {}}

    assert door.post("/agui/rehearsal/", json.dumps(body)).status_code in (200, 400)


def test_two_callers_may_use_the_same_idempotency_key(door, runner):
    body = json.dumps({"agent": "rehearsal", "message": "rehearse:echo"})
    headers = {"Idempotency-Key": "1"}

    ours = door.post("/api/runs", body, **headers).json()
    theirs = runner.post("/api/runs", body, **headers).json()

    assert ours["thread"] != theirs["thread"]
    assert door.post("/api/runs", body, **headers).json()["id"] == ours["id"]


def test_replay_of_an_active_run_follows_it_under_the_client_run_id(door):
    first_events = door.run(run_input("rehearse:tool_call"))
    thread = door.thread(first_events[0]["threadId"])
    (question,) = [
        item for item in door.get("/api/interrupts")["results"] if item["thread"] == thread["id"]
    ]
    door.post(f"/api/interrupts/{question['id']}/decide", json.dumps(approval_of(question)))

    events = door.run(resume(first_events, runId="mine"))

    assert (events[0]["runId"], events[-1]["runId"]) == ("mine", "mine")
    assert events[-1]["outcome"] == {"type": "success"}


@pytest.mark.parametrize(
    ("value", "where"),
    [({"version": 7}, "input.version"), ({"services": "api"}, "input.services"), ("9.2", "input:")],
)
def test_a_run_is_not_started_with_what_its_agent_cannot_read(door, value, where):
    props = {"input": value}
    body = json.dumps(run_input("go", forwardedProps=props))

    by_door = door.post("/agui/release-train/", body)
    request = {"agent": "release-train", "message": "go", "forwarded_props": props}
    by_rest = door.post("/api/runs", json.dumps(request))

    for answer in (by_door, by_rest):
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
        assert where in answer.json()["detail"]
