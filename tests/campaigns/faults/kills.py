"""SIGKILL for workers, again and again, while runs and decisions go on."""

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.campaigns.faults.setup import Stage, stage
from tests.campaigns.report import Report
from tests.support.processes import WORKER_COMMAND, ProductProcess
from tests.support.product import Product
from tests.support.product_client import wait_for

_WORKERS = 3
_LONGEST_RECOVERY_SECONDS = 150
_SCENARIOS = (
    "tool_call",
    "effect:{key}",
    "stream:60:10",
    "multi_step",
    "effect:{key}",
    "parallel:4",
    "sleep:1",
    "effect:{key}",
)
_DOUBT = "signoff:outcome_unknown"


class Reviewers:
    """Answer whatever is asked, also the doubts; they know the ledger, as people know the world."""

    def __init__(self, on: Stage) -> None:
        self._stage = on
        self.answered = 0
        self.doubts = 0
        self.refused: list[str] = []

    def answer_everything(self, pool: ThreadPoolExecutor) -> None:
        list(pool.map(self._answer, self._stage.client.pending()))

    def _answer(self, interrupt: dict[str, Any]) -> None:
        if interrupt["reason"] == _DOUBT:
            self.doubts += 1
            payload = self._settle(interrupt)
        else:
            payload = {"approved": random.random() > 0.1}
        answer = self._stage.client.decide(interrupt, payload)
        self.answered += 1
        if answer.status_code != 200:
            self.refused.append(f"{interrupt['id']}: {answer.status_code} {answer.text[:200]}")

    def _settle(self, interrupt: dict[str, Any]) -> dict[str, Any]:
        call = interrupt["interrupt"]["toolCallId"]
        if self._stage.ledger.executions(interrupt["thread_id"], call):
            return {"outcome": "happened", "result": json.dumps({"ok": True, "by": "hand"})}
        return {"outcome": "did_not_happen"}


def kills(directory: Path, *, short: bool) -> Report:
    """
    Kill workers at random moments: every run ends, nothing is said or done twice.

    A kill falls into a burst of answers, because that is when tools run, and every other one into
    the moment between the start of a `once` tool and its result.
    """
    report = Report("kill -9 of workers")
    decisions, runs = (12, 60) if short else (200, 1_000)
    with ExitStack() as stack:
        on = stack.enter_context(stage(directory, workers=_WORKERS))
        pool = stack.enter_context(ThreadPoolExecutor(9))
        workers = Workers(on.product, directory, stack)
        reviewers = Reviewers(on)
        started = 0
        for number in range(decisions):
            batch = runs * (number + 1) // decisions - started
            list(pool.map(lambda index: _start(on, index), range(started, started + batch)))
            started += batch
            victim = workers.choose()
            answering = pool.submit(reviewers.answer_everything, pool)
            if number % 2:
                on.facts.wait_for_started_effect(seconds=0.4)
            else:
                time.sleep(random.random() * 0.4)
            workers.kill(victim)
            answering.result()
        settled = wait_for(
            lambda: reviewers.answer_everything(pool) or on.facts.is_everything_ended(),
            seconds=_LONGEST_RECOVERY_SECONDS,
            every=0.25,
        )
        report.expect(
            that=settled, otherwise=f"not everything ended within {_LONGEST_RECOVERY_SECONDS} s"
        )
        report.violate(*reviewers.refused)
        _judge(report, on, runs)
        report.figures |= {
            "workers killed": decisions,
            "answers given": reviewers.answered,
            "doubts put to a person": reviewers.doubts,
        }
    return report.done()


class Workers:
    """The workers; a killed one is replaced, without waiting until the new one is ready."""

    def __init__(self, product: Product, directory: Path, stack: ExitStack) -> None:
        self._environment = product.environment
        self._directory = directory
        self._stack = stack
        self.running = list(product.workers)
        self._number = len(self.running)

    def choose(self) -> ProductProcess:
        if not wait_for(lambda: bool(self._ready()), seconds=60, every=0.01):
            raise TimeoutError("no worker became ready")
        return random.choice(self._ready())

    def kill(self, victim: ProductProcess) -> None:
        victim.kill()
        self.running.remove(victim)
        self.running.append(self._replacement())

    def _ready(self) -> list[ProductProcess]:
        return [worker for worker in self.running if worker.has_logged("worker.ready")]

    def _replacement(self) -> ProductProcess:
        log = self._directory / f"worker{self._number}.log"
        self._number += 1
        worker = ProductProcess(
            WORKER_COMMAND, environment=self._environment, log=log, is_ready=lambda _: True
        )
        return self._stack.enter_context(worker)


def _start(on: Stage, index: int) -> None:
    scenario = _SCENARIOS[index % len(_SCENARIOS)].format(key=f"kill-{index}")
    on.client.start(f"rehearse:{scenario}", key=f"kill-{index}").raise_for_status()


def _judge(report: Report, on: Stage, runs: int) -> None:
    facts = on.facts
    report.violate(*facts.violations(), *facts.wrong_texts())
    report.violate(
        *(f"{key} was executed {times} times" for key, times in on.ledger.more_than_once("kill-"))
    )
    first = "SELECT count(*) FROM inbox_run r JOIN inbox_idempotencyrecord i ON i.created_id = r.id"
    report.expect(
        that=facts.value(first) == runs, otherwise=f"{facts.value(first)} of {runs} runs are stored"
    )
    settled = """
        SELECT t.external_id, c.tool_call_id FROM inbox_toolcall c
        JOIN inbox_thread t ON c.thread_id = t.id WHERE c.name = 'charge' AND c.state = 'settled'
    """
    for thread, call in facts.rows(settled):
        times = on.ledger.executions(thread, call)
        report.expect(that=times == 1, otherwise=f"{call} has a result and ran {times} times")
    lost = "SELECT count(*) FROM inbox_run WHERE error_code = 'WORKER_LOST'"
    again = "SELECT count(*) FROM inbox_run WHERE attempt > 1"
    report.figures |= {
        "runs started": runs,
        "runs in all, with their resumes": facts.value("SELECT count(*) FROM inbox_run"),
        "runs driven more than once": facts.value(again),
        "runs given up after three attempts": facts.value(lost),
        "charges executed": len(facts.rows(settled)),
    }
