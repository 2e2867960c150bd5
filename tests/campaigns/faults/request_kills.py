"""SIGKILL for programs that ask by themselves, and for the product that they ask."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from tests.campaigns.faults.deployment import (
    SERVE,
    WEB,
    WORKER,
    Database,
    House,
    People,
    again,
    house,
)
from tests.campaigns.faults.process_forker import Child
from tests.campaigns.report import Report
from tests.support.processes import manage
from tests.support.product_client import in_background, wait_for

#: The points at which a program is killed, in its order.
POINTS: Final = (
    "before_ask",
    "after_ask",
    "after_wait",
    "after_start",
    "after_effect",
    "after_report",
)
#: Kills of programs at each point, and kills of the product.
_SHORT, _LONG = (1, 2), (27, 12)
_AT_ONCE = 8
_AGENTS = 4
_LONGEST_SECONDS = 600
_ADD_AGENTS = """
from inbox.management.teams import add_external_agent
for number in range({agents}):
    add_external_agent("demo", f"program{{number}}", "")
"""
#: A program with the standard library only; it kills itself at POINT.
_PROGRAM = """
import json, os, signal, time, urllib.error, urllib.request, uuid
env = os.environ

def reach(point):
    if env.get("POINT") == point:
        os.kill(os.getpid(), signal.SIGKILL)

def call(path, body=None, key=""):
    headers = {"Authorization": "Bearer " + env["KEY"], "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": key} if key else {}
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            request = urllib.request.Request(env["URL"] + path, data, headers)
            with urllib.request.urlopen(request, timeout=40) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                return error.code, json.load(error)
        except (OSError, ValueError):
            pass
        time.sleep(0.2)

