"""Event streams and pages beyond the limits of a team are refused; others go on."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.e2e.agui_server.test_websockets import session
from tests.support.processes import manage
from tests.support.product import Product, embedded_product
from tests.support.product_client import Client

STREAMS, ATTEMPTS, PAGES = 20, 60, 3


@pytest.fixture(scope="module")
def limited(tmp_path_factory) -> Iterator[Product]:
    limits = f"streams={STREAMS}, sockets={PAGES}"
    directory = tmp_path_factory.mktemp("limited")
    with embedded_product(directory, demo=False, SIGNOFF_LIMITS=limits) as running:
        manage(running.environment, "add_agent", "rehearsal", "--team", "greedy")
        manage(running.environment, "add_agent", "treasury", "--team", "modest")
        yield running


def client_of(team, product) -> Client:
    return Client(product.url, product.create_api_key("read", "run", "decide", team=team))


def thread_of(client, agent):
    return client.start("rehearse:echo", agent=agent).json()["thread"]


def open_stream(stack, client, thread):
    """Open a stream that stays open until the stack ends, and return its response."""
    request = client.http.stream(
        "GET", f"/api/threads/{thread}/events", headers={"Accept": "text/event-stream"}
    )
    response = stack.enter_context(request)
    if response.status_code != 200:
        response.read()
    return response


def test_streams_beyond_the_limit_are_refused_and_others_go_on(limited):
    with client_of("greedy", limited) as greedy, client_of("modest", limited) as modest:
        greedy_thread, modest_thread = thread_of(greedy, "rehearsal"), thread_of(modest, "treasury")
        with ExitStack() as streams:
            responses = [open_stream(streams, greedy, greedy_thread) for _ in range(ATTEMPTS)]

            statuses = [response.status_code for response in responses]
            assert statuses == [200] * STREAMS + [429] * (ATTEMPTS - STREAMS)
            assert responses[-1].json()["limit"] == "streams"
            assert int(responses[-1].headers["Retry-After"]) > 0
            assert httpx.get(f"{limited.url}/healthz").status_code == 200
            assert modest.http.get("/api/interrupts").status_code == 200
            assert open_stream(streams, modest, modest_thread).status_code == 200
            used = modest.http.get("/api/limits/modest").json()["limits"]
            assert [row["used"] for row in used if row["limit"] == "streams"] == [1]
        assert opens_again(greedy, greedy_thread)


def opens_again(client, thread):
    """Return whether a stream can be opened, once the server has noticed that others are closed."""
    for _ in range(100):
        with ExitStack() as stack:
            if open_stream(stack, client, thread).status_code == 200:
                return True
        threading.Event().wait(0.1)
    return False


_PASSWORD = "words of a viewer"
_SET_PASSWORD = (
    "from inbox.models import User; ana = User.objects.get(username='ana');"
    f"ana.set_password({_PASSWORD!r}); ana.save()"
)


def test_pages_beyond_the_limit_have_no_live_updates(limited):
    member = ("--username", "ana", "--team", "greedy", "--role", "viewer")
    manage(limited.environment, "create_member", *member)
    manage(limited.environment, "shell", "-v0", "-c", _SET_PASSWORD)
    cookies = session(limited, "ana", password=_PASSWORD)
    headers = {"Cookie": cookies, "Origin": limited.url}
    url = f"{limited.url.replace('http', 'ws')}/ws/live/"
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(connect(url, additional_headers=headers)) for _ in range(PAGES)
        ]
        assert all(socket.recv(timeout=20) for socket in sockets)

        with pytest.raises(InvalidStatus), connect(url, additional_headers=headers):
            pass
