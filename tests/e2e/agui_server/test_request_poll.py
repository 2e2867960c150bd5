"""Programs that wait for their requests, on a running product."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.support.processes import manage

PATIENCE = 25
#: More than there are threads for the database.
MANY = 40
BODY = {"agent": "waiter", "title": "Refund?", "tool": "refund", "args": {"amount": 4750}}
_ADD = 'from inbox.management.teams import add_external_agent as a; a("demo", "waiter", "")'


@pytest.fixture(scope="module")
def call(product, key):
    """Call the API with the key that asks."""
    manage(product.environment, "shell", "-v0", "-c", _ADD)

    def send(method, path, body=None, by=key, **headers):
        headers["Authorization"] = f"Bearer {by}"
        url = product.url + path
        return httpx.request(method, url, json=body, headers=headers, timeout=PATIENCE + 10)

    return send


@pytest.fixture
def request_of_program(call):
    answer = call("POST", "/api/requests", BODY)
    assert answer.status_code == 201, answer.text
    return answer.json()


def approve(call, request):
    address = f"/api/interrupts/{request['items'][0]['interrupt']}"
    digest = call("GET", address).json()["view_digest"]
    body = {"status": "resolved", "payload": {"approved": True}, "view_digest": digest}
    answer = call("POST", f"{address}/decide", body)
    assert answer.status_code == 200, answer.text


def etag_of(answer):
    """The ETag, which compression makes weak."""
    return answer.headers["ETag"].removeprefix("W/")


def test_a_program_that_waits_hears_of_the_decision(call, request_of_program):
    address = f"/api/requests/{request_of_program['id']}"
    with ThreadPoolExecutor(MANY) as pool:
        begun = time.monotonic()
        waiting = [pool.submit(call, "GET", f"{address}?wait={PATIENCE}") for _ in range(MANY)]
        others = {call("GET", "/api/agents").status_code for _ in range(5)}
        approve(call, request_of_program)
        answers = [future.result() for future in waiting]

    assert others == {200}
    assert {answer.json()["status"] for answer in answers} == {"decided"}
    assert {etag_of(answer) for answer in answers} == {etag_of(call("GET", address))}
    assert time.monotonic() - begun < PATIENCE


def test_a_request_that_stays_open_is_told_after_the_time(call, request_of_program):
    begun = time.monotonic()
    answer = call("GET", f"/api/requests/{request_of_program['id']}?wait=1")

    assert answer.json()["status"] == "open"
    assert time.monotonic() - begun >= 1


def test_with_its_etag_a_program_waits_for_any_change(call, request_of_program):
    address = f"/api/requests/{request_of_program['id']}"
    etag = call("GET", address).headers["ETag"]
    approve(call, request_of_program)

    changed = call("GET", f"{address}?wait=20", **{"If-None-Match": etag})
    same = call("GET", f"{address}?wait=1", **{"If-None-Match": changed.headers["ETag"]})

    assert (changed.status_code, same.status_code) == (200, 304)


def test_a_post_waits_too(call):
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(
            call, "POST", f"/api/requests?wait={PATIENCE}", {**BODY, "session": {"id": "post"}}
        )
        rows = []
        while not rows:
            rows = call("GET", "/api/requests?session=post").json()["results"]
        approve(call, rows[0])
        answer = asking.result()

    read = call("GET", answer.headers["Location"])
    assert (answer.status_code, answer.json()["status"]) == (201, "decided")
    assert answer.json()["replayed"] is False
    assert etag_of(answer) == etag_of(read)


def test_a_key_that_is_revoked_while_it_waits_is_told_at_once(call, product, request_of_program):
    waiter = product.create_api_key("run")
    address = f"/api/requests/{request_of_program['id']}?wait={PATIENCE}"
    begun = time.monotonic()
    script = (
        "from inbox.models import ApiKey; from inbox.platform.clock import database_now;"
        "ApiKey.objects.filter(pk=ApiKey.objects.latest('pk').pk)"
        ".update(revoked_at=database_now())"
    )
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(call, "GET", address, by=waiter)
        manage(product.environment, "shell", "-v0", "-c", script)
        answer = waiting.result()

    assert answer.status_code == 401
    assert time.monotonic() - begun < PATIENCE


@pytest.mark.parametrize("wait", ["31", "-1", "x", "1.5"])
def test_a_time_that_is_none_is_refused_before_asking(call, wait):
    answer = call("POST", f"/api/requests?wait={wait}", BODY)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
