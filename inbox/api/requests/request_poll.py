"""`?wait=<seconds>` of requests: respond when the request is decided or has changed."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.db import InterfaceError, OperationalError

from inbox.actions.requests.heard import note_heard_again
from inbox.api.base.request_ids import Receive, Send
from inbox.api.runs.long_poll import check_wait
from inbox.api.runs.streaming_app import read_body, until_disconnected
from inbox.feed import Watcher, hub
from inbox.platform import clock
from inbox.platform.db_executor import in_db_thread
from inbox.platform.monitoring import request_facts
from inbox.queries.requests.requests import thread_of_request
from inbox.rules.errors import InvalidInput
from inbox.rules.requests.request_states import RequestStatus

#: Headers of a POST that a GET does not have.
_OF_BODIES = (b"content-length", b"content-type", b"transfer-encoding", b"idempotency-key")
#: Headers that differ from one poll to the next, and change nothing about the answer.
_OF_ONE_CALL = (b"x-request-id", b"traceparent", b"tracestate")
#: A program that asks again so soon after it waited so long goes on waiting: nothing is read.
_KEPT_SECONDS, _KEPT_AFTER_SECONDS = 5.0, 10.0
#: After this time the answer is read again, in case something changed that nobody is told of.
_FRESH_SECONDS = 300.0


@dataclass
class _Answer:
    """A response that is kept until it is known whether it is the last one."""

    start: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""

    async def take(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body += message.get("body", b"")

    @property
    def status(self) -> int:
        return int(self.start.get("status", 500))

    @property
    def json(self) -> Any:
        """Return the body, {} unless it is plain JSON of a successful response."""
        headers = {bytes(name).lower() for name, _ in self.start.get("headers", ())}
        if self.status not in (200, 201) or b"content-encoding" in headers:
            return {}
        return json.loads(self.body)

    @cached_property
    def is_open(self) -> bool:
        """Return whether the response is a request that is not decided."""
        return bool(self.json.get("status") == RequestStatus.OPEN)

    async def send(self, send: Send) -> None:
        await send(self.start)
        await send({"type": "http.response.body", "body": self.body})


@dataclass
class _Wait:
    """A request that is watched for a program, and the answer that the program has."""

    watcher: Watcher
    answer: _Answer | None = None
    read_at: float = 0.0  #: the event loop's time

    def take_fresh(self, now: float) -> _Answer | None:
        """Return the answer if nothing has changed since it was read."""
        is_fresh = not self.watcher.changed.is_set() and now - self.read_at < _FRESH_SECONDS
        return self.answer if is_fresh else None

    def end(self) -> None:
        hub().unwatch(self.watcher)


class RequestPoll:
    """
    Asks the application again after each change, until there is something to tell.

    So the response is the same as without `wait`, with the permissions of that moment. Thousands of
    programs may wait, each in poll after poll: between two polls of one key its request stays
    watched, as does the key, and the next poll reads nothing unless one of them has changed.
    """

    def __init__(self, application: Any) -> None:
        self._application = application
        self._kept: dict[Any, _Wait] = {}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        seconds = _seconds_of(scope)
        if not seconds:
            await self._application(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return
        disconnected = asyncio.create_task(until_disconnected(receive))
        try:
            answer = await self._answer(scope, body, seconds, disconnected)
            if not disconnected.done():
                await answer.send(send)
        finally:
            disconnected.cancel()

    async def _answer(
        self, scope: Any, body: bytes, seconds: int, disconnected: asyncio.Task[None]
    ) -> _Answer:
        deadline = asyncio.get_running_loop().time() + seconds
        # Without compression, because the body is read here.
        headers = [item for item in scope["headers"] if item[0].lower() != b"accept-encoding"]
        scope = {**scope, "headers": headers}
        request_id = scope["url_route"]["kwargs"].get("request_id")
        if scope["method"] == "GET" and request_id:
            return await self._wait(scope, request_id, deadline, disconnected)
        created = await self._call(scope, body)
        if scope["method"] != "POST" or not created.is_open:
            return created
        answer = created.json
        decided = await self._wait(
            _get_scope(scope, answer["id"]), UUID(answer["id"]), deadline, disconnected
        )
        if decided.status != 200:
            return decided
        return _merged(created, decided)

    async def _wait(
        self, scope: Any, request_id: UUID, deadline: float, disconnected: asyncio.Task[None]
    ) -> _Answer:
        """Return the answer of GET once it differs from the client's, or the request is decided."""
        loop = asyncio.get_running_loop()
        begun, poll = loop.time(), _poll_of(scope)
        wait = self._kept.pop(poll, None) or await _begin(request_id)
        if wait is None:
            return await self._call(scope, b"")
        if wait.take_fresh(begun) and wait.watcher.actor is not None:
            request_facts.set_actor(wait.watcher.actor)
            note_heard_again(request_id, clock.now())
        is_kept = False

        def wake(_: Any) -> None:
            wait.watcher.changed.set()

        disconnected.add_done_callback(wake)
        try:
            while True:
                answer = wait.take_fresh(loop.time()) or await self._read(wait, scope)
                if not _is_old(answer, scope):
                    return answer
                try:
                    async with asyncio.timeout_at(deadline):
                        await wait.watcher.changed.wait()
                except TimeoutError:
                    is_kept = loop.time() - begun >= _KEPT_AFTER_SECONDS
                    return answer  # the hub would have seen a change without a wake-up, too
                if disconnected.done():
                    return answer  # the client has disconnected: do not read again for it
        finally:
            disconnected.remove_done_callback(wake)
            if is_kept and wait.watcher.actor is not None:
                self._keep(poll, wait)
            else:
                wait.end()

    async def _read(self, wait: _Wait, scope: Any) -> _Answer:
        wait.watcher.changed.clear()
        wait.answer = await self._call(scope, b"")
        wait.read_at = asyncio.get_running_loop().time()
        facts = request_facts.current()
        actor = facts.actor if facts else None
        # Only the access of keys is complete in the hub's check.
        wait.watcher.actor = actor if actor is not None and actor.key_id is not None else None
        return wait.answer

    def _keep(self, poll: Any, wait: _Wait) -> None:
        """Watch on for a moment, for the program's next poll."""
        if (other := self._kept.pop(poll, None)) is not None:
            other.end()
        self._kept[poll] = wait
        asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._drop, poll, wait)

    def _drop(self, poll: Any, wait: _Wait) -> None:
        if self._kept.get(poll) is wait:
            del self._kept[poll]
            wait.end()

    async def _call(self, scope: Any, body: bytes) -> _Answer:
        answer = _Answer()
        is_read = asyncio.Event()

        async def receive() -> Any:
            if is_read.is_set():
                await asyncio.Event().wait()  # Django cancels this once it has responded
            is_read.set()
            return {"type": "http.request", "body": body, "more_body": False}

        await self._application(scope, receive, answer.take)
        return answer


