"""A call that takes longer than its lease keeps it."""

import asyncio
import json

import pytest
from signoff_client import Signoff
from signoff_client.aio import AsyncSignoff
from signoff_client.requests import read_request

from tests.support.clients.faulty_server import answer, faulty_server
from tests.support.product_client import wait_for

ITEM = {"id": "1", "status": "approved", "state": "waiting", "tool": "refund", "args_digest": "d"}
REQUEST = read_request({"id": "r1", "status": "decided", "items": [ITEM]})
STARTED = answer(json.dumps({"state": "started", "args": {}, "idempotency_key": "k"}))
REFUSED = answer('{"code": "IN_DOUBT", "detail": "too late"}', 409)


def starts(server) -> list[str]:
    """Return the attempts that were started or prolonged."""
    return [json.loads(body)["attempt"] for _, path, _, body in server.requests if "start" in path]


later_answers = pytest.mark.parametrize("later", [STARTED, REFUSED], ids=["prolonged", "refused"])


@later_answers
def test_the_lease_is_prolonged_while_the_block_runs(later):
    with faulty_server(STARTED, later) as server:
        block = Signoff(server.url, "key").start(REQUEST, lease_seconds=0)
        with block:
            assert wait_for(lambda: len(starts(server)) > 3, seconds=30)

    assert len(set(starts(server))) == 1
    assert sum(path.endswith("/report") for _, path, _, _ in server.requests) == 1


@later_answers
async def test_the_async_lease_is_prolonged_while_the_block_runs(later):
    with faulty_server(STARTED, later) as server:
        signoff = AsyncSignoff(server.url, "key")
        async with signoff, signoff.start(REQUEST, lease_seconds=0), asyncio.timeout(30):
            while len(starts(server)) < 4:
                await asyncio.sleep(0)

    assert len(set(starts(server))) == 1
    assert sum(path.endswith("/report") for _, path, _, _ in server.requests) == 1
