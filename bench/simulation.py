"""
Prediction of throughput, latency and sizes from measured costs: `python -m bench.simulation`.

Reads the costs that `bench.capacity` wrote (bench/costs.json) and prints the tables of
docs/scaling.md. A trip is four phases (start, first run, decision, resumed run) of two slices each;
a slice takes the interpreter of one web process or worker, then a core of PostgreSQL, then waits
for a commit. Slices have exponential durations, so that a burst makes others wait.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import simpy

from bench.figures import percentile
from bench.plan import FOREIGN_CORES

COSTS = Path(__file__).with_name("costs.json")
#: Processes and servers are planned to be busy for this part of the time.
BUSY = 0.6
#: Of this part, a web process may spend a half on wake-ups of others.
_WAKEUP_SHARE = BUSY / 2
_PHASES = ("web", "worker", "web", "worker")
_SLICES = 2
_OTHER_SECONDS = 0.004  #: a slice of another program
#: A page with a socket is read again every five minutes, and after a request of its team was
#: opened, decided and executed; several changes at once are read once.
PAGE_POLL_SECONDS = 300.0
_READS_PER_TRIP = 2
#: Each web process announces its pages to all others every ten seconds, 200 in a message.
_ANNOUNCE_SECONDS, _PAGES_PER_MESSAGE = 10.0, 200
_POOL = 40  #: connections of a process to PostgreSQL at most
_DAY = 86_400


@dataclass(frozen=True)
class Costs:
    """Costs of a trip in seconds of processor time and in numbers, of pages and of serial work."""

    web: float
    worker: float
    postgres: float
    redis: float
    client: float
    commit: float
    wal_bytes: float
    disk_bytes: float
    messages: float
    entries: float
    page: float  #: of a web process, each second
    page_bytes: float
    elsewhere: float  #: of each web process, each second, for a page at another one
    wakeup: float  #: of each web process
    read: float
    read_postgres: float
    signed: float  #: audit entries a second
    expired: float  #: requests a second


def load_costs(figures: Mapping[str, Any]) -> Costs:
    """Return the costs in figures of `bench.capacity`: those of 8 trips at once."""
    trip, pages, serial = figures["trip"]["8"], figures["pages"], figures["serial"]
    growth = figures["growth a trip"]
    few, many = sorted(map(int, pages["open, a second"]))
    busy = [pages["open, a second"][str(number)]["web CPU ms"] for number in (few, many)]
    return Costs(
        web=trip["web CPU ms"] / 1000,
        worker=trip["worker CPU ms"] / 1000,
        postgres=trip["PostgreSQL CPU ms"] / 1000,
        redis=trip["Redis CPU ms"] / 1000,
        client=trip["client CPU ms"] / 1000,
        commit=figures["commit ms"] / 1000,
        wal_bytes=trip["WAL bytes"],
        disk_bytes=sum(table["bytes"] for table in growth.values()),
        messages=trip["published messages"],
        entries=growth["inbox_auditentry"]["rows"],
        page=(busy[1] - busy[0]) / (many - few) / 1000,
        page_bytes=pages["web bytes a page"],
        elsewhere=pages["web CPU us a second for a page elsewhere"] / 1e6,
        wakeup=pages["web CPU us a wake-up of another team"] / 1e6,
        read=pages["reading again"]["web CPU ms"] / 1000,
        read_postgres=pages["reading again"]["PostgreSQL CPU ms"] / 1000,
        signed=serial["entries signed a second"],
        expired=serial["requests expired a second"],
    )


@dataclass(frozen=True)
class Shape:
    """
    Processes and cores of one installation.

    With `shared_cores` everything, clients included, runs on so many cores of one machine, of which
    other programs use `others`.
    `web_background` is the part of each web process that open pages and wake-ups take.
    """

    web: int
    workers: int
    postgres_cores: int
    shared_cores: int | None = None
    others: float = 0.0
    web_background: float = 0.0
    postgres_background: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The figures of a simulation."""

    trips_per_second: float
    p50: float
    p95: float
    busiest: str  #: the resource that was busy for the largest part of the time