def effect(thread):
    line = json.dumps({"kind": "effect", "thread": thread, "call": "1"}) + "\\n"
    file = os.open(env["CAMPAIGN_WORLD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line.encode())
    os.fsync(file)

number = env["NUMBER"]
body = {"agent": "program" + env["AGENT"], "title": "Pay?", "tool": "pay",
        "args": {"order": int(number)}, "execution": {"lease_seconds": 10}}
reach("before_ask")
status, request = call("/api/requests", body, "order-" + number)
assert status in (200, 201), request
reach("after_ask")
address = "/api/requests/" + request["id"]
while True:
    _, request = call(address + "?wait=5")
    (item,) = request["items"]
    if request["status"] == "open":
        continue
    if request["status"] != "decided":
        break
    reach("after_wait")
    if item["state"] != "waiting":
        time.sleep(0.3)
        continue
    attempt = str(uuid.uuid4())
    start = {"attempt": attempt, "args_digest": item["args_digest"]}
    status, started = call(address + "/items/1/start", start)
    if status != 200:
        continue
    assert started["args"] == {"order": int(number)}, started
    reach("after_start")
    effect(request["id"])
    reach("after_effect")
    call(address + "/items/1/report", {"attempt": attempt, "outcome": "succeeded"})
    reach("after_report")
"""
_REQUESTS = """
SELECT t.external_id, r.status, c.state, c.verdict, c.outcome FROM inbox_agentrequest r
JOIN inbox_thread t ON t.id = r.thread_id JOIN inbox_toolcall c ON c.thread_id = t.id
"""


def request_kills(directory: Path, database: Database, *, short: bool) -> Report:
    """Kill programs at each of the points, and the product while they ask, wait and report."""
    report = Report(f"kill -9 of programs that ask, {database}")
    each, of_product = _SHORT if short else _LONG
    with house(directory, database, lease=3.0) as on:
        manage(on.environment, "shell", "-v0", "-c", _ADD_AGENTS.format(agents=_AGENTS))
        with ExitStack() as stack:
            people = People(on, stack.enter_context(on.client()))
            product = _Product(on, kills=of_product)
            stack.enter_context(in_background(product.keep_running))
            again(lambda: people.client.http.get("/healthz"))
            stack.enter_context(in_background(people.answer_until))
            victims = [point for point in POINTS for _ in range(each)]
            random.Random(1).shuffle(victims)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                killed = Counter(
                    pool.map(partial(_run_to_the_end, on), range(len(victims)), victims)
                )
            ended = wait_for(on.facts.is_everything_ended, seconds=_LONGEST_SECONDS)
            report.expect(that=ended, otherwise="not everything ended in time")
            product.finish()
            report.violate(*people.refused)
            _judge(report, on, programs=len(victims))
            report.figures |= {
                "programs killed": sum(killed.values()) - killed[""],
                "product killed": product.killed,
                "doubts answered": people.doubts,
            }
    return report.done()


def _run_to_the_end(on: House, number: int, point: str) -> str:
    """Run one program, killed once at its point; return the point, "" if it was not reached."""
    environment = {
        **os.environ,
        "URL": f"http://127.0.0.1:{on.ports[0]}",
        "KEY": on.key,
        "NUMBER": str(number),
        "AGENT": str(number % _AGENTS),
        "CAMPAIGN_WORLD": on.environment["CAMPAIGN_WORLD"],
    }
    command = [sys.executable, "-I", "-c", _PROGRAM]
    first = subprocess.run(command, env={**environment, "POINT": point}, check=False)
    if first.returncode == -signal.SIGKILL:
        subprocess.run(command, env=environment, check=True, timeout=_LONGEST_SECONDS)
        return point
    first.check_returncode()
    return ""


class _Product:
    """The processes of the product, of which one at a time is killed and replaced."""

    def __init__(self, on: House, *, kills: int) -> None:
        self._house = on
        self._left = kills
        self._number = 0
        self.killed = 0
        commands = [SERVE] if on.database == "SQLite" else [WEB, WORKER]
        self._places: list[tuple[tuple[str, ...], Child]] = [
            (command, self._bear(command)) for command in commands
        ]

    def keep_running(self, stop: threading.Event) -> None:
        while not stop.wait(random.uniform(1.5, 4.0)):
            if not self._left:
                continue
            position = random.randrange(len(self._places))
            command, child = self._places[position]
            child.signal(signal.SIGKILL)
            deadline = time.monotonic() + 10
            while child.code is None and time.monotonic() < deadline:
                self._house.nursery.wait_for_an_end(0.1)
            self._left, self.killed = self._left - 1, self.killed + 1
            self._places[position] = (command, self._bear(command))

    def finish(self) -> None:
        """Kill no more."""
        self._left = 0

    def _bear(self, command: tuple[str, ...]) -> Child:
        self._number += 1
        log = self._house.directory / f"process{self._number}.log"
        port = self._house.ports[0] if command != WORKER else 1
        return self._house.nursery.bear(command, log=log, PORT=str(port))


def _judge(report: Report, on: House, *, programs: int) -> None:
    """Put down every effect without approval, every doubled one, and every lost decision."""
    effects = Counter(line["thread"] for line in on.world.lines("effect"))
    rows = on.facts.rows(_REQUESTS)
    report.expect(that=len(rows) == programs, otherwise=f"{len(rows)} requests of {programs}")
    for name, status, state, verdict, outcome in rows:
        number = effects[str(name)]
        is_approved = verdict == "approved"
        report.expect(that=number <= 1, otherwise=f"{name} took effect {number} times")
        report.expect(
            that=is_approved or not number, otherwise=f"{name} took effect, and was {verdict}"
        )
        report.expect(that=status == "done", otherwise=f"{name} is {status}")
        if state == "settled":
            report.expect(that=number == 1, otherwise=f"{name} has succeeded without effect")
        elif is_approved and state != "not_run":
            report.violate(f"{name} is approved and {state} ({outcome})")
    report.violate(*on.facts.violations())
    report.figures |= {"requests": len(rows), "effects": sum(effects.values())}
