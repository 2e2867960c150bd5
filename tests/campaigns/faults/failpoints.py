"""
Named points in the product's processes at which one of them kills or stops itself.

The product knows nothing of it: what stands at a boundary is wrapped from outside, before a process
begins to work.
"""

import json
import os
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import wraps
from typing import Any, Final

from tests.campaigns.faults.fixture_data import happened

#: Names the orders in the environment of a process; empty for one that does as it likes.
ORDERS: Final = "CAMPAIGN_ORDERS"

BEFORE_CLAIM: Final = "before the claim"
AFTER_START: Final = "after the start, before the call"
AFTER_EFFECT: Final = "after the effect"
BEFORE_SETTLE: Final = "before the settlement's commit"
DURING_APPEND: Final = "during an append, before its commit"
AFTER_DECISION: Final = "after the decision's commit"
AFTER_APPEND: Final = "between two appends"
BEFORE_RULINGS: Final = "before the rulings are stored"
AFTER_RULINGS: Final = "after the rulings are stored"
BEFORE_POLICY: Final = "before the policy's decision"
BEFORE_RESUME: Final = "after the policy's decision, before its resume"
AFTER_POLICY: Final = "after the commit of the policy's resume"

#: Where workers are killed, and where a web process is.
OF_WORKERS: Final = (BEFORE_CLAIM, AFTER_START, AFTER_EFFECT, BEFORE_SETTLE, DURING_APPEND)
OF_WEB: Final = (AFTER_DECISION,)
#: Where workers are killed while a policy answers.
OF_POLICIES: Final = (BEFORE_RULINGS, AFTER_RULINGS, BEFORE_POLICY, BEFORE_RESUME, AFTER_POLICY)
#: Where a worker is stopped: outside of transactions, as far as its own thread goes.
TO_STOP: Final = (AFTER_START, AFTER_EFFECT, AFTER_APPEND)


@dataclass(frozen=True)
class Orders:
    """What a process has to do to itself, where, and at which time it comes there."""

    point: str
    hit: int
    is_stop: bool = False  #: stop at each so manieth hit, instead of being killed at the first

    def to_text(self) -> str:
        return json.dumps(asdict(self))


class _Trigger:
    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._guard = threading.Lock()
        self._hits = 0
        self.holds: set[tuple[str, int]] = set()  #: of the runs that this process drives
        self.fenced: set[tuple[str, int]] = set()  #: of those that it drove when it was stopped

    def reached(self, point: str) -> None:
        if point != self._orders.point:
            return
        with self._guard:
            self._hits += 1
            if self._hits % self._orders.hit == 0:
                self._stop() if self._orders.is_stop else self._kill()

    def _kill(self) -> None:
        happened("kill", point=self._orders.point, pid=os.getpid())
        os.kill(os.getpid(), signal.SIGKILL)
        threading.Event().wait()  # not a step further, should the signal take its time

    def _stop(self) -> None:
        with _no_writer():
            holds = sorted(self.holds)
            self.fenced.update(holds)
            happened("stop", point=self._orders.point, pid=os.getpid(), holds=holds)
            # To this thread: sent to the process, another thread might be the one that sees to it.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
            happened("woken", pid=os.getpid(), holds=holds)


def install() -> None:
    """Have time run faster, and wrap what stands at the points; called after `django.setup`."""
    _shorten_waits()
    text = os.environ.get(ORDERS)
    trigger = _Trigger(Orders(**json.loads(text))) if text else _Trigger(Orders("", 1))
    _wrap_engine(trigger)
    _wrap_rows(trigger)
    _wrap_transactions(trigger)
    _wrap_decisions(trigger)
    _wrap_policies(trigger)


def _shorten_waits() -> None:
    """A campaign is mostly waiting for leases; and no run is given up, so that each one counts."""
    from django.db import connections

    from inbox import sweeper
    from inbox.actions.runs import claim, recovery
    from inbox.engine import driver

    lease = float(os.environ.get("CAMPAIGN_LEASE", "4"))
    claim.LEASE = timedelta(seconds=lease)
    driver.HEARTBEAT_SECONDS = lease / 4
    sweeper.EXPIRY_SECONDS, sweeper.SWEEP_SECONDS = 0.25, 0.5
    sweeper.WAKE_AGAIN_AFTER, sweeper.SILENT_SECONDS = timedelta(seconds=1), 2.0
    options = connections.settings["default"]["OPTIONS"]
    if "options" in options:
        options["options"] = "-c idle_in_transaction_session_timeout=2s"
    recovery.MAX_ATTEMPTS = 1_000


def _wrap_engine(trigger: _Trigger) -> None:
    from agents.port import Effect
    from agents.sdk.tools import Tool
    from inbox.engine import worker

    claim, drive, execute = worker.claim_run, worker._drive, Tool.execute

    @wraps(claim)
    def claim_run(**arguments: Any) -> Any:
        trigger.reached(BEFORE_CLAIM)
        return claim(**arguments)

    @wraps(drive)
    def driving(run: Any, lease: Any, bound: Any) -> Any:
        held = (str(lease.run_id), lease.fence)
        trigger.holds.add(held)
        try:
            return drive(run, lease, bound)
        finally:
            trigger.holds.discard(held)

    @wraps(execute)
    async def executing(self: Tool, call: Any) -> Any:
        value = await execute(self, call)
        if self.effect is not Effect.READ:
            trigger.reached(AFTER_EFFECT)
        return value

    worker.claim_run, worker._drive, Tool.execute = claim_run, driving, executing


