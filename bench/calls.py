"""
Start runs and read the list as machines do it, many at once: `python -m bench.calls`.

REST calls of 16 clients beside 100,000 pending interrupts; each call is counted by a rate limit
that is never reached. Runs start on threads of their own, and are accepted, not awaited: what the
workers make of them meanwhile takes from the same machine.
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
from bench.wire import Connection, UnexpectedAnswer
from bench.works import Target, side_by_side

CLIENTS = 16
_JSON = {"Content-Type": "application/json"}
Ask = Callable[[Connection], Awaitable[tuple[int, bytes]]]


async def start_run(connection: Connection) -> tuple[int, bytes]:
    """A run that says one sentence; its key makes it safe to be sent again."""
    body = json.dumps({"agent": "rehearsal", "message": "rehearse:echo"}).encode()
    key = {"Idempotency-Key": str(uuid4())}
    head, content = await connection.request("POST", "/api/runs", body, **_JSON, **key)
    return head.status, content


async def read_list(connection: Connection) -> tuple[int, bytes]:
    head, content = await connection.request("GET", "/api/interrupts")
    return head.status, content


async def measure(target: Target, ask: Ask, expected: int, *, each: int) -> Figures:
    """Each of the clients asks so many times, one call after another."""
    seconds: list[float] = []

    async def repeat(connection: Connection) -> None:
        for _ in range(each):
            begun = time.perf_counter()
            status, content = await ask(connection)
            seconds.append(time.perf_counter() - begun)
            if status != expected:
                raise UnexpectedAnswer(f"answered {status}: {content[:300]!r}")

    wall, cpu = await side_by_side(target, CLIENTS, repeat)
    return {
        **spread("call", seconds),
        "calls per second": len(seconds) / wall,
        "server CPU ms per call": cpu * 1000 / len(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--pending", type=int, default=100_000, help="open interrupts there are")
    parser.add_argument("--each", type=int, default=100, help="calls of each client")
    parser.add_argument("--runs", type=int, default=3, help="of which the medians are told")
    options = parser.parse_args()
    works: dict[str, tuple[Ask, int]] = {
        "GET /api/interrupts": (read_list, 200),
        "POST /api/runs": (start_run, 202),
    }
    for shape in options.shape or SHAPES:
        with start(shape) as subject:
            subject.fill(options.pending)
            for name, (ask, expected) in works.items():
                asyncio.run(measure(subject.target, ask, expected, each=5))  # warm up
                runs = [
                    asyncio.run(measure(subject.target, ask, expected, each=options.each))
                    for _ in range(options.runs)
                ]
                figures = {key: round(value or 0, 1) for key, value in medians(runs).items()}
                load = " ".join(f"{one:.1f}" for one in os.getloadavg())
                print(f"{shape}, {name}: {figures}; load {load}", flush=True)


if __name__ == "__main__":
    main()
