"""SIGKILL at named points: whoever comes there is gone, and somebody else goes on from there."""

import random
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

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
    AFTER_DECISION,
    AFTER_EFFECT,
    AFTER_POLICY,
    AFTER_RULINGS,
    AFTER_START,
    BEFORE_CLAIM,
    BEFORE_POLICY,
    BEFORE_RESUME,
    BEFORE_RULINGS,
    BEFORE_SETTLE,
    DURING_APPEND,
    OF_POLICIES,
    OF_WEB,
    OF_WORKERS,
    ORDERS,
    Orders,
)
from tests.campaigns.faults.policy import judge_rulings, make_grants, publish_policy
from tests.campaigns.faults.process_forker import Child
from tests.campaigns.report import Report
from tests.campaigns.verdict import judge
from tests.support.product_client import in_background, wait_for

#: Kills at each point, and orders at least.
_SHORT, _LONG = (1, 12), (84, 1_000)
_LONG_POLICY = (42, 600)
_LEASE_SECONDS = 3.0
_LONGEST_RECOVERY_SECONDS = 90
#: How often an order comes to each point, about: kills are spread over the whole campaign.
_HITS_PER_ORDER = {
    BEFORE_CLAIM: 2.5,
    AFTER_START: 3,
    AFTER_EFFECT: 3,
    BEFORE_SETTLE: 4,
    DURING_APPEND: 10,
    AFTER_DECISION: 1.5,
    BEFORE_RULINGS: 1,
    AFTER_RULINGS: 1,
    BEFORE_POLICY: 0.8,
    BEFORE_RESUME: 0.8,
    AFTER_POLICY: 0.6,
}


@dataclass
class _Place:
    """A role of the product; whoever dies in it is replaced."""

    command: tuple[str, ...]
    points: tuple[str, ...]
    port: int
    child: Child | None = None
    armed: str = ""


def named_kills(directory: Path, database: Database, *, short: bool) -> Report:
    """Kill the product's processes at each of the points, equally often."""
    report = Report(f"kill -9 at named points, {database}")
    each, orders = _SHORT if short else _LONG
    with house(directory, database, lease=_LEASE_SECONDS) as on:
        troupe = _Troupe(on, report, OF_WORKERS, OF_WEB, each=each, orders=orders)
        _kill_all(on, troupe, report, orders=orders, at_once=12 if short else 48)
    return report.done()


def policy_kills(directory: Path, database: Database, *, short: bool) -> Report:
    """Kill workers while a policy allows, denies and asks, equally often at each point."""
    report = Report(f"kill -9 while a policy answers, {database}")
    each, orders = _SHORT if short else _LONG_POLICY
    with house(directory, database, lease=_LEASE_SECONDS) as on:
        publish_policy(on)
        troupe = _Troupe(on, report, OF_POLICIES, (), each=each, orders=orders)
        with in_background(partial(make_grants, on)):
            _kill_all(on, troupe, report, orders=orders, at_once=12 if short else 48)
        judge_rulings(report, on)
    return report.done()


def _kill_all(on: House, troupe: "_Troupe", report: Report, *, orders: int, at_once: int) -> None:
    """Bring orders until each point has had its kills, and judge the rows."""
    with ExitStack() as stack:
        client = stack.enter_context(on.client())
        people = People(on, stack.enter_context(on.client()), rival="Granter")
        stack.enter_context(in_background(people.answer_until))
        stack.enter_context(in_background(troupe.keep_places))
        again(lambda: client.http.get("/healthz"))
        customers = Customers(on, [client], at_once=at_once)
        most = orders * 3
        customers.bring_until(
            lambda brought: brought >= most or (brought >= orders and troupe.is_done)
        )
        ended = wait_for(on.facts.is_everything_ended, seconds=_LONGEST_RECOVERY_SECONDS)
        report.expect(that=ended, otherwise="not everything ended in time")
        report.expect(that=troupe.is_done, otherwise=f"not all were killed: {troupe.left}")
        report.violate(*people.refused)
        killed = Counter(line["point"] for line in on.world.lines("kill"))
        judge(report, on, orders=customers.brought)
        report.figures |= {f"killed {point}": killed[point] for point in troupe.done}
        report.figures |= {"killed in all": killed.total(), "answers": people.answered}


class _Troupe:
    """The processes of the product, each with an order to kill itself somewhere."""

    def __init__(
        self,
        on: House,
        report: Report,
        of_workers: tuple[str, ...],
        of_web: tuple[str, ...],
        *,
        each: int,
        orders: int,
    ) -> None:
        self._house = on
        self._report = report
        self._each = each
        self._orders = orders
        self._number = 0
        if on.database == "SQLite":
            self._places = [_Place(SERVE, (*of_workers, *of_web), on.ports[0])]
        else:
            self._places = [
                _Place(WEB, of_web, on.ports[0]),
                *(_Place(WORKER, of_workers, 0) for _ in range(3)),
            ]
        self.done = Counter(dict.fromkeys((*of_workers, *of_web), 0))

    @property
    def left(self) -> dict[str, int]:
        return {point: self._each - done for point, done in self.done.items() if done < self._each}

    @property
    def is_done(self) -> bool:
        return not self.left

    def keep_places(self, stop: threading.Event) -> None:
        """Replace whoever fell, until told to stop; those who live stay until the house falls."""
        while not stop.is_set():
            for place in self._places:
                if place.child is None or place.child.code is not None:
                    self._account_for(place)
                    self._fill(place)
            self._house.nursery.wait_for_an_end(0.1)

    def _account_for(self, place: _Place) -> None:
        if place.child is None:
            return
        if place.armed and place.child.code == -9:
            self.done[place.armed] += 1
            return
        self._report.violate(
            f"{place.command} ended with {place.child.code}:\n"
            f"{place.child.log.read_text(errors='replace')[-2000:]}"
        )
        time.sleep(1)  # it would fall again at once

    def _fill(self, place: _Place) -> None:
        armed = Counter(other.armed for other in self._places if other is not place)
        left = {point: self.left.get(point, 0) - armed[point] for point in place.points}
        point = max(place.points, key=lambda point: (left[point], random.random()), default="")
        place.armed = point if left.get(point, 0) > 0 else ""
        environment = {"PORT": str(place.port or 1)}
        if place.armed:
            environment[ORDERS] = Orders(point, self._hit(place)).to_text()
        log = self._house.directory / f"process{self._number}.log"
        self._number += 1
        place.child = self._house.nursery.bear(place.command, log=log, **environment)

    def _hit(self, place: _Place) -> int:
        """So that a process lives for as many orders as there are for each kill."""
        for_each = self._orders / (self._each * len(place.points))
        return random.randint(1, max(1, round(1.5 * for_each * _HITS_PER_ORDER[place.armed])))
