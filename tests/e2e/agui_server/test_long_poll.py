"""A request that waits for a run, on a running product."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

PATIENCE = 25
#: More than there are threads for the database.
MANY = 40


def started(door, scenario):
    body = json.dumps({"agent": "rehearsal", "message": f"rehearse:{scenario}"})
    answer = door.post("/api/runs", body)
    assert answer.status_code == 202, answer.text
    return f"/api/runs/{answer.json()['id']}"


def ask(product, key, path, **query):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.get(product.url + path, params=query, headers=headers, timeout=PATIENCE + 10)


@pytest.mark.parametrize(
    ("scenario", "status"),
    [("sleep:1", "succeeded"), ("tool_call", "interrupted"), ("error", "failed")],
)
def test_a_run_is_told_when_it_does_not_go_on(door, product, key, scenario, status):
    path = started(door, scenario)

    begun = time.monotonic()
    answer = ask(product, key, path, wait=PATIENCE)

    assert answer.json()["status"] == status
    assert answer.json() == door.get(path)
    assert time.monotonic() - begun < PATIENCE


def test_a_run_that_goes_on_is_told_when_the_time_is_over(door, product, key):
    path = started(door, "sleep:60")

    begun = time.monotonic()
    answer = ask(product, key, path, wait=1)

    assert answer.json()["status"] in ("queued", "running")
    assert time.monotonic() - begun >= 1
    door.post(f"{path}/cancel", "{}")


def test_many_who_wait_keep_no_thread_from_others(door, product, key):
    path = started(door, "sleep:60")
    with ThreadPoolExecutor(MANY) as pool:
        waiting = [pool.submit(ask, product, key, path, wait=PATIENCE) for _ in range(MANY)]

        begun = time.monotonic()
        others = [ask(product, key, "/api/agents").status_code for _ in range(10)]
        seconds = time.monotonic() - begun
        still = [future for future in waiting if not future.done()]
        door.post(f"{path}/cancel", "{}")

        assert others == [200] * 10
        assert len(still) == MANY
        assert seconds < PATIENCE
        assert {future.result().json()["status"] for future in waiting} == {"cancelled"}


@pytest.mark.parametrize("wait", ["31", "-1", "x", "1.5", "", "٣", "9" * 30])
def test_a_time_that_is_none_is_refused_at_once(door, product, key, wait):
    path = started(door, "sleep:60")

    answer = ask(product, key, path, wait=wait)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
    door.post(f"{path}/cancel", "{}")


def test_who_may_not_read_the_run_is_told_so_at_once(door, product):
    path = started(door, "sleep:60")
    starter = product.create_api_key("run")

    begun = time.monotonic()
    answers = [ask(product, key, path, wait=PATIENCE) for key in ("", "so_none", starter)]
    missing = ask(product, door.headers["Authorization"][7:], f"/api/runs/{uuid4()}", wait=PATIENCE)

    assert [answer.status_code for answer in answers] == [401, 401, 403]
    assert missing.status_code == 404
    assert time.monotonic() - begun < PATIENCE
    door.post(f"{path}/cancel", "{}")


def test_a_key_that_ends_meanwhile_is_told_nothing_more(door, product):
    path = started(door, "sleep:60")
    admin = product.create_api_key("admin")
    reader = product.create_api_key("read", "admin")
    own = httpx.get(
        f"{product.url}/api/teams/demo/keys", headers={"Authorization": f"Bearer {reader}"}
    ).json()["results"]
    mine = next(key for key in own if reader.startswith(key["prefix"]))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, product, reader, path, wait=PATIENCE)
        httpx.post(
            f"{product.url}/api/keys/{mine['id']}/revoke",
            headers={"Authorization": f"Bearer {admin}"},
        ).raise_for_status()

        assert waiting.result().status_code == 401
    door.post(f"{path}/cancel", "{}")
