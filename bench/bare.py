"""
Bare durable server, a baseline for the costs of the product.

Daphne, one PostgreSQL table, one commit before each chunk, and the events of the demo agent.
It checks nothing and has no other state.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import psycopg_pool

from tests.support.children import free_port, start_child, stop_child, wait_until
from tests.support.postgres import PostgresServer
from tests.support.processes import REPOSITORY, is_healthy

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_URL = "BENCH_BARE_DATABASE_URL"
#: As large as the product's chunks of a stream without pauses.
_DELTAS_PER_CHUNK = 250


@contextmanager
def start(directory: Path) -> Iterator[tuple[str, int]]:
    """Run the bare server on a durable PostgreSQL of its own; yield its URL and process id."""
    with PostgresServer(durable=True) as database:
        url = database.create_database("bare")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE event (thread text, seq bigint, body text, PRIMARY KEY (thread, seq))"
            )
        port, log = free_port(), directory / "bare.log"
        environment = {**os.environ, _URL: url, "DJANGO_SETTINGS_MODULE": ""}
        command = ["-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "bench.bare:application"]
        process = start_child([sys.executable, *command], log=log, env=environment, cwd=REPOSITORY)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_until(
                lambda: is_healthy(address),
                process=process,
                log=log,
                what="the bare server",
                timeout_seconds=30,
            )
            yield address, process.pid
        finally:
            stop_child(process)


class Application:
    """An ASGI application that plays the scenarios of the workloads."""

    def __init__(self) -> None:
        self._pool: psycopg_pool.AsyncConnectionPool | None = None
        self._next: dict[str, int] = {}
        self._opening = asyncio.Lock()
        self._followers: dict[str, list[asyncio.Queue[bytes]]] = {}
        self._newest = ""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        if scope["path"] == "/api/interrupts":
            await self._list(send)
            return
        if scope["path"] == "/api/threads":
            await _answer(send, {"results": [{"id": self._newest}]})
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["path"] == "/agui/rehearsal/":
            await self._play(json.loads(body), send)
        elif scope["path"].endswith("/events"):
            await self._follow(scope["path"].split("/")[3], send)
        await send({"type": "http.response.body", "body": b""})

    async def _list(self, send: Send) -> None:
        pool = await self._open_pool()
        async with pool.connection() as connection:
            rows = await connection.execute("SELECT body FROM event ORDER BY thread, seq LIMIT 50")
            bodies = [json.loads(body) for (body,) in await rows.fetchall()]
        await _answer(send, {"results": bodies})

    async def _follow(self, thread: str, send: Send) -> None:
        """Send the events so far, then each chunk that is committed."""
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._followers.setdefault(thread, []).append(queue)
        try:
            pool = await self._open_pool()
            async with pool.connection() as connection:
                rows = await connection.execute(
                    "SELECT seq, body FROM event WHERE thread = %s ORDER BY seq", [thread]
                )
                chunk = _chunk(await rows.fetchall())
            while True:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                chunk = await queue.get()
        finally:
            self._followers[thread].remove(queue)

    async def _play(self, run_input: dict[str, Any], send: Send) -> None:
        thread = self._newest = run_input["threadId"]
        run = {"threadId": thread, "runId": run_input["runId"]}
        started = {"type": "RUN_STARTED", **run}
        if run_input.get("resume"):
            results = [
                {"type": "TOOL_CALL_RESULT", "toolCallId": entry["interruptId"], "content": "{}"}
                for entry in run_input["resume"]
            ]
            await self._commit_and_send(send, thread, [started])
            await self._commit_and_send(send, thread, [*results, {"type": "RUN_FINISHED", **run}])
            return
        text = run_input["messages"][-1]["content"]
        scenario, _, number = text.removeprefix("rehearse:").partition(":")
        await self._commit_and_send(send, thread, [started])
        if scenario == "echo":
            await self._commit_and_send(send, thread, [{"type": "RUN_FINISHED", **run}])
        elif scenario == "stream":
            await self._stream(send, thread, int(number))
            await self._commit_and_send(send, thread, [{"type": "RUN_FINISHED", **run}])
        else:
            await self._ask(send, thread, run, int(number or 1))

    async def _stream(self, send: Send, thread: str, number: int) -> None:
        sent = 0
        while sent < number:
            size = 1 if not sent else _DELTAS_PER_CHUNK
            words = [f"word {index} " for index in range(sent + 1, min(sent + size, number) + 1)]
            sent += len(words)
            delta = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "".join(words)}
            await self._commit_and_send(send, thread, [delta])

    async def _ask(self, send: Send, thread: str, run: dict[str, str], number: int) -> None:
        ids = [str(uuid4()) for _ in range(number)]
        calls = [
            {"type": kind, "toolCallId": name, "toolCallName": "send_email", "delta": "{}"}
            for name in ids
            for kind in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")
        ]
        interrupts = [{"id": name, "reason": "tool_call", "toolCallId": name} for name in ids]
        outcome = {"type": "interrupt", "interrupts": interrupts}
        await self._commit_and_send(
            send, thread, [*calls, {"type": "RUN_FINISHED", **run, "outcome": outcome}]
        )

    async def _commit_and_send(self, send: Send, thread: str, events: list[dict[str, Any]]) -> None:
        """Commit the events, then send them in one chunk."""
        bodies = [json.dumps(event, separators=(",", ":")) for event in events]
        first = self._next.get(thread, 1)
        self._next[thread] = first + len(bodies)
        rows = [(thread, first + offset, body) for offset, body in enumerate(bodies)]
        pool = await self._open_pool()
        async with pool.connection() as connection, connection.cursor() as cursor:
            await cursor.executemany("INSERT INTO event VALUES (%s, %s, %s)", rows)
        chunk = _chunk((seq, body) for _, seq, body in rows)
        for queue in self._followers.get(thread, ()):
            queue.put_nowait(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _open_pool(self) -> psycopg_pool.AsyncConnectionPool:
        async with self._opening:
            if self._pool is None:
                self._pool = psycopg_pool.AsyncConnectionPool(
                    os.environ[_URL], min_size=4, max_size=20, open=False
                )
                await self._pool.open()
        return self._pool


def _chunk(rows: Iterable[tuple[Any, ...]]) -> bytes:
    return "".join(f"id: {seq}\ndata: {body}\n\n" for seq, body in rows).encode()


async def _answer(send: Send, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


application = Application()
