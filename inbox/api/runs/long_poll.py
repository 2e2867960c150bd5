"""`GET /api/runs/<id>?wait=<seconds>`: respond when the run pauses or ends."""

import asyncio
from contextlib import aclosing, suppress
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.db import InterfaceError, OperationalError

from inbox.api.base.authentication import actor_of_request
from inbox.api.base.request_ids import Receive, Send
from inbox.api.runs.streaming_app import read_body, until_disconnected
from inbox.feed import follow_run
from inbox.platform.db_executor import in_db_thread
from inbox.queries.people.live_access import TeamReader
from inbox.queries.runs.threads import run_for
from inbox.rules.errors import InvalidInput, RequestRejected
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES

MAX_WAIT_SECONDS = 30


class LongPoll:
    """
    Waits for the feed, then passes the request on as if it had just arrived.

    So the response is the same as without `wait`, with the permissions of that moment.
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
        wait_task = asyncio.create_task(_wait(scope, seconds))
        disconnect_task = asyncio.create_task(until_disconnected(receive))
        await asyncio.wait({wait_task, disconnect_task}, return_when=asyncio.FIRST_COMPLETED)
        is_disconnected = disconnect_task.done()
        for task in (wait_task, disconnect_task):
            task.cancel()
        await asyncio.gather(wait_task, disconnect_task, return_exceptions=True)
        if not is_disconnected:
            await self._application(scope, _again(body, receive), send)


def check_wait(text: str) -> int:
    """Return the seconds in `wait`. Raises InvalidInput."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 4
    if not (is_number and int(text) <= MAX_WAIT_SECONDS):
        raise InvalidInput(f"`wait` is a whole number of seconds, up to {MAX_WAIT_SECONDS}.")
    return int(text)


def _seconds_of(scope: Any) -> int:
    """Return how long to wait; 0 for requests that will be rejected."""
    if scope["method"] != "GET":
        return 0
    try:
        return check_wait(parse_qs(scope["query_string"].decode("latin-1")).get("wait", ["0"])[-1])
    except InvalidInput:
        return 0


async def _wait(scope: Any, seconds: int) -> None:
    """Return when the run pauses or ends, after `seconds`, or on an error."""
    request = ASGIRequest(scope, BytesIO())
    run_id = scope["url_route"]["kwargs"]["run_id"]
    try:
        arguments = await in_db_thread(_begin, request, run_id)
        if arguments is None:
            return
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(seconds),
                aclosing(follow_run(*arguments)) as chunks,  # type: ignore[type-var]
            ):
                async for _ in chunks:
                    pass
    except (RequestRejected, OperationalError, InterfaceError):
        return  # the view meets the same error and responds


def _begin(request: ASGIRequest, run_id: UUID) -> tuple[UUID, UUID, int, TeamReader] | None:
    """Return the arguments of `follow_run`, None if the run is not active."""
    actor = actor_of_request(request)
    run = run_for(actor, run_id)
    if run.status not in ACTIVE_RUN_STATUSES:
        return None
    # Read together with the status: the event that ends the run comes after it.
    after = run.thread.next_seq - 1
    reader = TeamReader(actor, run.thread.team_id)
    return run.thread_id, run.pk, after, reader


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that sends the body, which was read before, once more."""
    is_read = False

    async def read() -> Any:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return read
