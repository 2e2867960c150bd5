"""Which works are done in which order, and how large they are."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from bench import lists, works
from bench.figures import Figures
from bench.shapes import Subject

Results = dict[str, Figures]  #: by work


@dataclass(frozen=True)
class Sizes:
    trips: int
    trips_at_once: int
    streams: int
    streams_at_once: int
    questions: int
    pages: int
    pending: tuple[int, ...]


FULL = Sizes(
    trips=200,
    trips_at_once=320,
    streams=10,
    streams_at_once=2,
    questions=5,
    pages=100,
    pending=(10_000, 100_000),
)
QUICK = Sizes(
    trips=40,
    trips_at_once=64,
    streams=3,
    streams_at_once=1,
    questions=2,
    pages=20,
    pending=(1_000,),
)

Work = Callable[[], Coroutine[None, None, Figures]]


def measure(subject: Subject, sizes: Sizes) -> Results:
    """Do every work once, after a warm-up, and return the figures."""
    results = {name: asyncio.run(work()) for name, work in _door_works(subject, sizes).items()}
    results["memory"] = {"peak MB": subject.target.meter.peak_bytes / 1_000_000}
    if subject.product is not None:
        for number in sizes.pending:
            subject.fill(number)
            results[f"W5 {number:,} pending"] = asyncio.run(_lists(subject, sizes))
    return results


def _door_works(subject: Subject, sizes: Sizes) -> dict[str, Work]:
    target = subject.target
    # A process is slower at what it does for the first time.
    asyncio.run(works.trips(target, at_once=4, number=20))
    asyncio.run(works.streams(target, at_once=2, times=1))
    subject.target.meter.peak_bytes = 0
    return {
        "W1 trips, 1 at a time": lambda: works.trips(target, at_once=1, number=sizes.trips),
        "W1 trips, 8 at once": lambda: works.trips(target, at_once=8, number=sizes.trips_at_once),
        "W1 trips, 32 at once": lambda: works.trips(target, at_once=32, number=sizes.trips_at_once),
        "W2 stream, 1 run": lambda: works.streams(target, at_once=1, times=sizes.streams),
        "W2 stream, 20 runs at once": lambda: works.streams(
            target, at_once=20, times=sizes.streams_at_once
        ),
        "W3 10 questions": lambda: works.questions(target, number=10, times=sizes.questions),
        "W3 100 questions": lambda: works.questions(target, number=100, times=sizes.questions),
    }


async def _lists(subject: Subject, sizes: Sizes) -> Figures:
    return {
        **await lists.api_list(subject.target, times=sizes.pages),
        **await lists.html_list(subject.target, times=sizes.pages, login=subject.login()),
    }
