"""`GET /api/runs/<id>?wait=<seconds>`: the answer is held back until the run pauses or ends."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from functools import partial
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.db import InterfaceError, OperationalError

from inbox.api.base.authentication import actor_of_request
from inbox.api.runs.streaming_app import (
    Receive,
    Send,
    read_body,
    until_disconnected,
)
from inbox.feed import follow_run
from inbox.platform.db_executor import in_db_thread
from inbox.queries.people.access import is_still_allowed
from inbox.queries.runs.threads import run_for
from inbox.rules.errors import InvalidInput, RequestRejected
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES

LONGEST_WAIT_SECONDS = 30


class Waiting:
    """
    Waits with nothing but a follower of the feed, then has the request answered as any other.

    So whoever waits is told the same as whoever does not, with the permissions of that moment.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        seconds = _seconds_of(scope)
        if not seconds:
            await self._application(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return
        waiting = asyncio.create_task(_wait(scope, seconds))
        leaving = asyncio.create_task(until_disconnected(receive))
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        is_gone = leaving.done()
        for task in (waiting, leaving):
            task.cancel()
        await asyncio.gather(waiting, leaving, return_exceptions=True)
        if not is_gone:
            await self._application(scope, _again(body, receive), send)


def check_wait(text: str) -> int:
    """The seconds in `wait`. Raises InvalidInput."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 4
    if not (is_number and int(text) <= LONGEST_WAIT_SECONDS):
        raise InvalidInput(f"`wait` is a whole number of seconds, up to {LONGEST_WAIT_SECONDS}.")
    return int(text)


def _seconds_of(scope: Any) -> int:
    """How long to wait; not at all for what is refused without waiting."""
    if scope["method"] != "GET":
        return 0
    try:
        return check_wait(parse_qs(scope["query_string"].decode("latin-1")).get("wait", ["0"])[-1])
    except InvalidInput:
        return 0


async def _wait(scope: Any, seconds: int) -> None:
    """Return when the run does not go on, when the time is over, or when there is a refusal."""
    request = ASGIRequest(scope, BytesIO())
    run_id = scope["url_route"]["kwargs"]["run_id"]
    try:
        begun = await in_db_thread(_begin, request, run_id)
        if begun is None:
            return
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(seconds),
                aclosing(follow_run(*begun)) as chunks,  # type: ignore[type-var]
            ):
                async for _ in chunks:
                    pass
    except (RequestRejected, OperationalError, InterfaceError):
        return  # told by the answer, which meets the same


def _begin(request: ASGIRequest, run_id: UUID) -> tuple[UUID, UUID, int, Callable[[], bool]] | None:
    """What to follow from where, None if the run does not go on."""
    actor = actor_of_request(request)
    run = run_for(actor, run_id)
    if run.status not in ACTIVE_RUN_STATUSES:
        return None
    # Read together with the status: what ends the run comes after it.
    after = run.thread.next_seq - 1
    may_read = partial(is_still_allowed, actor, run.thread.team_id)
    return run.thread_id, run.pk, after, may_read


def _again(body: bytes, receive: Receive) -> Receive:
    """What the server has sent of the request, for somebody who begins to read it."""
    is_read = False

    async def read() -> Any:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return read
