"""What callers meet who call too often: on REST, at the door, in streams and at sockets."""

import json
import re
from uuid import UUID, uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.http.agui_client import run_input
from tests.support.processes import start_web
from tests.support.product import embedded_product, scaled_product

#: Each is served by another part: REST, a stream, the door, a page of the log.
ADDRESSES = [
    ("GET", "/api/agents"),
    ("GET", f"/api/runs/{UUID(int=0)}?wait=1"),
    ("GET", f"/api/threads/{UUID(int=0)}/events"),
    ("POST", "/agui/rehearsal/connect/"),
    ("GET", "/agui/rehearsal/capabilities/"),
]


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A product that takes five calls a day of a key, and three of strangers."""
    directory = tmp_path_factory.mktemp("strict")
    limits = {"SIGNOFF_RATE_LIMIT": "5/day", "SIGNOFF_RATE_LIMIT_ANONYMOUS": "3/day"}
    with embedded_product(directory, **limits, SIGNOFF_PROXIES="1") as running:
        yield running


@pytest.fixture
def caller(strict):
    token = strict.create_api_key("run", "read")
    with httpx.Client(
        base_url=strict.url, headers={"Authorization": f"Bearer {token}"}, timeout=20
    ) as http:
        yield http


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_responses_have_rate_headers_and_a_429_has_retry_after(caller, method, path):
    answers = [caller.request(method, path, json={"threadId": "none"}) for _ in range(6)]

    for left, answer in zip([4, 3, 2, 1, 0, 0], answers, strict=True):
        assert answer.headers.get_list("RateLimit-Policy") == ['"caller";q=5;w=86400']
        assert re.fullmatch(rf'"caller";r={left};t=\d+', answer.headers["RateLimit"])
    *allowed, refused = answers
    assert {answer.status_code for answer in allowed} <= {200, 404}
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert int(refused.headers["Retry-After"]) == refused.json()["retry_after"] > 0


def test_who_fails_to_prove_who_they_are_is_counted_by_address(strict, caller):
    def ask(token, address):
        headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": address}
        return httpx.get(f"{strict.url}/api/agents", headers=headers)

    first = [ask("so_wrong", "192.0.2.1") for _ in range(4)]
    assert [answer.status_code for answer in first] == [401, 401, 401, 429]
    assert first[0].headers["RateLimit-Policy"] == '"address";q=3;w=86400'

    assert ask("so_wrong", "192.0.2.2").status_code == 401
    valid = caller.headers["Authorization"].removeprefix("Bearer ")
    assert ask(valid, "192.0.2.1").status_code == 200


def test_a_socket_is_one_call_as_well(strict, caller):
    url = f"{strict.url.replace('http', 'ws')}/ws/agui/rehearsal/"
    token = {"Authorization": caller.headers["Authorization"]}

    def run():
        with connect(url, additional_headers=token) as socket:
            socket.send(json.dumps(run_input("rehearse:echo", threadId=str(uuid4()))))
            return json.loads(socket.recv(timeout=20))

    first = [run() for _ in range(5)]

    assert [event["type"] for event in first] == ["RUN_STARTED"] * 5
    with pytest.raises(InvalidStatus) as refused:
        run()
    assert refused.value.response.status_code == 429


def test_pages_are_not_counted(strict):
    answers = [httpx.get(f"{strict.url}/login/") for _ in range(6)]

    assert {answer.status_code for answer in answers} == {200}
    assert not any("RateLimit" in answer.headers for answer in answers)


@pytest.mark.services
def test_all_servers_of_a_product_count_together(tmp_path):
    with (
        scaled_product(tmp_path, workers=0, SIGNOFF_RATE_LIMIT="5/day") as product,
        start_web(product.environment, log=tmp_path / "second.log") as second,
    ):
        key = {"Authorization": f"Bearer {product.create_api_key('read')}"}
        urls = [product.url, second.url] * 3
        answers = [httpx.get(f"{url}/api/agents", headers=key, timeout=20) for url in urls]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert [answer.headers["RateLimit"].partition(";t=")[0] for answer in answers] == [
        f'"caller";r={left}' for left in (4, 3, 2, 1, 0, 0)
    ]
