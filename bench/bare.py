"""
Bare durable server, a baseline for the costs of the product.

Daphne, one PostgreSQL table, one commit before each chunk, and the events of the demo agent.
It checks nothing and has no other state.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
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

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["path"] == "/agui/rehearsal/":
            await self._play(json.loads(body), send)
        await send({"type": "http.response.body", "body": b""})

    async def _play(self, run_input: dict[str, Any], send: Send) -> None:
        thread = run_input["threadId"]
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
        if scenario == "stream":
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
        chunk = "".join(f"id: {seq}\ndata: {body}\n\n" for _, seq, body in rows)
        await send({"type": "http.response.body", "body": chunk.encode(), "more_body": True})

    async def _open_pool(self) -> psycopg_pool.AsyncConnectionPool:
        async with self._opening:
            if self._pool is None:
                self._pool = psycopg_pool.AsyncConnectionPool(
                    os.environ[_URL], min_size=4, max_size=20, open=False
                )
                await self._pool.open()
        return self._pool


application = Application()
