"""The log of a thread over REST: in pages, and followed as server-sent events."""

import json

import httpx
import pytest
from django.test import RequestFactory

from inbox.api.runs import events
from tests.e2e.agui_server.test_live_socket import sign_out
from tests.e2e.agui_server.test_websockets import session
from tests.support.http.agui_client import numbered, run_input
from tests.support.steps import start


@pytest.fixture
def thread(door):
    body = run_input("rehearse:echo")
    door.run(body)
    return door.thread(body["threadId"])


def test_the_log_is_read_in_pages_after_a_seq(door, thread):
    path = f"/api/threads/{thread['id']}/events"

    all_events = door.get(path)["results"]
    remaining = door.get(f"{path}?after=2")["results"]

    assert [item["seq"] for item in all_events] == list(range(1, thread["last_seq"] + 1))
    assert remaining == all_events[2:]
    assert all_events[0]["event"]["type"] == "RUN_STARTED"


def test_a_page_of_the_log_is_bounded_in_bytes_and_the_last_one_says_so(world, monkeypatch):
    monkeypatch.setattr(events, "PAGE_BYTES", 1)
    run = start(world, "rehearse:echo")
    headers = {"Authorization": f"Bearer {world.key}"}

    seqs, after = [], 0
    while after is not None:
        request = RequestFactory().get("/", {"after": after}, headers=headers)
        page = json.loads(events._page(request, run.thread_id).content)
        seqs += [item["seq"] for item in page["results"]]
        after = page["next_after"]

    assert seqs == list(range(1, run.events.count() + 1))
    assert len(seqs) > 2


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "%D9%A3", "9" * 30, "1%00"])
def test_a_cursor_that_is_no_seq_is_refused(door, thread, cursor):
    answer = door.http.get(
        f"/api/threads/{thread['id']}/events?after={cursor}", headers=door.headers
    )

    assert answer.status_code == 400
    assert "whole number" in answer.json()["detail"]


def test_a_stream_goes_on_after_the_last_event_a_client_has_seen(door, thread):
    headers = {**door.headers, "Accept": "text/event-stream", "Last-Event-ID": "2"}

    with door.http.stream(
        "GET", f"/api/threads/{thread['id']}/events", headers=headers
    ) as following:
        door.post("/agui/rehearsal/", json.dumps(run_input("x", threadId=thread["thread_id"])))
        seqs = []
        for seq, event in numbered(following):
            seqs.append(seq)
            if event["type"] == "RUN_FINISHED" and seq > thread["last_seq"]:
                break

    assert seqs == list(range(3, seqs[-1] + 1))


def test_a_cursor_beyond_the_end_waits_for_what_comes_next(door, thread):
    headers = {**door.headers, "Accept": "text/event-stream", "Last-Event-ID": "999999"}

    with door.http.stream(
        "GET", f"/api/threads/{thread['id']}/events", headers=headers
    ) as following:
        door.post("/agui/rehearsal/", json.dumps(run_input("x", threadId=thread["thread_id"])))
        seq, event = next(numbered(following))

    assert (seq, event["type"]) == (thread["last_seq"] + 1, "RUN_STARTED")


def test_a_stream_ends_with_the_session_that_it_was_opened_in(product, door, thread):
    cookies = session(product, "priya")
    headers = {"Cookie": cookies, "Accept": "text/event-stream"}

    with door.http.stream(
        "GET", f"/api/threads/{thread['id']}/events", headers=headers
    ) as following:
        events = numbered(following)
        next(events)
        sign_out(product, cookies)

        assert [seq for seq, _ in events][-1] == thread["last_seq"]


def test_a_log_is_not_shown_without_permission(product, door, thread):
    path = f"{product.url}/api/threads/{thread['id']}/events"
    starter = product.create_api_key("run")

    assert httpx.get(path).status_code == 401
    answer = httpx.get(path, headers={"Authorization": f"Bearer {starter}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