async def _begin(request_id: UUID) -> _Wait | None:
    """Watch a request; None if it does not exist, or nobody knows."""
    try:
        thread_id = await in_db_thread(thread_of_request, request_id)
    except (OperationalError, InterfaceError):
        return None
    return None if thread_id is None else _Wait(await hub().watch(thread_id))


def _poll_of(scope: Any) -> Any:
    """Return all of a GET that its answer depends on."""
    address = (scope.get("client") or [None])[0]
    headers = [tuple(item) for item in scope["headers"] if item[0].lower() not in _OF_ONE_CALL]
    return (scope["path"], scope["query_string"], address, tuple(sorted(headers)))


def _is_old(answer: _Answer, scope: Any) -> bool:
    """Return whether the program knows the answer, and so goes on waiting."""
    has_version = any(name.lower() == b"if-none-match" for name, _ in scope["headers"])
    return answer.status == 304 if has_version else answer.is_open


def _get_scope(scope: Mapping[str, Any], request_id: str) -> dict[str, Any]:
    """Return the scope of reading a request, with the credentials of the POST that made it."""
    path = f"/api/requests/{request_id}"
    headers = [item for item in scope["headers"] if item[0].lower() not in _OF_BODIES]
    return {
        **scope,
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
    }


def _merged(created: _Answer, decided: _Answer) -> _Answer:
    """Return the response of POST with the request as it is now."""
    answer = created.json
    added = {name: answer[name] for name in ("replayed", "attached")}
    body = json.dumps({**decided.json, **added}, ensure_ascii=False, separators=(",", ":")).encode()
    replaced = (b"content-length", b"etag")
    headers = [item for item in created.start["headers"] if bytes(item[0]).lower() not in replaced]
    headers += [item for item in decided.start["headers"] if bytes(item[0]).lower() == b"etag"]
    headers.append((b"Content-Length", str(len(body)).encode()))
    return _Answer({**created.start, "headers": headers}, body)


def _seconds_of(scope: Any) -> int:
    """Return how long to wait; 0 for requests that will be rejected."""
    try:
        return check_wait(parse_qs(scope["query_string"].decode("latin-1")).get("wait", ["0"])[-1])
    except InvalidInput:
        return 0
