"""Clients that try again until they are answered, while a server dies: every run starts once."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count, cycle
from queue import Empty, SimpleQueue

import httpx
import pytest

from tests.support.children import free_port
from tests.support.processes import start_web
from tests.support.product import scaled_product

RUNS, CLIENTS = 1_000, 16
#: As many answers as this are lost on their way, besides those of the server that dies.
LOST_EVERY = 20
PATIENCE = 60


class Stage:
    """Two servers, one of which dies at a third of the work and is back at two thirds."""

    def __init__(self, product, directory):
        self._product, self._directory = product, directory
        self._port = free_port()
        self._second = self._start()
        self.key = product.create_api_key("run", "read")
        self.urls = (product.url, self._second.url)
        self._done, self._passed = count(1), {share: threading.Event() for share in (1, 2)}
        self.seen = Counter()

    def _start(self):
        log = self._directory / "second.log"
        return start_web(self._product.environment, log=log, port=self._port)

    def count_one(self):
        done = next(self._done)
        for share, passed in self._passed.items():
            if done >= share * RUNS // 3:
                passed.set()

    def kill_and_bring_back(self):
        assert self._passed[1].wait(PATIENCE)
        self._second.kill()
        assert self._passed[2].wait(PATIENCE)
        self._second = self._start()

    def end(self):
        self._second.terminate()

    def runs(self):
        """How many runs there are, read page by page."""
        count, after = 0, {}
        while after is not None:
            query = {"limit": 200, "fields": "id", **after}
            answer = httpx.get(f"{self.urls[0]}/api/runs", params=query, headers=self.headers)
            page = answer.raise_for_status().json()
            count += len(page["results"])
            after = {"after": page["next_after"]} if page["next_after"] else None
        return count

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.key}"}


@pytest.fixture
def stage(tmp_path):
    with scaled_product(tmp_path, workers=0, SIGNOFF_LIMITS="queued_runs=0") as product:
        stage = Stage(product, tmp_path)
        yield stage
        stage.end()


def work(stage, orders, first):
    """Start the run of each order, as often as it takes to be told its id."""
    servers = cycle(stage.urls[first:] + stage.urls[:first])
    ids = []
    with httpx.Client(headers=stage.headers, timeout=10) as http:
        while True:
            try:
                number = orders.get_nowait()
            except Empty:
                return ids
            ids.append(insist(stage, http, servers, number))
            stage.count_one()


def insist(stage, http, servers, number):
    body = {"agent": "rehearsal", "message": f"rehearse:echo order {number}"}
    is_lost = number % LOST_EVERY == 0
    for server in servers:
        try:
            answer = http.post(
                f"{server}/api/runs", json=body, headers={"Idempotency-Key": f"order-{number}"}
            )
        except httpx.TransportError as error:
            stage.seen[type(error).__name__] += 1
            continue
        if is_lost and answer.status_code == 202:
            is_lost = False
            continue
        if answer.status_code == 202:
            stage.seen["replayed"] += answer.json()["replayed"]
            return answer.json()["id"]
        stage.seen[answer.status_code] += 1
    raise AssertionError("servers without end")


@pytest.mark.services
def test_a_thousand_orders_are_a_thousand_runs_whatever_dies_and_is_lost(stage):
    before = stage.runs()
    orders = SimpleQueue()
    for number in range(RUNS):
        orders.put(number)

    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        killer = pool.submit(stage.kill_and_bring_back)
        clients = [pool.submit(work, stage, orders, number % 2) for number in range(CLIENTS)]
        ids = [run_id for client in clients for run_id in client.result()]
        killer.result()

    assert len(ids) == len(set(ids)) == RUNS
    assert stage.runs() - before == RUNS
    assert stage.seen["replayed"] >= RUNS // LOST_EVERY
    assert sum(stage.seen.values()) > stage.seen["replayed"], "no server was missed"
