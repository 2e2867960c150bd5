"""SIGSTOP past the lease, then SIGCONT: whoever wakes up has lost its runs and writes nothing."""

import random
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.campaigns.faults.deployment import (
    SERVE,
    WEB,
    WORKER,
    Customers,
    Database,
    House,
    People,
    again,
    house,
)
from tests.campaigns.faults.failpoints import (
    AFTER_START,
    ORDERS,
    TO_STOP,
    Orders,
)
from tests.campaigns.faults.process_forker import Child
from tests.campaigns.report import Report
from tests.campaigns.verdict import judge
from tests.support.product_client import in_background, wait_for

#: Stops of workers that held runs.
_SHORT, _LONG = 1, 100
_LEASE_SECONDS = 2.0
_LONGEST_SECONDS = 60

_FENCES = "SELECT fence, status FROM inbox_run WHERE id = %s"


def pauses(directory: Path, database: Database, *, short: bool) -> Report:
    """Stop workers in their calls and between their events until others have their runs."""
    report = Report(f"SIGSTOP past the lease, {database}")
    rounds = _SHORT if short else _LONG
    with ExitStack() as stack:
        on = stack.enter_context(house(directory, database, lease=_LEASE_SECONDS))
        sleepers, ports = _bear(on)
        clients = [stack.enter_context(on.client(number)) for number in range(ports)]
        for client in clients:
            client.http.timeout = 3  # another one answers while this one sleeps
        watch = _Watch(on, report, sleepers)
        # Of those who might still act nobody can say what they have done.
        people = People(on, clients[0], may_know=lambda _: not watch.asleep)
        again(lambda: clients[0].http.get("/healthz"))
        stack.enter_context(in_background(watch.wake_who_lost_all))
        stack.enter_context(in_background(people.answer_until))
        customers = Customers(on, clients, at_once=16)
        deadline = time.monotonic() + (45 if short else 900)
        customers.bring_until(lambda _: watch.stops >= rounds or time.monotonic() > deadline)
        watch.is_over = True
        ended = wait_for(on.facts.is_everything_ended, seconds=_LONGEST_SECONDS)
        report.expect(that=ended, otherwise="not everything ended in time")
        report.expect(that=watch.stops >= rounds, otherwise=f"only {watch.stops} stops")
        report.violate(*people.refused)
        _judge_sleepers(report, on, watch)
        judge(report, on, orders=customers.brought)
    return report.done()


def _bear(on: House) -> tuple[list[Child], int]:
    """Those who stop themselves, beside one who never does; and how many answer requests."""

    def bear(command: tuple[str, ...], name: str, port: int, point: str = "") -> Child:
        more = {"PORT": str(port)}
        if point:
            more[ORDERS] = Orders(point, random.randint(3, 6), is_stop=True).to_text()
        return on.nursery.bear(command, log=on.directory / f"{name}.log", **more)

    if on.database == "SQLite":
        # The product's shape on SQLite is one process; here, a second one takes over from it.
        bear(SERVE, "awake", on.ports[0])
        return [bear(SERVE, "sleeper", on.ports[1], random.choice(TO_STOP))], 2
    bear(WEB, "web", on.ports[0])
    sleepers = [bear(WORKER, f"sleeper{n}", 1, point) for n, point in enumerate(TO_STOP)]
    bear(WORKER, "awake", 1)
    return sleepers, 1


class _Watch:
    """Wakes whoever stopped itself, as soon as all of its runs are in other hands."""

    def __init__(self, on: House, report: Report, sleepers: list[Child]) -> None:
        self._house = on
        self._report = report
        self._children = {child.pid: child for child in sleepers}
        self._seen = 0
        self._since: dict[int, float] = {}
        self.asleep: dict[int, dict[str, Any]] = {}
        self.stops = 0
        self.taken_over: set[tuple[str, int]] = set()
        self.points: Counter[str] = Counter()
        self.is_over = False

    def wake_who_lost_all(self, stop: threading.Event) -> None:
        while not stop.wait(0.1):
            for line in self._new_stops():
                self.asleep[line["pid"]] = line
                self._since[line["pid"]] = time.monotonic()
            for pid, line in list(self.asleep.items()):
                self._wake_if_lost(pid, line)

    def _new_stops(self) -> list[dict[str, Any]]:
        stops = self._house.world.lines("stop")
        new, self._seen = stops[self._seen :], len(stops)
        return new

    def _wake_if_lost(self, pid: int, line: dict[str, Any]) -> None:
        left, lost = [], []
        for run, fence in line["holds"]:
            ((now, status),) = self._house.facts.rows(_FENCES, self._id(run))
            if now > fence:
                lost.append((run, fence))
            elif status == "running":
                left.append(run)
        slept = time.monotonic() - self._since[pid]
        if left and slept < _LONGEST_SECONDS:
            return
        self._report.expect(
            that=not left, otherwise=f"nobody took over {left} within {_LONGEST_SECONDS} s"
        )
        if lost:
            time.sleep(random.random() * 0.3)
            self.stops += 1
            self.taken_over.update(lost)
            self.points[line["point"]] += 1
        del self.asleep[pid]
        self._children[pid].signal(signal.SIGCONT)

    def _id(self, run: str) -> str:
        return run.replace("-", "") if self._house.database == "SQLite" else run


def _judge_sleepers(report: Report, on: House, watch: _Watch) -> None:
    """Nothing that was written with a fence came after somebody else had the run."""
    tried: Counter[str] = Counter()
    refused, written = set(), 0
    for line in on.world.lines("wrote", "refused"):
        hold = (line["lease"][0], line["lease"][1])
        if hold not in watch.taken_over:
            continue
        if line["kind"] == "wrote":
            written += 1
            report.violate(f"a fenced worker did {line['write']} on {hold}")
        else:
            refused.add(hold)
            tried[line["write"]] += 1
    # Who was stopped right behind a start gives up before it writes.
    may_try = set(watch.points) - {AFTER_START}
    report.expect(
        that=bool(refused) or not may_try, otherwise="no worker that woke up tried to write"
    )
    report.figures |= {
        "stops past the lease": watch.stops,
        **{f"stopped {point}": number for point, number in watch.points.items()},
        "runs taken over meanwhile": len(watch.taken_over),
        "writes to those by who woke up": written,
        "refused to who woke up, runs": len(refused),
        "refused to who woke up, writes": dict(tried),
    }
