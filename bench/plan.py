"""Order and sizes of the workloads."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from bench import lists, workloads
from bench.figures import Figures
from bench.shapes import Subject

Results = dict[str, Figures]  #: by workload


@dataclass(frozen=True)
class Sizes:
    trips: int
    trips_at_once: int
    streams: int
    streams_at_once: int
    interrupts: int
    pages: int
    pending: tuple[int, ...]


FULL = Sizes(
    trips=200,
    trips_at_once=320,
    streams=10,
    streams_at_once=2,
    interrupts=5,
    pages=100,
    pending=(10_000, 100_000),
)
QUICK = Sizes(
    trips=40,
    trips_at_once=64,
    streams=3,
    streams_at_once=1,
    interrupts=2,
    pages=20,
    pending=(1_000,),
)

Workload = Callable[[], Coroutine[None, None, Figures]]


def measure(subject: Subject, sizes: Sizes) -> Results:
    """Run every workload once after a warm-up, and return the figures."""
    results = {name: asyncio.run(run()) for name, run in _agui_workloads(subject, sizes).items()}
    results["memory"] = {"peak MB": subject.target.meter.peak_bytes / 1_000_000}
    if subject.product is not None:
        for number in sizes.pending:
            subject.fill(number)
            results[f"W5 {number:,} pending"] = asyncio.run(_lists(subject, sizes))
    return results


def _agui_workloads(subject: Subject, sizes: Sizes) -> dict[str, Workload]:
    target = subject.target
    # Warm up.
    asyncio.run(workloads.trips(target, at_once=4, number=20))
    asyncio.run(workloads.streams(target, at_once=2, times=1))
    subject.target.meter.peak_bytes = 0
    return {
        "W1 trips, 1 at a time": lambda: workloads.trips(target, at_once=1, number=sizes.trips),
        "W1 trips, 8 at once": lambda: workloads.trips(
            target, at_once=8, number=sizes.trips_at_once
        ),
        "W1 trips, 32 at once": lambda: workloads.trips(
            target, at_once=32, number=sizes.trips_at_once
        ),
        "W2 stream, 1 run": lambda: workloads.streams(target, at_once=1, times=sizes.streams),
        "W2 stream, 20 runs at once": lambda: workloads.streams(
            target, at_once=20, times=sizes.streams_at_once
        ),
        "W3 10 questions": lambda: workloads.interrupts(target, number=10, times=sizes.interrupts),
        "W3 100 questions": lambda: workloads.interrupts(
            target, number=100, times=sizes.interrupts
        ),
    }


async def _lists(subject: Subject, sizes: Sizes) -> Figures:
    return {
        **await lists.api_list(subject.target, times=sizes.pages),
        **await lists.html_list(subject.target, times=sizes.pages, login=subject.login()),
    }
