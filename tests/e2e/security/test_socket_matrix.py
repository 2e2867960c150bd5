"""The outcome of every WebSocket for every kind of caller, on a running product."""

import httpx
import pytest

from tests.support.http.agui_client import Door, resume, run_input
from tests.support.security.callers import NAMES, OUTSIDERS
from tests.support.security.routes import Things
from tests.support.security.sockets import SOCKETS, open_socket, outcome, socket_patterns

SESSIONS = ("stranger", "viewer", "reviewer", "admin")


@pytest.fixture(scope="session")
def asks(product, demo_callers):
    """Let the agent ask in a new thread, for another caller than those that decide."""
    with httpx.Client(base_url=product.url, timeout=20) as http:
        door = Door(http, demo_callers["k_run"].token)
        yield lambda: door.run(run_input("rehearse:tool_call"))


@pytest.fixture(scope="session")
def things(product, demo_callers, asks):
    """A thread that waits for an answer, and its interrupt."""
    external_id = asks()[0]["threadId"]
    with httpx.Client(base_url=product.url, timeout=20) as http:
        rows = http.get("/api/interrupts", headers=demo_callers["k_read"].headers).json()
    row = next(row for row in rows["results"] if row["thread_id"] == external_id)
    return Things(
        interrupt_id=row["id"], thread_id=row["thread"], run_id=row["run"], slug="rehearsal"
    )


@pytest.fixture
def get(product, demo_callers, asks):
    def get(socket, name, things, origin=product.url):
        frame = {
            "nothing": lambda: None,
            "message": lambda: run_input("rehearse:echo"),
            "approval": lambda: resume(asks()),
        }[socket.sends]()
        path = socket.path(things)
        return outcome(lambda: open_socket(product.url, path, demo_callers[name], origin), frame)

    return get


def test_every_websocket_is_declared():
    assert socket_patterns() == {socket.pattern for socket in SOCKETS}


@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_everybody_gets_from_a_websocket_what_the_table_says(socket, get, things):
    assert {name: get(socket, name, things) for name in NAMES} == socket.outcomes


@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_outsiders_get_the_same_from_existing_and_missing_sockets(socket, get, things):
    nowhere = Things.missing()

    for name in (*OUTSIDERS, "k_other_agent"):
        assert get(socket, name, nowhere) == get(socket, name, things), name


@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_no_session_opens_a_websocket_from_another_site(socket, get, things):
    for name in SESSIONS:
        assert get(socket, name, things, origin="https://evil.example") == "401", name
