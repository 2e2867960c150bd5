"""
Cost of a trip and of an open page on one machine, by kind of process: `python -m bench.capacity`.

Starts one web process, one worker, PostgreSQL and Valkey, drives approval trips (W1), opens pages,
and prints a table; `--json FILE` writes the figures that `bench.simulation` reads. PostgreSQL needs
pg_stat_statements, which is part of its wheel and of most packages.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import psycopg
import redis
from websockets.asyncio.client import ClientConnection, connect

from bench import workloads
from bench.figures import Figures, medians
from bench.meter import Meter, foreign_cpu_seconds
from bench.plan import FOREIGN_CORES
from bench.report import machine
from bench.shapes import Checkout, Subject, start
from bench.wire import Connection

POSTGRES = {"shared_preload_libraries": "pg_stat_statements", "autovacuum_naptime": "10s"}
KINDS = ("web", "worker", "PostgreSQL", "Redis")
_SETTLE_SECONDS = 1.0
#: Web processes announce their pages to each other so often (inbox.feed.presence).
_PRESENCE_SECONDS = 10.0
#: Rows, bytes, and bytes of indexes, by table.
Tables = Mapping[str, tuple[int, int, int]]
#: People of the demo's team with a session each; prints their cookies as JSON.
_PEOPLE = """
import json
from django.test import Client
from inbox.models import Membership, Team, User
from tests.support.web.fresh_sign_in import sign_in
team = Team.objects.get(slug="demo")
cookies = []
for number in range({count}):
    user = User.objects.create(username=f"reader{{number}}")
    Membership.objects.create(team=team, user=user, role="reviewer")
    client = Client()
    sign_in(client, user)
    cookies.append("; ".join(f"{{name}}={{value.value}}" for name, value in client.cookies.items()))
print(json.dumps(cookies))
"""
#: Messages to the hubs of all web processes: wake-ups of a team, or the pages of other processes.
_SEND = """
import asyncio
from uuid import uuid4
from inbox.models import Team
from inbox.wakeups import PRESENCE_GROUP, WAKEUP_GROUP, channel_layer
team = str(Team.objects.get(slug="demo").pk if {is_own} else uuid4())
people = [
    {{"page": uuid4().hex, "user": 10**6 + number, "name": "Reader", "reads": [str(uuid4())],
      "decides": [], "interrupt": None}} for number in range({pages})
]
async def send():
    layer = channel_layer()
    for _ in range({wakeups}):
        await layer.group_send(
            WAKEUP_GROUP, {{"type": "wakeup.team", "team": team, "thread": str(uuid4())}}
        )
    for first in range(0, len(people), 200):
        part = people[first : first + 200]
        await layer.group_send(PRESENCE_GROUP, {{"type": "presence.here", "people": part}})
