"""
An upgrade process by process, under load: the version before and the next one share a database.

Two pairs of versions: this one and a next one that is made of it, and the version before the last
migration and this one. The second needs the history of the repository, which a shallow clone, such
as that of the workflow, does not have.
"""

import itertools
import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import httpx
import pytest

from tests.campaigns.facts import Facts
from tests.support.postgres import PostgresServer
from tests.support.processes import REPOSITORY, manage, scaled_environment, start_web, start_worker
from tests.support.product_client import wait_for
from tests.support.upgrades.versions import (
    commit_before_the_last_migration,
    extract_version,
    make_next_version,
)
from tests.support.valkey import ValkeyServer

pytestmark = pytest.mark.services

_PATIENCE_SECONDS = 90
#: Responses that a proxy repeats at another upstream.
_REPEATED = (502, 503)
_MESSAGES = ("rehearse:effect:{key}", "rehearse:multi_step", "rehearse:stream:40:10")


class Proxy:
    """A client that repeats requests at another web process, as a proxy in front of them does."""

    def __init__(self, key):
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"}, timeout=30, trust_env=False
        )
        self._turn = itertools.count()
        self.upstreams = []
        self.failures = []  #: responses that reached the caller and say that the server failed

    def request(self, method, path, **more):
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                response = self._http.request(method, self.next_upstream() + path, **more)
            except httpx.TransportError:
                continue
            if response.status_code in _REPEATED:
                continue
            if response.status_code >= 500:
                self.failures.append((method, path, response.status_code, response.text[:500]))
            return response
        raise AssertionError(f"{method} {path}: no web process responded")

    def next_upstream(self):
        return self.upstreams[next(self._turn) % len(self.upstreams)]

    def get(self, path, **params):
        response = self.request("GET", path, params=params)
        response.raise_for_status()
        return response.json()

    def stream(self, path, after):
        """Yield the sequence numbers and events of a thread until the connection ends."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        url = self.next_upstream() + path
        seq = after
        with self._http.stream("GET", url, headers=headers, timeout=15) as events:
            if events.status_code in _REPEATED:
                return
            events.raise_for_status()
            for line in events.iter_lines():
                if line.startswith("id: "):
                    seq = int(line[4:])
                elif line.startswith("data: "):
                    yield seq, json.loads(line[6:])


class Load:
    """Runs that pause, are approved and followed, one after another in several threads."""

    def __init__(self, program, reviewer):
        self._program, self._reviewer = program, reviewer
        self.stopped = threading.Event()
        self._numbers = itertools.count()
        self.done = []  #: (key, thread, sequence numbers that the stream had)
        self.keys = []

    def go_on(self):
        while not self.stopped.is_set():
            number = next(self._numbers)
            message = _MESSAGES[number % len(_MESSAGES)].format(key=f"order-{number}")
            if "effect" in message:
                self.keys.append(f"order-{number}")
            self._finish(f"order-{number}", message)

    def _finish(self, key, message):
        started = self._program.request(
            "POST",
            "/api/runs",
            json={"agent": "rehearsal", "message": message},
            headers={"Idempotency-Key": key},
        )
        assert started.status_code in (200, 202), started.text
        thread = started.json()["thread"]
        with ThreadPoolExecutor(1) as pool:
            followed = pool.submit(self._follow, thread)
            self._decide_all(thread)
            last_seq = self._program.get(f"/api/threads/{thread}")["last_seq"]
            numbers = followed.result(timeout=_PATIENCE_SECONDS)
        self.done.append((key, thread, numbers, last_seq))

    def _decide_all(self, thread):
        """Approve what the runs of a thread ask until the last one has ended."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            last = self._program.get(f"/api/threads/{thread}/runs", limit=1)["results"][0]
            if last["status"] in ("succeeded", "failed", "cancelled"):
                assert last["status"] == "succeeded", last
                return
            if last["status"] != "interrupted":
                self._program.get(f"/api/runs/{last['id']}", wait=2)
                continue
            for interrupt in self._reviewer.get("/api/interrupts", run=last["id"])["results"]:
                answer = {
                    "status": "resolved",
                    "payload": {"approved": True},
                    "view_digest": interrupt["view_digest"],
                }
                path = f"/api/interrupts/{interrupt['id']}/decide"
                decided = self._reviewer.request("POST", path, json=answer)
                assert decided.status_code in (200, 202), decided.text
        raise AssertionError(f"thread {thread} did not end")

    def _follow(self, thread):
        """Return the sequence numbers of the thread's events, with reconnections, to its end."""
        seen, deadline = [], time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                after = seen[-1] if seen else 0
                for seq, event in self._program.stream(f"/api/threads/{thread}/events", after):
                    seen.append(seq)
                    if _is_last(event):
                        return seen
            except httpx.TransportError:
                continue
        raise AssertionError(f"the stream of {thread} did not end: {seen[-3:]}")

    def more(self, number=6):
        """Wait for so many more finished orders, so that every step of the upgrade has load."""
        goal = len(self.done) + number
        assert wait_for(lambda: len(self.done) >= goal, seconds=_PATIENCE_SECONDS)


