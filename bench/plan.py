"""Order and sizes of the workloads, in rounds that all subjects take by turns."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from bench import followers, lists, workloads
from bench.figures import Figures
from bench.meter import foreign_cpu_seconds
from bench.shapes import Subject

#: The figures of each round, by workload and subject.
Results = dict[str, dict[str, list[Figures]]]
Workload = Callable[[Subject], Awaitable[Figures]]


@dataclass(frozen=True)
class Sizes:
    """Sizes of one round."""

    trips: int
    trips_at_once: int
    streams: int
    streams_at_once: int
    interrupts: int
    pages: int
    pending: tuple[int, ...]
    followers: tuple[int, ...]
    idle_streams: int
    idle_seconds: float
    finished: int


FULL = Sizes(
    trips=50,
    trips_at_once=128,
    streams=4,
    streams_at_once=1,
    interrupts=3,
    pages=50,
    pending=(10_000, 100_000),
    followers=(1, 100, 500),
    idle_streams=200,
    idle_seconds=8,
    finished=100_000,
)
QUICK = Sizes(
    trips=10,
    trips_at_once=32,
    streams=1,
    streams_at_once=1,
    interrupts=1,
    pages=5,
    pending=(1_000,),
    followers=(1, 20),
    idle_streams=20,
    idle_seconds=2,
    finished=1_000,
)
#: Requests that are pending for W5 where two checkouts are compared, each of which makes its own.
COMPARED_PENDING = 1_000


def measure(
    subjects: Mapping[str, Subject], sizes: Sizes, rounds: int, *, only: str = "", fill: bool = True
) -> Results:
    """
    Run every workload whose name begins with `only`, `rounds` times on each subject by turns.

    Without `fill` the subjects are driven over their public interfaces only.
    """
    chosen = {name: work for name, work in _workloads(sizes).items() if name.startswith(only)}
    for subject in subjects.values():
        asyncio.run(workloads.trips(subject.target, at_once=4, number=20))
        asyncio.run(workloads.streams(subject.target, at_once=2, times=1))
        subject.target.meter.peak_bytes = 0
    results = {name: _rounds(name, work, subjects, rounds) for name, work in chosen.items()}
    for name, prepare, work in _filled(sizes, fill=fill):
        if name.startswith(only):
            for subject in subjects.values():
                prepare(subject)
            results[name] = _rounds(name, work, subjects, rounds)
    return results


def _rounds(
    name: str, work: Workload, subjects: Mapping[str, Subject], rounds: int
) -> dict[str, list[Figures]]:
    print(name, file=sys.stderr, flush=True)
    figures: dict[str, list[Figures]] = {subject: [] for subject in subjects}
    for subject in turns([*subjects], rounds):
        foreign, begun = foreign_cpu_seconds(), time.perf_counter()
        round_figures = asyncio.run(_run(work, subjects[subject]))
        cores = (foreign_cpu_seconds() - foreign) / (time.perf_counter() - begun)
        memory = subjects[subject].target.meter.peak_bytes / 1_000_000 or None
        figures[subject].append(
            {**round_figures, "memory MB": memory, FOREIGN_CORES: max(0.0, cores)}
        )
    return figures


#: Cores that processes other than the benchmark's and its servers' used meanwhile.
FOREIGN_CORES = "other processes, cores"


async def _run(work: Workload, subject: Subject) -> Figures:
    return await work(subject)


def turns(names: list[str], rounds: int) -> Iterator[str]:
    """Yield each name once a round; every other round is in the opposite order."""
    for number in range(rounds):
        yield from names if number % 2 == 0 else reversed(names)


def _workloads(sizes: Sizes) -> dict[str, Workload]:
    def on_target(function: Callable[..., Awaitable[Figures]], **options: float) -> Workload:
        return lambda subject: function(subject.target, **options)

    trips = partial(on_target, workloads.trips)
    streams = partial(on_target, workloads.streams)
    return {
        "W1 trips, 1 at a time": trips(at_once=1, number=sizes.trips),
        "W1 trips, 8 at once": trips(at_once=8, number=sizes.trips_at_once),
        "W1 trips, 32 at once": trips(at_once=32, number=sizes.trips_at_once),
        "W2 stream, 1 run": streams(at_once=1, times=sizes.streams),
        "W2 stream, 20 runs at once": streams(at_once=20, times=sizes.streams_at_once),
        **{
            f"W3 {number} questions": on_target(
                workloads.interrupts, number=number, times=sizes.interrupts
            )
            for number in (10, 100)
        },
        **{
            f"followers, {number}": on_target(
                followers.deliveries, number=number, times=sizes.interrupts
            )
            for number in sizes.followers
        },
        "idle streams": on_target(
            followers.idle, number=sizes.idle_streams, seconds=sizes.idle_seconds
        ),
    }


def _filled(
    sizes: Sizes, *, fill: bool
) -> Iterator[tuple[str, Callable[[Subject], None], Workload]]:
    """Yield workloads on filled databases, with what fills them."""

    async def read_lists(subject: Subject) -> Figures:
        figures = await lists.api_list(subject.target, times=sizes.pages)
        if subject.product is None:
            return figures
        pages = await lists.html_list(subject.target, times=sizes.pages, login=subject.login())
        return {**figures, **pages}

    def store(subject: Subject, number: int, finished: int = 0) -> None:
        if subject.product is not None:
            subject.fill(number, finished=finished)

    def ask(subject: Subject) -> None:
        asyncio.run(workloads.ask(subject.target, number=COMPARED_PENDING))

    if not fill:
        yield f"W5 {COMPARED_PENDING:,} pending", ask, read_lists
        return
    for number in sizes.pending:
        yield f"W5 {number:,} pending", partial(store, number=number), read_lists
    yield (
        f"W6 trips after {sizes.finished:,} runs",
        partial(store, number=0, finished=sizes.finished),
        lambda subject: workloads.trips(subject.target, at_once=1, number=sizes.trips),
    )
