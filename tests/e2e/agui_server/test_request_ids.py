"""The name of a request: the client's own or a new one, in the answer, the error and the log."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from uuid import UUID, uuid4

import httpx
import pytest

from inbox.api.base.request_ids import RequestIds
from inbox.models import AuditEntry
from inbox.platform.db_executor import in_db_thread
from inbox.rules.request_context import begin_request, current_request_id
from tests.support.steps import start

#: Each is served by another part: REST, streams, pages.
ADDRESSES = ["/api/agents", f"/api/threads/{UUID(int=0)}/events", "/login/"]


@pytest.mark.parametrize("path", ADDRESSES)
def test_an_answer_bears_the_name_that_the_client_gave_its_request(product, path):
    name = f"client.s_own-{uuid4().hex}"

    answer = httpx.get(product.url + path, headers={"X-Request-ID": name})

    assert answer.headers.get_list("X-Request-ID") == [name]


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_request_without_a_name_gets_one_that_sorts_by_time(product, path):
    first, second = (httpx.get(product.url + path).headers["X-Request-ID"] for _ in range(2))

    assert [UUID(first).version, UUID(second).version] == [7, 7]
    assert first < second


@pytest.mark.parametrize("name", ["", "a b", "a" * 65, "semi;colon", "ümlaut", "a/b", "a\x1b[2J"])
def test_a_name_that_could_mean_something_in_a_log_is_replaced(product, name):
    answer = httpx.get(
        product.url + "/api/agents", headers=[(b"X-Request-ID", name.encode("latin-1"))]
    )

    assert answer.status_code == 401
    assert UUID(answer.headers["X-Request-ID"]).version == 7


@pytest.mark.parametrize("path", ADDRESSES[:2])
def test_an_error_says_under_which_name_the_log_has_it(product, path):
    answer = httpx.get(product.url + path)

    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]


def test_every_line_of_the_log_names_its_own_request(product, key):
    names = [f"line-{number}-{uuid4().hex}" for number in range(16)]

    def ask(name):
        headers = {"Authorization": f"Bearer {key}", "X-Request-ID": name}
        path = f"/api/runs/{UUID(name[-32:])}"
        assert httpx.get(product.url + path, headers=headers).status_code == 404

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, names))

    logged = [line for line in product.web.log.read_text().splitlines() if "Not Found" in line]
    for name in names:
        asked_for = str(UUID(name[-32:]))
        (line,) = [line for line in logged if asked_for in line]
        assert re.search(rf"\brequest_id={name}\b", line)


async def test_work_on_the_database_is_done_under_the_name_of_its_request():
    begin_request("mine")

    assert await in_db_thread(current_request_id) == "mine"


async def test_a_thread_keeps_no_name_for_the_next_request():
    await in_db_thread(begin_request, "somebody else's")

    names = [await in_db_thread(current_request_id) for _ in range(30)]

    assert set(names) == {""}


async def test_a_websocket_has_a_name_as_well():
    names = []

    async def application(scope, receive, send):
        names.append(await in_db_thread(current_request_id))

    scope = {"type": "websocket", "headers": [(b"x-request-id", b"my-socket")]}
    await RequestIds(application)(scope, None, None)

    assert names == ["my-socket"]


def test_entries_of_the_trail_bear_the_name_of_the_request_that_made_them(world):
    def serve():
        begin_request("mine")
        start(world, "rehearse:echo")

    copy_context().run(serve)
    start(world, "rehearse:echo")

    entries = AuditEntry.objects.filter(action="run.started").order_by("pk")
    assert [json.loads(entry.body).get("request") for entry in entries] == ["mine", None]