def _is_last(event):
    outcome = event.get("outcome") or {}
    return event["type"] == "RUN_ERROR" or (
        event["type"] == "RUN_FINISHED" and outcome.get("type") != "interrupt"
    )


def _pairs():
    yield "next_version"
    if commit_before_the_last_migration():
        yield "version_before"


@pytest.fixture(params=_pairs())
def versions(request, tmp_path):
    """The trees of the former and the new version."""
    tree = tmp_path / "tree"
    tree.mkdir()
    if request.param == "next_version":
        return REPOSITORY, make_next_version(tree)
    return extract_version(commit_before_the_last_migration(), tree), REPOSITORY


@pytest.fixture
def servers():
    with PostgresServer() as database, ValkeyServer() as valkey:
        yield database.create_database("signoff"), valkey.url


def test_an_upgrade_under_load_loses_and_doubles_nothing(versions, servers, tmp_path):
    former, new = versions
    database, valkey = servers
    environment = scaled_environment(
        tmp_path / "data",
        database_url=database,
        redis_url=valkey,
        SIGNOFF_RATE_LIMIT="",
        SIGNOFF_WORKER_CONCURRENCY="8",
    )
    (tmp_path / "data").mkdir()

    with ExitStack() as stack:

        def web(tree, name):
            started = start_web(environment, log=tmp_path / f"{name}.log", tree=tree)
            return stack.enter_context(started)

        def worker(tree, name):
            started = start_worker(environment, log=tmp_path / f"{name}.log", tree=tree)
            return stack.enter_context(started)

        manage(environment, "migrate", "--no-input", tree=former)
        member = ("--team", "ops", "--username", "ana", "--role", "admin", "--rehearsal")
        manage(environment, "create_member", *member, tree=former)
        before = [web(former, "web-1"), web(former, "web-2")]
        former_worker = worker(former, "worker-1")
        program, reviewer = (
            Proxy(_make_key(environment, former, scope)) for scope in ("run", "decide")
        )
        upstreams = program.upstreams = reviewer.upstreams = [each.url for each in before]
        load = Load(program, reviewer)
        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(load.go_on) for _ in range(3)]
            try:
                load.more()
                manage(environment, "migrate", "--no-input", tree=new)
                load.more()
                worker(new, "worker-2")
                load.more()
                assert former_worker.terminate() == 0, former_worker.log_tail()
                load.more()
                upstreams.append(web(new, "web-3").url)
                load.more()
                for process in before:
                    # Drained while the proxy still sends requests to it, as while it is noticed.
                    assert process.terminate() == 0, process.log_tail()
                    upstreams.remove(process.url)
                    load.more()
            finally:
                load.stopped.set()
            for each in running:
                each.result(timeout=2 * _PATIENCE_SECONDS)

        assert (program.failures, reviewer.failures) == ([], [])
        facts = Facts(database)
        assert wait_for(facts.is_everything_ended, seconds=_PATIENCE_SECONDS)
        assert facts.violations() == []
        assert facts.wrong_texts() == []
        assert len(load.done) >= 40
        assert {thread for _, thread, _, _ in load.done} == {
            str(thread) for (thread,) in facts.rows("SELECT id FROM inbox_thread")
        }
        for _, thread, numbers, last_seq in load.done:
            assert numbers == list(range(1, last_seq + 1)), thread
        executions = _executions(environment)
        assert {key: executions.get(key) for key in load.keys} == dict.fromkeys(load.keys, 1)
        if new != REPOSITORY:
            assert set(facts.rows("SELECT DISTINCT written_by_next FROM inbox_run")) == {
                (None,),
                ("yes",),
            }
        manage(environment, "audit_verify", tree=new)


def _make_key(environment, tree, scope):
    scopes = ("--scope", "read", "--scope", "run", "--scope", scope)
    return manage(
        environment, "create_api_key", "--name", scope, *scopes, "--team", "ops", tree=tree
    )


def _executions(environment):
    with closing(sqlite3.connect(environment["SIGNOFF_LEDGER"])) as ledger:
        return dict(ledger.execute("SELECT key, count(*) FROM execution GROUP BY key"))
