"""The works that go through the AG-UI door: W1 trips, W2 streams, W3 many questions at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from bench.figures import Figures, percentile, spread
from bench.meter import Meter
from bench.wire import Connection, Frame, UnexpectedAnswer

DOOR = "/agui/rehearsal/"
APPROVE = {"approved": True}
DELTAS = 1_000


@dataclass(frozen=True)
class Target:
    """A product to measure."""

    url: str
    key: str
    meter: Meter

    def connection(self) -> Connection:
        return Connection(self.url, {"Authorization": f"Bearer {self.key}"})


@dataclass
class Trips:
    """The times of some approval trips, in seconds."""

    asked: list[float] = field(default_factory=list)  #: start -> interrupt seen
    done: list[float] = field(default_factory=list)  #: decide -> tool result seen
    whole: list[float] = field(default_factory=list)


async def trips(target: Target, *, at_once: int, number: int) -> Figures:
    """W1: `number` approval trips, `at_once` of them at a time."""
    times = Trips()
    each = max(1, number // at_once)

    async def travel(connection: Connection) -> None:
        for _ in range(each):
            await _trip(connection, times)

    seconds, cpu = await side_by_side(target, at_once, travel)
    total = each * at_once
    return {
        **spread("start -> interrupt", times.asked),
        **spread("decide -> result", times.done),
        "trips per second": total / seconds,
        "server CPU ms per trip": cpu * 1000 / total,
    }


async def _trip(connection: Connection, times: Trips) -> None:
    begun = time.perf_counter()
    asked = _said("rehearse:tool_call")
    last = await _last(connection, asked)
    times.asked.append(last.at - begun)
    decided = time.perf_counter()
    result: Frame | None = None
    async for frame in connection.events(DOOR, _resume(asked["threadId"], last)):
        last = frame
        if result is None and frame.is_a("TOOL_CALL_RESULT"):
            result = frame
    if result is None or not last.is_a("RUN_FINISHED"):
        raise UnexpectedAnswer(f"the resume ended with {last.data[:300]!r}")
    times.done.append(result.at - decided)
    times.whole.append(last.at - begun)


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
            async for frame in connection.events(DOOR, _said(f"rehearse:stream:{DELTAS}")):
                events += 1
                if frame.is_a("TEXT_MESSAGE_CONTENT"):
                    if not text:
                        first.append(frame.at - begun)
                    text.append(frame.event()["delta"])
            if "".join(text) != expected:
                raise UnexpectedAnswer("the text of a stream is not complete")

    seconds, cpu = await side_by_side(target, at_once, watch)
    total = at_once * times * DELTAS
    return {
        "deltas per second": total / seconds,
        "first delta p50 ms": percentile(first, 50) * 1000,
        "first delta max ms": max(first) * 1000,
        "server CPU us per delta": cpu * 1_000_000 / total,
        "events per run": events / (at_once * times),
    }


async def questions(target: Target, *, number: int, times: int) -> Figures:
    """W3: one run that asks `number` questions, answered in one resume."""
    asked: list[float] = []
    finished: list[float] = []

    async def ask(connection: Connection) -> None:
        for _ in range(times):
            begun = time.perf_counter()
            start = _said(f"rehearse:parallel:{number}")
            last = await _last(connection, start)
            asked.append(last.at - begun)
            decided = time.perf_counter()
            end = await _last(connection, _resume(start["threadId"], last))
            if not end.is_a("RUN_FINISHED"):
                raise UnexpectedAnswer(f"the resume ended with {end.data[:300]!r}")
            finished.append(end.at - decided)

    _, cpu = await side_by_side(target, 1, ask)
    return {
        "start -> interrupts p50 ms": percentile(asked, 50) * 1000,
        "resume -> finished p50 ms": percentile(finished, 50) * 1000,
        "resume -> finished max ms": max(finished) * 1000,
        "server CPU ms per question": cpu * 1000 / (times * number),
    }


async def side_by_side(
    target: Target, number: int, work: Callable[[Connection], Awaitable[None]]
) -> tuple[float, float]:
    """Do the work on `number` connections at once; return the wall and the processor seconds."""
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(target.connection()) for _ in range(number)]
        await stack.enter_async_context(target.meter.watching())
        cpu, begun = target.meter.cpu_seconds(), time.perf_counter()
        await asyncio.gather(*(work(connection) for connection in connections))
        return time.perf_counter() - begun, target.meter.cpu_seconds() - cpu


async def _last(connection: Connection, body: dict[str, Any]) -> Frame:
    last: Frame | None = None
    async for frame in connection.events(DOOR, body):
        last = frame
    if last is None:
        raise UnexpectedAnswer("the stream had no events")
    return last


def _said(text: str) -> dict[str, Any]:
    return _input(str(uuid4()), [{"id": str(uuid4()), "role": "user", "content": text}])


def _resume(thread_id: str, last: Frame) -> dict[str, Any]:
    """Approve everything that the run ended with."""
    outcome = last.event().get("outcome") or {}
    entries = [
        {"interruptId": item["id"], "status": "resolved", "payload": APPROVE}
        for item in outcome.get("interrupts", ())
    ]
    if not entries:
        raise UnexpectedAnswer(f"the run ended without a question: {last.data[:300]!r}")
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