asyncio.run(send())
"""
_SIZES = """
SELECT relname, pg_total_relation_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c
JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname = 'public'
"""
_STATEMENTS = """
SELECT sum(calls)::float, sum(calls) FILTER (WHERE query = 'COMMIT')::float
FROM pg_stat_statements s JOIN pg_database d ON d.oid = dbid AND datname = current_database()
WHERE userid IN (SELECT oid FROM pg_roles) AND query NOT LIKE '%pg_stat_statements%'
"""


@dataclass(frozen=True)
class Sizes:
    """Sizes of a measurement."""

    trips: Mapping[int, int]  #: at once -> number
    rounds: int
    idle_seconds: float
    pages: Sequence[int]
    wakeups: int
    foreign_pages: int
    entries: int
    expiring: int


FULL = Sizes({1: 40, 8: 160, 32: 256}, 3, 8.0, (100, 500), 5_000, 9_500, 6_000, 100)
QUICK = Sizes({1: 4, 8: 16}, 1, 2.0, (2, 5), 20, 20, 40, 5)


class Counters:
    """The counters of the processes and servers of a scaled subject."""

    def __init__(self, subject: Subject, product: Checkout) -> None:
        self._meters = {kind: Meter([subject.pids[kind]]) for kind in KINDS}
        self._database = psycopg.connect(product.environment["DATABASE_URL"], autocommit=True)
        self._database.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        self._redis = redis.Redis.from_url(product.environment["REDIS_URL"])
        self._pids = subject.pids

    def read(self) -> Figures:
        """Return all counters; differences between two of them are costs."""
        rows = self._database.execute(_STATEMENTS).fetchone() or (0, 0)
        wal = self._database.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
        commands = self._redis.info("commandstats")
        net = self._redis.info("stats")
        calls = {name: row["calls"] for name, row in commands.items()}
        return {
            "seconds": time.perf_counter(),
            **{f"{kind} CPU ms": self.cpu_ms(kind) for kind in KINDS},
            "client CPU ms": sum(psutil.Process().cpu_times()[:2]) * 1000,
            "statements": rows[0],
            "transactions": rows[1] or 0.0,
            "WAL bytes": float(wal[0]) if wal else 0.0,
            "Redis commands": float(sum(calls.values()) - calls.get("cmdstat_info", 0)),
            "published messages": float(calls.get("cmdstat_publish", 0)),
            "Redis bytes": float(net["total_net_input_bytes"] + net["total_net_output_bytes"]),
        }

    def cpu_ms(self, kind: str) -> float:
        return self._meters[kind].cpu_seconds() * 1000

    def memory(self, kind: str) -> float:
        self._meters[kind].peak_bytes = 0
        self._meters[kind].sample()
        return float(self._meters[kind].peak_bytes)

    def connections(self) -> dict[str, int]:
        """Return the connections of a web process and of a worker to both servers."""
        ports = {
            "PostgreSQL": self._database.info.port,
            "Redis": self._redis.connection_pool.connection_kwargs["port"],
        }
        numbers = {}
        for kind in ("web", "worker"):
            process = psutil.Process(self._pids[kind])
            remote = [
                connection.raddr.port
                for member in (process, *process.children(recursive=True))
                for connection in member.net_connections("tcp")
                if connection.raddr and connection.status == psutil.CONN_ESTABLISHED
            ]
            for server, port in ports.items():
                numbers[f"{kind} to {server}"] = remote.count(port)
        return numbers

    def tables(self) -> dict[str, tuple[int, int, int]]:
        """Return the rows, the bytes and the bytes of indexes of each table."""
        sizes = self._database.execute(_SIZES).fetchall()
        tables = {}
        for name, total, indexes in sizes:
            counted = self._database.execute(
                psycopg.sql.SQL("SELECT count(*) FROM {}").format(psycopg.sql.Identifier(name))
            ).fetchone()
            tables[name] = (counted[0] if counted else 0, total, indexes)
        return tables

    def commit_ms(self, number: int) -> float:
        """Return the median time of a commit of one row, which waits for the disk."""
        self._database.execute("CREATE TABLE bench_commit (number int)")
        seconds = []
        for position in range(number):
            begun = time.perf_counter()
            self._database.execute("INSERT INTO bench_commit VALUES (%s)", [position])
            seconds.append(time.perf_counter() - begun)
        self._database.execute("DROP TABLE bench_commit")
        return median(seconds) * 1000


def measure(subject: Subject, sizes: Sizes) -> dict[str, Any]:
    """Return all figures of a scaled subject."""
    if subject.product is None or not subject.pids:
        raise RuntimeError("capacity is measured in the scaled shape")
    product, counters = subject.product, Counters(subject, subject.product)
    foreign, begun = foreign_cpu_seconds(), time.perf_counter()
    asyncio.run(workloads.trips(subject.target, at_once=8, number=40))
    time.sleep(_SETTLE_SECONDS)
    idle = asyncio.run(_rates(counters, sizes.idle_seconds))
    before = counters.tables()
    trips = {
        str(at_once): medians(
            [_trips(subject, counters, idle, at_once, number) for _ in range(sizes.rounds)]
        )
        for at_once, number in sizes.trips.items()
    }
    total = sum(number // at * at for at, number in sizes.trips.items()) * sizes.rounds
    growth = _growth(before, counters.tables(), total)
    connections = counters.connections()
    commit_ms = counters.commit_ms(100)
    pages = asyncio.run(_pages(subject, product, counters, sizes))
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python -m bench.capacity --json bench/costs.json",
        "machine": machine(),
        FOREIGN_CORES: (foreign_cpu_seconds() - foreign) / (time.perf_counter() - begun),
        "commit ms": commit_ms,
        "idle, a second": idle,
        "trip": trips,
        "connections": connections,
        "growth a trip": growth,
        "pages": pages,
        "serial": _serial(subject, product, sizes),
    }


def _trips(
    subject: Subject, counters: Counters, idle: Figures, at_once: int, number: int
) -> Figures:
    """Return the costs of a trip above those of idle processes, and its durations."""
    before, foreign = counters.read(), foreign_cpu_seconds()
    figures = asyncio.run(workloads.trips(subject.target, at_once=at_once, number=number))
    time.sleep(_SETTLE_SECONDS)
    after = counters.read()
    costs = _above(after, before, idle, number // at_once * at_once)
    # The servers of the subject are children of this process, and so not foreign.
    others = (foreign_cpu_seconds() - foreign) / (
        (after["seconds"] or 0) - (before["seconds"] or 0)
    )
    durations = {
        name: figures[name]
        for name in figures
        if " p50 " in name or " p95 " in name or name.startswith("trips")
    }
    return {**costs, **durations, FOREIGN_CORES: max(0.0, others)}


def _above(after: Figures, before: Figures, idle: Figures, number: int) -> Figures:
    """Return the differences of counters, without those of idle processes, divided by a number."""
    seconds = (after["seconds"] or 0) - (before["seconds"] or 0)
    return {
        name: max(0.0, (value or 0) - (before[name] or 0) - seconds * (idle.get(name) or 0))
        / number
        for name, value in after.items()
        if name != "seconds"
    }


async def _rates(counters: Counters, seconds: float) -> Figures:
    before = counters.read()
    await asyncio.sleep(seconds)
    after = counters.read()
    passed = (after["seconds"] or 0) - (before["seconds"] or 0)
    return _above(after, {**before, "seconds": after["seconds"]}, {}, 1) | {
        name: ((after[name] or 0) - (before[name] or 0)) / passed
        for name in after
        if name != "seconds"
    }


def _growth(
    before: Mapping[str, tuple[int, int, int]],
    after: Mapping[str, tuple[int, int, int]],
    trips: int,
) -> dict[str, dict[str, float]]:
    """Return what a trip adds to each table, the largest first."""
    names = ("rows", "bytes", "of these indexes")
    tables = {
        name: {
            column: (now - then) / trips
            for column, now, then in zip(names, row, before.get(name, (0, 0, 0)), strict=True)
        }
        for name, row in after.items()
        if row[1] > before.get(name, (0, 0, 0))[1]
    }
    return dict(sorted(tables.items(), key=lambda item: -item[1]["bytes"]))


async def _pages(
    subject: Subject, product: Checkout, counters: Counters, sizes: Sizes
) -> dict[str, Any]:
    """Return the costs of open pages, of messages to them, and of reading a page again."""
    most = max(sizes.pages)
    output = product.run("manage.py", "shell", "-c", _PEOPLE.format(count=most))
    cookies = json.loads(output.splitlines()[-1])
    subject.fill(200)
    memory, rates = {}, {}
    for number in sizes.pages:
        async with _open_pages(subject, cookies[:number]):
            rates[str(number)] = await _rates(counters, sizes.idle_seconds)
            memory[number] = counters.memory("web")
            if number == most:
                foreign = await _cost_of_sending(product, counters, wakeups=sizes.wakeups)
                own = await _cost_of_sending(product, counters, wakeups=20, is_own=True)
                elsewhere = await _cost_of_sending(product, counters, pages=sizes.foreign_pages)
    few, many = min(sizes.pages), most
    return {
        "open, a second": rates,
        "web bytes a page": (memory[many] - memory[few]) / (many - few),
        "web CPU us a wake-up of another team": foreign * 1000 / sizes.wakeups,
        "web CPU us a message to a page": own * 1000 / (20 * most),
        "web CPU us a second for a page elsewhere": elsewhere
        * 1000
        / sizes.foreign_pages
        / _PRESENCE_SECONDS,
        "reading again": await _read_again(subject, counters, cookies[0], times=5 * sizes.rounds),
    }


@asynccontextmanager
async def _open_pages(subject: Subject, cookies: Sequence[str]) -> AsyncIterator[None]:
    """Open a page's socket for each session."""
    address = subject.target.url.replace("http", "ws") + "/ws/live/"
    async with AsyncExitStack() as stack:
        readers = []
        for each in cookies:
            headers = {"Cookie": each, "Origin": subject.target.url}
            socket = await stack.enter_async_context(connect(address, additional_headers=headers))
            while json.loads(await socket.recv())["type"] != "hello":
                pass
            readers.append(asyncio.create_task(_drain(socket)))
        await asyncio.sleep(_SETTLE_SECONDS * 2)
        yield
        for reader in readers:
            reader.cancel()