def _wrap_rows(trigger: _Trigger) -> None:
    """What happens within the transactions."""
    from inbox.actions.runs import event_log, tool_calls

    begin, settle, append = tool_calls.start_calls, tool_calls.settle_calls, event_log.append_frames

    @wraps(begin)
    def begin_calls(*, thread: Any, attempts: Any, **more: Any) -> Any:
        answers = begin(thread=thread, attempts=attempts, **more)
        for call in _begun_once(attempts, answers):
            happened("starting", thread=thread.external_id, call=call)
        return answers

    @wraps(settle)
    def settle_calls(**arguments: Any) -> Any:
        if arguments["results"]:
            trigger.reached(BEFORE_SETTLE)
        return settle(**arguments)

    @wraps(append)
    def append_frames(**arguments: Any) -> Any:
        append(**arguments)
        if arguments["frames"]:
            trigger.reached(DURING_APPEND)

    tool_calls.start_calls, tool_calls.settle_calls, event_log.append_frames = (
        begin_calls,
        settle_calls,
        append_frames,
    )


def _wrap_transactions(trigger: _Trigger) -> None:
    """What a worker commits."""
    from inbox.actions.runs import run_lease

    for name in ("renew_lease", "append_events", "settle_tool_calls", "finish_run"):
        setattr(run_lease, name, _watched(trigger, getattr(run_lease, name)))
    start_tool_calls = _watched(trigger, run_lease.start_tool_calls)

    @wraps(start_tool_calls)
    def begun(*, lease: Any, batch: Any, attempts: Any) -> Any:
        answers = start_tool_calls(lease=lease, batch=batch, attempts=attempts)
        for call in _begun_once(attempts, answers):
            happened("started", run=str(lease.run_id), call=call)
        if any(_is_let_go(answer) for answer in answers):
            trigger.reached(AFTER_START)
        return answers

    run_lease.start_tool_calls = begun


def _watched(trigger: _Trigger, write: Callable[..., Any]) -> Callable[..., Any]:
    """Tell the world what a worker that was stopped writes, and what it is refused."""
    from inbox.rules.errors import LeaseLost

    @wraps(write)
    def watched(*, lease: Any, **arguments: Any) -> Any:
        held = (str(lease.run_id), lease.fence)
        # What was under way when the process was stopped may have been committed before.
        was_fenced = held in trigger.fenced
        try:
            result = write(lease=lease, **arguments)
        except LeaseLost:
            if held in trigger.fenced:
                happened("refused", pid=os.getpid(), lease=held, write=write.__name__)
            raise
        if was_fenced:
            happened("wrote", pid=os.getpid(), lease=held, write=write.__name__)
        if write.__name__ == "append_events":
            trigger.reached(AFTER_APPEND)
        return result

    return watched


def _wrap_decisions(trigger: _Trigger) -> None:
    from inbox import wakeups
    from inbox.api.decisions import decisions

    decide, wake_workers = decisions.decide, wakeups.wake_workers
    deciding = threading.local()

    @wraps(decide)
    def decided(**arguments: Any) -> Any:
        deciding.now = True
        try:
            decision = decide(**arguments)
        finally:
            deciding.now = False
        # Nothing was to be rung for: the others of its set are still open.
        trigger.reached(AFTER_DECISION)
        return decision

    @wraps(wake_workers)
    def ring(run_id: Any) -> None:
        if getattr(deciding, "now", False):
            deciding.now = False
            trigger.reached(AFTER_DECISION)
        wake_workers(run_id)

    decisions.decide, wakeups.wake_workers = decided, ring


def _wrap_policies(trigger: _Trigger) -> None:
    """Watch the answers of a policy, in the transaction that ends a run."""
    from inbox import wakeups
    from inbox.actions.policies import policy_decisions
    from inbox.actions.runs import create_interrupts

    store = create_interrupts.store_rulings
    record = policy_decisions.record_decisions
    queue = policy_decisions.queue_resume_if_complete
    wake_workers = wakeups.wake_workers
    queued = threading.local()

    @wraps(store)
    def store_rulings(rows: Any) -> None:
        trigger.reached(BEFORE_RULINGS)
        store(rows)
        trigger.reached(AFTER_RULINGS)

    @wraps(record)
    def record_decisions(*arguments: Any, **more: Any) -> Any:
        trigger.reached(BEFORE_POLICY)
        return record(*arguments, **more)

    @wraps(queue)
    def queue_resume(**arguments: Any) -> Any:
        trigger.reached(BEFORE_RESUME)
        resume = queue(**arguments)
        queued.run = resume and resume.pk
        return resume

    @wraps(wake_workers)
    def ring(run_id: Any) -> None:
        if run_id == getattr(queued, "run", None):
            trigger.reached(AFTER_POLICY)
        wake_workers(run_id)

    create_interrupts.store_rulings = store_rulings
    policy_decisions.record_decisions = record_decisions
    policy_decisions.queue_resume_if_complete = queue_resume
    wakeups.wake_workers = ring


def _is_let_go(answer: Any) -> bool:
    return getattr(answer, "result", "") is None


def _begun_once(attempts: Any, answers: Any) -> list[str]:
    both = zip(attempts, answers, strict=True)
    return [
        tool_call.tool_call_id
        for tool_call, row in both
        if tool_call.effect == "once" and _is_let_go(row)
    ]


def _no_writer() -> AbstractContextManager[object]:
    """
    On SQLite, wait until no other thread of this process is in a transaction.

    The product's shape on SQLite is one process; a second one, which only a campaign has, would
    wait for a writer that is stopped.
    """
    from django.conf import settings

    if not settings.EMBEDDED:
        return nullcontext()
    from inbox.platform.embedded.database.base import _write_lock

    class _InLine:
        def __enter__(self) -> None:
            _write_lock.acquire(30)

        def __exit__(self, *_: object) -> None:
            _write_lock.release()

    return _InLine()
