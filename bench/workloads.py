"""AG-UI workloads: W1 approval trips, W2 streams, W3 many interrupts at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from bench.figures import Figures, percentile, spread
from bench.meter import Meter
from bench.wire import Connection, Frame, UnexpectedResponse

ENDPOINT = "/agui/rehearsal/"
APPROVE = {"approved": True}
DELTAS = 1_000


@dataclass(frozen=True)
class Target:
    """A product to measure."""

    url: str
    key: str
    meter: Meter

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def connection(self) -> Connection:
        return Connection(self.url, self.headers)


@dataclass
class Trips:
    """Durations of approval trips, in seconds."""

    to_interrupt: list[float] = field(default_factory=list)  #: start -> interrupt received
    to_result: list[float] = field(default_factory=list)  #: decide -> tool result received


async def trips(target: Target, *, at_once: int, number: int) -> Figures:
    """W1: `number` approval trips, `at_once` of them at a time."""
    times = Trips()
    each = max(1, number // at_once)

    async def travel(connection: Connection) -> None:
        for _ in range(each):
            await _trip(connection, times)

    seconds, cpu = await run_concurrently(target, at_once, travel)
    total = each * at_once
    return {
        **spread("start -> interrupt", times.to_interrupt),
        **spread("decide -> result", times.to_result),
        "trips per second": total / seconds,
        "server CPU ms per trip": cpu * 1000 / total,
    }


async def _trip(connection: Connection, times: Trips) -> None:
    begun = time.perf_counter()
    start = message_input("rehearse:tool_call")
    last = await _last_frame(connection, start)
    times.to_interrupt.append(last.at - begun)
    decided = time.perf_counter()
    result: Frame | None = None
    async for frame in connection.events(ENDPOINT, _resume(start["threadId"], last)):
        last = frame
        if result is None and frame.is_a("TOOL_CALL_RESULT"):
            result = frame
    if result is None or not last.is_a("RUN_FINISHED"):
        raise UnexpectedResponse(f"the resume ended with {last.data[:300]!r}")
    times.to_result.append(result.at - decided)


async def streams(target: Target, *, at_once: int, times: int) -> Figures:
    """W2: `at_once` runs of 1,000 text deltas side by side, `times` times over."""
    first: list[float] = []
    expected = "".join(f"word {index} " for index in range(1, DELTAS + 1))
    events = 0

    async def watch(connection: Connection) -> None:
        nonlocal events
        for _ in range(times):
            begun = time.perf_counter()
            text: list[str] = []
            async for frame in connection.events(
                ENDPOINT, message_input(f"rehearse:stream:{DELTAS}")
            ):
                events += 1
                if frame.is_a("TEXT_MESSAGE_CONTENT"):
                    if not text:
                        first.append(frame.at - begun)
                    text.append(frame.event()["delta"])
            if "".join(text) != expected:
                raise UnexpectedResponse("the text of a stream is not complete")

    seconds, cpu = await run_concurrently(target, at_once, watch)
    total = at_once * times * DELTAS
    return {
        "deltas per second": total / seconds,
        "first delta p50 ms": percentile(first, 50) * 1000,
        "first delta max ms": max(first) * 1000,
        "server CPU us per delta": cpu * 1_000_000 / total,
        "events per run": events / (at_once * times),
    }


async def interrupts(target: Target, *, number: int, times: int) -> Figures:
    """W3: one run with `number` interrupts, answered in one resume."""
    to_interrupts: list[float] = []
    to_finish: list[float] = []

    async def trip(connection: Connection) -> None:
        for _ in range(times):
            begun = time.perf_counter()
            start = message_input(f"rehearse:parallel:{number}")
            last = await _last_frame(connection, start)
            to_interrupts.append(last.at - begun)
            decided = time.perf_counter()
            end = await _last_frame(connection, _resume(start["threadId"], last))
            if not end.is_a("RUN_FINISHED"):
                raise UnexpectedResponse(f"the resume ended with {end.data[:300]!r}")
            to_finish.append(end.at - decided)

    _, cpu = await run_concurrently(target, 1, trip)
    return {
        "start -> interrupts p50 ms": percentile(to_interrupts, 50) * 1000,
        "resume -> finished p50 ms": percentile(to_finish, 50) * 1000,
        "resume -> finished max ms": max(to_finish) * 1000,
        "server CPU ms per question": cpu * 1000 / (times * number),
    }


async def ask(target: Target, *, number: int) -> None:
    """Leave `number` questions open, a hundred a run."""
    async with target.connection() as connection:
        for _ in range(0, number, 100):
            await _last_frame(connection, message_input("rehearse:parallel:100"))


async def run_concurrently(
    target: Target, number: int, work: Callable[[Connection], Awaitable[None]]
) -> tuple[float, float]:
    """Run the work on `number` connections at once; return wall and CPU seconds."""
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(target.connection()) for _ in range(number)]
        await stack.enter_async_context(target.meter.watching())
        cpu, begun = target.meter.cpu_seconds(), time.perf_counter()
        await asyncio.gather(*(work(connection) for connection in connections))
        return time.perf_counter() - begun, target.meter.cpu_seconds() - cpu


async def _last_frame(connection: Connection, body: dict[str, Any]) -> Frame:
    last: Frame | None = None
    async for frame in connection.events(ENDPOINT, body):
        last = frame
    if last is None:
        raise UnexpectedResponse("the stream had no events")
    return last


def message_input(text: str) -> dict[str, Any]:
    return _input(str(uuid4()), [{"id": str(uuid4()), "role": "user", "content": text}])


def _resume(thread_id: str, last: Frame) -> dict[str, Any]:
    """Approve everything that the run ended with."""
    outcome = last.event().get("outcome") or {}
    entries = [
        {"interruptId": item["id"], "status": "resolved", "payload": APPROVE}
        for item in outcome.get("interrupts", ())
    ]
    if not entries:
        raise UnexpectedResponse(f"the run ended without an interrupt: {last.data[:300]!r}")
    return {**_input(thread_id, []), "resume": entries}


def _input(thread_id: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "threadId": thread_id,
        "runId": str(uuid4()),
        "messages": messages,
        "state": None,
        "tools": [],
        "context": [],
        "forwardedProps": None,
    }