async def _drain(socket: ClientConnection) -> None:
    async for _ in socket:
        pass


async def _cost_of_sending(
    product: Checkout, counters: Counters, *, wakeups: int = 0, pages: int = 0, is_own: bool = False
) -> float:
    """Return the milliseconds that the web process spends on such messages within ten seconds."""
    await asyncio.sleep(_SETTLE_SECONDS)
    idle, begun = counters.cpu_ms("web"), time.perf_counter()
    await asyncio.sleep(_PRESENCE_SECONDS)
    before, sent = counters.cpu_ms("web"), time.perf_counter()
    code = _SEND.format(is_own=is_own, pages=pages, wakeups=wakeups)
    await asyncio.to_thread(product.run, "manage.py", "shell", "-c", code)
    await asyncio.sleep(_PRESENCE_SECONDS)
    spent, seconds = counters.cpu_ms("web") - before, time.perf_counter() - sent
    return max(0.0, spent - seconds * (before - idle) / (sent - begun))


async def _read_again(subject: Subject, counters: Counters, cookie: str, *, times: int) -> Figures:
    """Return the costs of reading the inbox again, as an open page does after a change."""
    async with Connection(subject.target.url, {"Cookie": cookie}) as connection:
        headers = {"X-Signoff-Refresh": "1", "HX-Request": "true"}
        await connection.request("GET", "/", **headers)
        before = counters.read()
        for _ in range(times):
            head, _ = await connection.request("GET", "/", **headers)
            if head.status != 200:
                raise RuntimeError(f"the page answered {head.status}")
        return _above(counters.read(), before, {}, times)


