"""Followers of a thread's events: delivery to many of them, and the cost of idle ones."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bench.figures import Figures, spread
from bench.wire import Connection
from bench.workloads import ENDPOINT, Target, message_input

_SETTLE_SECONDS = 1.0


async def deliveries(target: Target, *, number: int, times: int) -> Figures:
    """Measure from the start of a run until each of `number` followers has its last event."""
    seconds: list[float] = []
    async with _following(target, number) as (thread_id, streams):
        cpu = target.meter.cpu_seconds()
        for _ in range(times):
            run_input = {**message_input("rehearse:echo"), "threadId": thread_id}
            begun = time.perf_counter()
            *ends, _ = await asyncio.gather(
                *(_end_of_run(stream, run_input["runId"]) for stream in streams),
                _run(target, run_input),
            )
            seconds += [end - begun for end in ends]
        cpu = target.meter.cpu_seconds() - cpu
    return {
        **spread("start -> last event", seconds),
        "server CPU us per delivery": cpu * 1_000_000 / len(seconds),
    }


async def idle(target: Target, *, number: int, seconds: float) -> Figures:
    """Measure the processor time of followers of a thread in which nothing happens."""
    without = await _cpu_share(target, seconds)
    async with _following(target, number):
        share = await _cpu_share(target, seconds)
    return {
        "server CPU ms per second": share * 1000,
        "server CPU us per stream and second": max(0.0, share - without) * 1_000_000 / number,
    }


async def _cpu_share(target: Target, seconds: float) -> float:
    await asyncio.sleep(_SETTLE_SECONDS)
    async with target.meter.watching():
        cpu, begun = target.meter.cpu_seconds(), time.perf_counter()
        await asyncio.sleep(seconds)
        return (target.meter.cpu_seconds() - cpu) / (time.perf_counter() - begun)


@asynccontextmanager
async def _following(
    target: Target, number: int
) -> AsyncIterator[tuple[str, list[AsyncIterator[bytes]]]]:
    """Follow a new thread with `number` connections; yield its AG-UI id and the streams."""
    first = message_input("rehearse:echo")
    await _run(target, first)
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(target.connection())
        _, content = await connection.request("GET", "/api/threads?limit=1")
        path = f"/api/threads/{json.loads(content)['results'][0]['id']}/events"
        streams = []
        for _ in range(number):
            follower = await stack.enter_async_context(target.connection())
            streams.append(follower.follow(path))
        # All of them are open once they have what happened before.
        await asyncio.gather(*(_end_of_run(stream, first["runId"]) for stream in streams))
        await asyncio.sleep(_SETTLE_SECONDS)
        yield first["threadId"], streams


async def _end_of_run(stream: AsyncIterator[bytes], run_id: str) -> float:
    """Return the time when the stream had the last event of a run."""
    async for data in stream:
        if b'"RUN_FINISHED"' in data and run_id.encode() in data:
            return time.perf_counter()
    raise RuntimeError("the stream ended")


async def _run(target: Target, run_input: dict[str, object]) -> None:
    async with Connection(target.url, target.headers) as connection:
        async for _ in connection.events(ENDPOINT, run_input):
            pass
