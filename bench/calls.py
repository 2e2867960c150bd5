"""
Concurrent REST calls that start runs and read the list: `python -m bench.calls`.

16 clients call the API beside 100,000 pending interrupts, with a rate limit that is never reached.
Each run starts on a new thread and is not awaited; workers use the same machine meanwhile.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from uuid import uuid4

from bench.figures import Figures, medians, spread
from bench.shapes import SHAPES, start
from bench.wire import Connection, UnexpectedResponse
from bench.workloads import Target, run_concurrently

CLIENTS = 16
_JSON = {"Content-Type": "application/json"}
Call = Callable[[Connection], Awaitable[tuple[int, bytes]]]


async def start_run(connection: Connection) -> tuple[int, bytes]:
    """Start a run of one sentence, with an idempotency key."""
    body = json.dumps({"agent": "rehearsal", "message": "rehearse:echo"}).encode()
    key = {"Idempotency-Key": str(uuid4())}
    head, content = await connection.request("POST", "/api/runs", body, **_JSON, **key)
    return head.status, content


async def read_list(connection: Connection) -> tuple[int, bytes]:
    head, content = await connection.request("GET", "/api/interrupts")
    return head.status, content


async def measure(target: Target, call: Call, expected: int, *, each: int) -> Figures:
    """Make `each` calls with each client, one after another."""
    seconds: list[float] = []

    async def repeat(connection: Connection) -> None:
        for _ in range(each):
            begun = time.perf_counter()
            status, content = await call(connection)
            seconds.append(time.perf_counter() - begun)
            if status != expected:
                raise UnexpectedResponse(f"answered {status}: {content[:300]!r}")

    wall, cpu = await run_concurrently(target, CLIENTS, repeat)
    return {
        **spread("call", seconds),
        "calls per second": len(seconds) / wall,
        "server CPU ms per call": cpu * 1000 / len(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--pending", type=int, default=100_000, help="number of open interrupts")
    parser.add_argument("--each", type=int, default=100, help="calls per client")
    parser.add_argument("--runs", type=int, default=3, help="runs; medians are printed")
    options = parser.parse_args()
    workloads: dict[str, tuple[Call, int]] = {
        "GET /api/interrupts": (read_list, 200),
        "POST /api/runs": (start_run, 202),
    }
    for shape in options.shape or SHAPES:
        with start(shape) as subject:
            subject.fill(options.pending)
            for name, (call, expected) in workloads.items():
                asyncio.run(measure(subject.target, call, expected, each=5))  # warm up
                runs = [
                    asyncio.run(measure(subject.target, call, expected, each=options.each))
                    for _ in range(options.runs)
                ]
                figures = {key: round(value or 0, 1) for key, value in medians(runs).items()}
                load = " ".join(f"{value:.1f}" for value in os.getloadavg())
                print(f"{shape}, {name}: {figures}; load {load}", flush=True)


if __name__ == "__main__":
    main()