def _serial(subject: Subject, product: Checkout, sizes: Sizes) -> dict[str, float]:
    """Return the rates of work that one process does at a time, while the worker is suspended."""
    asyncio.run(_leave_open(subject, sizes.expiring))
    with _suspended(subject.pids["worker"]):
        output = product.run("-m", "bench.serial_parts", str(sizes.entries), str(sizes.expiring))
    rates: dict[str, float] = json.loads(output.splitlines()[-1])
    return rates


async def _leave_open(subject: Subject, number: int) -> None:
    async with subject.target.connection() as connection:
        for _ in range(number):
            body = workloads.message_input("rehearse:tool_call")
            async for _ in connection.events(workloads.ENDPOINT, body):
                pass


@contextmanager
def _suspended(pid: int) -> Iterator[None]:
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    for member in family:
        member.suspend()
    try:
        yield
    finally:
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.resume()


def table(figures: Mapping[str, Any]) -> str:
    """Return the figures as lines, each with its path."""
    return "\n".join(_lines(figures, ""))


def _lines(figures: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield f"{path}{name}"
            yield from _lines(value, f"{path}    ")
        else:
            text = f"{value:,.3f}" if isinstance(value, float) else str(value)
            yield f"{path}{name:<{52 - len(path)}} {text}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: a test of it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    options = parser.parse_args()
    with start("scaled", postgres_settings=POSTGRES) as subject:
        figures = measure(subject, QUICK if options.quick else FULL)
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