def capacity(costs: Costs, shape: Shape) -> tuple[float, str]:
    """Return how many trips a second saturate the shape, and which resource they saturate."""
    limits = {
        "web": shape.web * (1 - shape.web_background) / costs.web,
        "worker": shape.workers / costs.worker,
        "Redis": 1 / costs.redis if costs.redis else math.inf,
    }
    if shape.shared_cores:
        every = costs.web + costs.worker + costs.postgres + costs.redis + costs.client
        limits["cores"] = shape.shared_cores / every
    else:
        cores = shape.postgres_cores * (1 - shape.postgres_background)
        limits["PostgreSQL"] = cores / costs.postgres
    resource = min(limits, key=lambda name: limits[name])
    return limits[resource], resource


class _Simulation:
    def __init__(self, costs: Costs, shape: Shape, seed: int) -> None:
        self._costs, self._random = costs, random.Random(seed)
        self.env = simpy.Environment()
        self._pools = {
            "web": [simpy.Resource(self.env) for _ in range(shape.web)],
            "worker": [simpy.Resource(self.env) for _ in range(shape.workers)],
        }
        machine = shape.shared_cores and simpy.Resource(self.env, shape.shared_cores)
        self._cores = machine or None
        self._postgres = machine or simpy.Resource(self.env, shape.postgres_cores)
        self._redis = simpy.Resource(self.env)
        slices = _SLICES * _PHASES.count("web")
        self._slice = {
            "web": costs.web / slices / (1 - shape.web_background),
            "worker": costs.worker / slices,
        }
        self._of_phase = 1 / len(_PHASES)
        self._postgres_slice = (
            costs.postgres / len(_PHASES) / _SLICES / (1 - shape.postgres_background)
        )
        self.busy: dict[str, float] = {}
        self.durations: list[float] = []
        self._turn = 0
        for _ in range(math.ceil(shape.others) if machine else 0):
            self.env.process(self._other_program(machine, shape.others / math.ceil(shape.others)))

    def _other_program(self, cores: simpy.Resource, share: float) -> Iterator[simpy.Event]:
        """Use a core for this share of the time, in slices."""
        while True:
            yield from self._use("others", cores, _OTHER_SECONDS)
            yield self.env.timeout(_OTHER_SECONDS * (1 / share - 1))

    def trip(self) -> Iterator[simpy.Event]:
        begun = self.env.now
        self._turn += 1
        for phase in _PHASES:
            pool = self._pools[phase]
            if phase == "web":
                process = pool[self._turn % len(pool)]  # as a proxy does
            else:
                process = min(pool, key=lambda each: each.count + len(each.queue))
            if self._cores:
                yield from self._use("client", self._cores, self._costs.client * self._of_phase)
            yield from self._use("Redis", self._redis, self._costs.redis * self._of_phase)
            for _ in range(_SLICES):
                yield from self._use(phase, process, self._slice[phase], self._cores)
                yield from self._use("PostgreSQL", self._postgres, self._postgres_slice)
                yield self.env.timeout(self._costs.commit)
        self.durations.append(self.env.now - begun)

    def _use(
        self, name: str, resource: simpy.Resource, mean: float, cores: simpy.Resource | None = None
    ) -> Iterator[simpy.Event]:
        """Take a resource, and a core of the machine if all share it, for a random time."""
        seconds = self._random.expovariate(1 / mean) if mean else 0.0
        with resource.request() as request:
            yield request
            if cores is None or cores is resource:
                yield self.env.timeout(seconds)
            else:
                with cores.request() as core:
                    yield core
                    yield self.env.timeout(seconds)
        self.busy[name] = self.busy.get(name, 0.0) + seconds

    def client(self, trips: int) -> Iterator[simpy.Event]:
        for _ in range(trips):
            yield from self.trip()

    def arrivals(self, load: float, trips: int) -> Iterator[simpy.Event]:
        for _ in range(trips):
            yield self.env.timeout(self._random.expovariate(load))
            self.env.process(self.trip())


