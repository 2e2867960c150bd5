"""Handshakes that are refused, sockets that wait for their input, and clients that do not read."""

import json
import re
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.e2e.agui_server.test_websockets import frames, session
from tests.support.http.agui_client import run_input
from tests.support.product import embedded_product
from tests.support.product_client import wait_for


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A product of its own, whose log and counts no other test has a part in."""
    directory = tmp_path_factory.mktemp("sockets")
    limits = {"SIGNOFF_RATE_LIMIT_ANONYMOUS": "20/day", "SIGNOFF_PROXIES": "1"}
    with embedded_product(directory, **limits) as running:
        yield running


@pytest.fixture
def address():
    """An address of its own for each test, as the proxy tells it."""
    return f"2001:db8:{uuid4().int % 65536:x}:{uuid4().int % 65536:x}::1"


def open_socket(site, path="/ws/agui/rehearsal/", **headers):
    url = site.url.replace("http", "ws") + path
    return connect(url, additional_headers=headers, open_timeout=10)


def status_of(site, path, **headers):
    with pytest.raises(InvalidStatus) as refused:
        open_socket(site, path, **headers)
    return refused.value.response.status_code


def log_of(site):
    return site.web.log.read_text()


def bearer(site, *scopes):
    return {"Authorization": f"Bearer {site.create_api_key(*(scopes or ('run', 'read')))}"}


# -- handshakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/ws/", "/ws/none/", "/api/agents", "/ws/agui/a/b/"])
def test_an_unknown_address_is_404_without_a_traceback(site, path, address):
    assert status_of(site, path, **{"X-Forwarded-For": address}) == 404

    assert "Traceback" not in log_of(site)


def test_a_root_path_of_the_client_changes_no_address(site):
    headers = {**bearer(site), "Daphne-Root-Path": "/elsewhere"}

    with open_socket(site, **headers):
        pass

    assert "Traceback" not in log_of(site)


@pytest.mark.parametrize("path", ["/ws/none/", "/ws/live/", "/ws/agui/rehearsal/"])
def test_handshakes_that_fail_are_counted_by_address(site, path, address):
    headers = {"X-Forwarded-For": address, "Authorization": "Bearer so_wrong"}
    wrong = 404 if path == "/ws/none/" else 401

    statuses = [status_of(site, path, **headers) for _ in range(21)]

    assert statuses == [wrong] * 20 + [429]


# -- sockets without an input ---------------------------------------------------------------------


def test_a_socket_without_an_input_is_closed_after_ten_seconds(site):
    with open_socket(site, **bearer(site)) as opened:
        events, code = frames(opened)

    assert [event["code"] for event in events] == ["INVALID_INPUT"]
    assert "10 seconds" in events[0]["message"]
    assert code == 4408


def test_a_caller_has_so_many_sockets_without_an_input_and_no_more(site):
    headers = bearer(site)
    with ExitStack() as opened:
        for _ in range(50):
            opened.enter_context(open_socket(site, **headers))

        assert status_of(site, "/ws/agui/rehearsal/", **headers) == 429

    with wait_until_open(site, headers) as again:
        again.send(json.dumps(run_input("rehearse:echo")))
        assert json.loads(again.recv(timeout=15))["type"] == "RUN_STARTED"


def wait_until_open(site, headers):
    """A socket, once those that were closed have given back their places."""
    opened = []

    def is_open():
        try:
            opened.append(open_socket(site, **headers))
        except InvalidStatus:
            return False
        return True

    assert wait_for(is_open, seconds=40)
    return opened[0]


# -- whoever lost their right between the handshake and the input ---------------------------------


def deactivate(site, username):
    """Without a process of its own, whose start can take longer than the socket waits."""
    path = Path(site.environment["SIGNOFF_DATA_DIR"]) / "signoff.sqlite3"
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        database.execute("UPDATE inbox_user SET is_active = 0 WHERE username = ?", [username])


def admin(site):
    return httpx.Client(base_url=site.url, headers=browser(site, "admin"), timeout=20)


def browser(site, username):
    cookies = session(site, username)
    token = re.search("csrftoken=([^;]+)", cookies)[1]
    origin = "http://" + urlsplit(site.url).netloc
    return {"Cookie": cookies, "Origin": origin, "X-CSRFToken": token}


def key_of(site, name):
    """A key made over REST, so that its id is known, and its headers."""
    with admin(site) as api:
        response = api.post("/api/teams/demo/keys", json={"name": name, "scopes": ["run", "read"]})
    assert response.status_code == 201, response.text
    return response.json()["id"], {"Authorization": f"Bearer {response.json()['token']}"}


def answer_to_an_input(opened):
    opened.send(json.dumps(run_input("rehearse:echo")))
    events, code = frames(opened)
    return [event.get("code") for event in events], code


def test_a_key_revoked_after_the_handshake_is_unauthenticated(site):
    key, headers = key_of(site, "revoked")
    with open_socket(site, **headers) as opened:
        with admin(site) as api:
            assert api.post(f"/api/keys/{key}/revoke").status_code == 200

        assert answer_to_an_input(opened) == (["UNAUTHENTICATED"], 4401)


def test_a_key_rotated_after_the_handshake_is_unauthenticated(site):
    key, headers = key_of(site, "rotated")
    with open_socket(site, **headers) as opened:
        with admin(site) as api:
            rotated = api.post(f"/api/keys/{key}/rotate", json={"overlap_hours": 0})
            assert rotated.status_code == 200, rotated.text

        assert answer_to_an_input(opened) == (["UNAUTHENTICATED"], 4401)


def test_a_person_who_signed_out_after_the_handshake_is_unauthenticated(site):
    marco = browser(site, "marco")
    with open_socket(site, **marco) as opened:
        answer = httpx.post(f"{site.url}/logout/", headers=marco)
        assert answer.status_code in (200, 302), answer.status_code

        assert answer_to_an_input(opened) == (["UNAUTHENTICATED"], 4401)


def test_a_person_deactivated_after_the_handshake_is_unauthenticated(site):
    with open_socket(site, **browser(site, "priya")) as opened:
        deactivate(site, "priya")

        assert answer_to_an_input(opened) == (["UNAUTHENTICATED"], 4401)


# -- noise ----------------------------------------------------------------------------------------


def test_frames_and_a_close_beside_a_run_leave_no_traceback(site):
    headers = bearer(site)
    for _ in range(5):
        with open_socket(site, **headers) as opened:
            opened.send(json.dumps(run_input("rehearse:stream:50:20")))
            opened.send(json.dumps(run_input("rehearse:echo")))

    assert "Traceback" not in log_of(site)


def test_refused_hosts_leave_one_line_each(site):
    before = log_of(site)
    for host in ("evil.example", "bad host", "a,b"):
        assert httpx.get(site.url, headers={"Host": host}).status_code == 400

    log_lines = log_of(site)[len(before) :]
    assert "Traceback" not in log_lines
    assert log_lines.count("Invalid HTTP_HOST header") == 3
