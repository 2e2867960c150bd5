"""The WebSockets, on a running product."""

import json
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.support.http.agui_client import run_input, types


@pytest.fixture
def socket(product, key):
    def open_socket(path="/ws/agui/rehearsal/", **headers):
        return connect(
            product.url.replace("http", "ws") + path,
            additional_headers=headers or {"Authorization": f"Bearer {key}"},
            open_timeout=10,
        )

    return open_socket


def frames(opened):
    """Every event up to the close of the socket."""
    received = []
    try:
        while True:
            received.append(json.loads(opened.recv(timeout=15)))
    except ConnectionClosed as closed:
        return received, closed.rcvd.code if closed.rcvd else None


def session(product, username="marco", password=None):
    """The cookies of somebody who signed in, with the demo's password if no other is given."""
    if password is None:
        accounts = json.loads(demo_credentials(product).read_text())["accounts"]
        password = next(
            account["password"] for account in accounts if account["username"] == username
        )
    with httpx.Client(base_url=product.url, follow_redirects=True) as browser:
        browser.get("/login/")
        answer = browser.post(
            "/login/",
            data={
                "username": username,
                "password": password,
                "csrfmiddlewaretoken": browser.cookies["csrftoken"],
            },
        )
        assert answer.status_code == 200
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def demo_credentials(product):
    from pathlib import Path

    return Path(product.environment["SIGNOFF_DATA_DIR"]) / "demo-credentials.json"


def test_one_frame_in_one_event_per_frame_out_and_closed_after_the_end(socket):
    with socket() as opened:
        opened.send(json.dumps(run_input("rehearse:tool_call")))
        events, code = frames(opened)

    assert types(events)[0] == "RUN_STARTED"
    assert events[-1]["outcome"]["type"] == "interrupt"
    assert code == 1000


@pytest.mark.parametrize(
    "frame",
    ["{", "[]", "null", '"x"', '{"threadId": 1}', '{"a": 1e999}', "[" * 100_000, b"\xff\xfe"],
)
def test_a_bad_frame_is_answered_with_an_error_event_and_a_close(socket, frame):
    with socket() as opened:
        opened.send(frame)
        events, code = frames(opened)

    assert types(events) == ["RUN_ERROR"]
    assert events[0]["code"] == "INVALID_INPUT"
    assert code == 4400


@pytest.mark.parametrize("is_running", [True, False])
def test_a_second_input_on_one_socket_is_refused(socket, door, is_running):
    first = run_input("rehearse:sleep:600")
    with socket() as opened:
        opened.send(json.dumps(first))
        events = [json.loads(opened.recv(timeout=60))] if is_running else []
        opened.send(json.dumps(run_input("rehearse:echo")))
        more, code = frames(opened)

    assert (events + more)[-1]["code"] == "INVALID_INPUT"
    assert code == 4400
    for run in door.get("/api/runs", status="running")["results"]:
        door.post(f"/api/runs/{run['id']}/cancel", "{}")


def test_an_unknown_agent_is_an_error_event(socket):
    with socket("/ws/agui/nobody/") as opened:
        opened.send(json.dumps(run_input("x")))
        events, _ = frames(opened)

    assert events[0]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("header", ["Bearer so_wrong", "Basic eDp5", "Bearer "])
def test_without_a_valid_key_there_is_no_socket(socket, header):
    with pytest.raises(InvalidStatus):
        socket(Authorization=header)


@pytest.mark.parametrize("path", ["/ws/live/", "/ws/agui/rehearsal/"])
@pytest.mark.parametrize("origin", ["http://evil.example", None])
def test_a_session_from_another_page_is_no_session(product, socket, path, origin):
    headers = {"Cookie": session(product)}
    if origin:
        headers["Origin"] = origin

    with pytest.raises(InvalidStatus):
        socket(path, **headers)


def test_an_open_page_is_told_that_something_changed_and_nothing_more(product, socket, door):
    origin = "http://" + urlsplit(product.url).netloc
    with socket("/ws/live/", Cookie=session(product), Origin=origin) as opened:
        hello = json.loads(opened.recv(timeout=10))
        door.run(run_input("rehearse:tool_call"))

        pokes = iter(lambda: json.loads(opened.recv(timeout=10)), None)
        poke = next(poke for poke in pokes if poke["type"] != "presence")

    assert hello["type"] == "hello"
    assert set(hello) == {"type", "position"}  # a position in the feed, nothing of a request
    assert poke["type"] == "inbox"
    assert set(poke) == {"type", "thread"}