def simulate_clients(
    costs: Costs, shape: Shape, *, at_once: int, trips: int, seed: int = 1
) -> Outcome:
    """Simulate so many clients, each of which makes one trip after another."""
    simulation = _Simulation(costs, shape, seed)
    each = max(1, trips // at_once)
    clients = [simulation.env.process(simulation.client(each)) for _ in range(at_once)]
    simulation.env.run(until=simpy.AllOf(simulation.env, clients))
    return _outcome(simulation, shape)


def simulate_load(costs: Costs, shape: Shape, *, load: float, trips: int, seed: int = 1) -> Outcome:
    """Simulate trips that begin at random, `load` a second, however long the others take."""
    simulation = _Simulation(costs, shape, seed)
    simulation.env.process(simulation.arrivals(load, trips))
    simulation.env.run()
    return _outcome(simulation, shape)


def _outcome(simulation: _Simulation, shape: Shape) -> Outcome:
    numbers = {"web": shape.web, "worker": shape.workers, "PostgreSQL": shape.postgres_cores}
    shares = {name: busy / numbers.get(name, 1) for name, busy in simulation.busy.items()}
    return Outcome(
        trips_per_second=len(simulation.durations) / simulation.env.now,
        p50=percentile(simulation.durations, 50),
        p95=percentile(simulation.durations, 95),
        busiest=max(shares, key=lambda name: shares[name]),
    )


@dataclass(frozen=True)
class Plan:
    """The processes and cores for a load, in each of so many installations."""

    load: float  #: trips a second, of all installations
    pages: int
    installations: int
    shape: Shape
    reads: float  #: pages read again a second, of all installations
    messages: float  #: of Redis, to all web processes of one installation, a second
    costs: Costs

    @property
    def connections(self) -> tuple[int, int]:
        """The least and the most connections to PostgreSQL of one installation."""
        processes = self.shape.web + self.shape.workers
        return 2 * processes, _POOL * processes

    def simulate(self) -> Outcome:
        load = self.load / self.installations
        trips = min(3_000, max(600, round(load * 20)))
        return simulate_load(self.costs, self.shape, load=load, trips=trips)


def limits_of_an_installation(costs: Costs) -> dict[str, float]:
    """Return the trips a second at which parts that cannot be multiplied are as busy as planned."""
    signed = BUSY * costs.signed / costs.entries
    wakeups = costs.messages * costs.wakeup
    return {
        "wake-ups, which every web process receives": (
            _WAKEUP_SHARE / wakeups if wakeups else math.inf
        ),
        "the signer of the audit trail, as a process of its own": signed,
        "the signer in the sweeper, 3 of 5 seconds": signed * 3 / 5,
        "Redis, one core": BUSY / costs.redis if costs.redis else math.inf,
    }


def plan(costs: Costs, *, load: float, pages: int, readers: int = 10) -> Plan:
    """Plan for trips a second and open pages, if `readers` pages of the team see each trip."""
    names = limits_of_an_installation(costs)
    most = min(rate for name, rate in names.items() if "in the sweeper" not in name)
    number = max(1, math.ceil(load / most))
    each_load, each_pages = load / number, pages / number
    reads = each_pages / PAGE_POLL_SECONDS + min(
        each_load * readers * _READS_PER_TRIP if pages else 0.0, each_pages * 2
    )
    of_pages = each_pages * costs.page + reads * costs.read
    of_each = each_load * costs.messages * costs.wakeup + each_pages * costs.elsewhere
    if of_each >= BUSY:
        raise ValueError("messages to all web processes leave no time for requests")
    web = max(2, math.ceil((each_load * costs.web + of_pages) / (BUSY - of_each)))
    of_reads = reads * costs.read_postgres
    postgres = max(2, math.ceil((each_load * costs.postgres + of_reads) / BUSY))
    announced = each_pages / _PAGES_PER_MESSAGE / _ANNOUNCE_SECONDS
    shape = Shape(
        web=web,
        workers=max(2, math.ceil(each_load * costs.worker / BUSY)),
        postgres_cores=postgres,
        web_background=of_pages / web + of_each,
        postgres_background=of_reads / postgres,
    )
    messages = (each_load * costs.messages + announced) * web
    return Plan(load, pages, number, shape, reads * number, messages, costs)


LOADS = ((10, 0), (10, 100), (10, 10_000), (100, 0), (100, 1_000), (1_000, 0), (1_000, 10_000))


def plans_table(costs: Costs) -> str:
    """Return the plans for all loads as a table of Markdown."""
    heads = (
        *("Trips a second", "Open pages", "Installations", "In each: web", "workers"),
        *("PostgreSQL cores", "connections", "Redis messages a second", "All: WAL"),
        *("disk a day", "p50 / p95 of a trip"),
    )
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for load, pages in LOADS:
        each = plan(costs, load=load, pages=pages)
        outcome, shape = each.simulate(), each.shape
        low, high = each.connections
        cells = (
            f"{load:,}",
            f"{pages:,}",
            each.installations,
            f"{shape.web:,}",
            shape.workers,
            f"{shape.postgres_cores:,}",
            f"{low:,} to {high:,}",
            f"{_rounded(each.messages):,}",
            f"{load * costs.wal_bytes / 1e6:.1f} MB/s",
            f"{load * costs.disk_bytes * _DAY / 1e9:,.0f} GB",
            f"{outcome.p50 * 1000:.0f} / {outcome.p95 * 1000:.0f} ms",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def limits_table(costs: Costs) -> str:
    """Return the limits of one installation as a table of Markdown."""
    lines = ["| Part | Trips a second |", "|---|---|"]
    lines += [
        f"| {name} | {_rounded(rate):,} |"
        for name, rate in sorted(limits_of_an_installation(costs).items(), key=lambda item: item[1])
    ]
    return "\n".join(lines)


def validation_table(figures: Mapping[str, Any]) -> str:
    """Return measured and simulated figures of the measured machine as a table of Markdown."""
    lines = [
        "| At once | Cores of others | Measured: trips a second, p50 | Simulated | Error |",
        "|---|---|---|---|---|",
    ]
    cores = figures["machine"]["cores"]
    for at_once, trip in figures["trip"].items():
        costs = load_costs({**figures, "trip": {"8": trip}})
        shape = Shape(1, 1, 1, shared_cores=cores, others=trip[FOREIGN_CORES])
        outcome = simulate_clients(costs, shape, at_once=int(at_once), trips=640)
        rate = trip["trips per second"]
        p50 = trip["start -> interrupt p50 ms"] + trip["decide -> result p50 ms"]
        lines.append(
            f"| {at_once} | {trip[FOREIGN_CORES]:.1f} | {rate:.1f}, {p50:.0f} ms "
            f"| {outcome.trips_per_second:.1f}, {outcome.p50 * 1000:.0f} ms "
            f"| {outcome.trips_per_second / rate - 1:+.0%}, {outcome.p50 * 1000 / p50 - 1:+.0%} |"
        )
    return "\n".join(lines)


def growth_table(figures: Mapping[str, Any]) -> str:
    """Return what a trip adds to each table as a table of Markdown."""
    lines = ["| Table | Rows a trip | Bytes a trip | of these indexes |", "|---|---|---|---|"]
    for name, each in figures["growth a trip"].items():
        if each["bytes"] >= 100:
            lines.append(
                f"| `{name}` | {each['rows']:.0f} | {each['bytes']:,.0f} "
                f"| {each['of these indexes']:,.0f} |"
            )
    return "\n".join(lines)


def _rounded(number: float) -> int:
    """Round to two digits."""
    if number < 10 or math.isinf(number):
        return round(number) if math.isfinite(number) else 0
    digits = math.floor(math.log10(number)) - 1
    return round(number / 10**digits) * 10**digits


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.simulation", description=__doc__)
    parser.add_argument("--costs", type=Path, default=COSTS, help="figures of bench.capacity")
    parser.add_argument("--load", type=float, help="trips a second, instead of the tables")
    parser.add_argument("--pages", type=int, default=0, help="open pages")
    parser.add_argument("--readers", type=int, default=10, help="open pages that see each trip")
    parser.add_argument("--web", type=int, help="web processes, instead of the planned number")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--postgres-cores", type=int)
    options = parser.parse_args()
    figures = json.loads(options.costs.read_text())
    costs = load_costs(figures)
    if options.load is None:
        tables = (plans_table(costs), limits_table(costs), validation_table(figures))
        print("\n\n".join((*tables, growth_table(figures))))
        return 0
    planned = plan(costs, load=options.load, pages=options.pages, readers=options.readers)
    names = ("web", "workers", "postgres_cores")
    changes = {name: value for name in names if (value := getattr(options, name))}
    planned = replace(planned, shape=replace(planned.shape, **changes))
    most, resource = capacity(costs, planned.shape)
    print(f"{planned.installations} installations, each: {planned.shape}")
    print(f"saturated at {most:.0f} trips a second by: {resource}")
    print(planned.simulate())
    return 0


if __name__ == "__main__":
    sys.exit(main())
