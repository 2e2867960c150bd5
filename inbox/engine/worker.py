"""Executing a queued run in this process: claim it, load it, drive it."""

import threading
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError

from agents.tracing import set_trace_headers
from inbox.actions.runs.run_lease import RunLease, claim_run, fail_unstarted_run
from inbox.engine.agents import locate_agent
from inbox.engine.driver import Driver
from inbox.engine.worker_shares import Share, shares
from inbox.models import Interrupt, Run
from inbox.models.statements import Select
from inbox.platform.clock import now_ns
from inbox.platform.monitoring.metrics import QUEUE_SECONDS, RESUME_SECONDS, metrics
from inbox.platform.monitoring.traces import Attributes, traces
from inbox.queries.runs.queued_runs import is_resume, queued_runs
from inbox.queries.runs.run_assignment import load_assignment
from inbox.rules.errors import LeaseLost, RunFailure

log = structlog.get_logger(__name__)

#: Set when this process is about to stop; drivers then return their runs to the queue.
stopping = threading.Event()
#: Queued runs that are looked at when a run ends; with turns, the first ones of many agents.
_MAX_WAITING = 200


def execute_run(run_id: UUID) -> None:
    """
    Drive a queued run to its end in this thread, and then runs that had to wait for a thread.

    Idempotent: does nothing if another worker has claimed the run. A run whose team or agent
    occupies its share of this process stays queued; the next run that ends here starts it.
    """
    if stopping.is_set():
        return  # the row stays queued, and the sweeper wakes a worker again
    claimed = _claim(run_id)
    if claimed is not None:
        _drive_claimed(*claimed)
        drive_waiting_runs()


def drive_waiting_runs() -> None:
    """Drive queued runs that were not admitted before, one after another, until none may start."""
    while shares.forget_waiting() and not stopping.is_set():
        claimed = _claim_waiting()
        if claimed is None:
            return
        _drive_claimed(*claimed)


def _claim(run_id: UUID) -> tuple[Run, RunLease, Share] | None:
    admitted: list[Share] = []

    def admit(run: Run) -> bool:
        share = shares.take(run.team_id, run.agent_id, is_resume=is_resume(run))
        if share is not None:
            admitted.append(share)
        return share is not None

    claimed = None
    started_ns = now_ns()
    try:
        claimed = claim_run(run_id=run_id, admit=admit)
    finally:
        if claimed is None and admitted:
            admitted[0].release()
            shares.note_waiting()  # for another run of its team, if the team may run no more
    if claimed is None:
        return None
    traces.record("claim run", parent=claimed[0].trace_context, started_ns=started_ns)
    return (*claimed, admitted[0])


def _claim_waiting() -> tuple[Run, RunLease, Share] | None:
    """Claim one of the queued runs: a resume, or else one of the team that occupies least."""
    waiting = queued_runs(most=_MAX_WAITING)
    if waiting:
        shares.note_waiting()  # until a search finds the queue empty
    refused: set[UUID] = set()  #: teams that may run no more
    for run in sorted(waiting, key=lambda run: (not run.is_resume, shares.runs_of(run.team))):
        if run.team in refused:
            continue
        if shares.may_take(run.team, run.agent, is_resume=run.is_resume):
            claimed = _claim(run.run_id)
            if claimed is not None:
                return claimed
            refused.add(run.team)
    return None


def _drive_claimed(run: Run, lease: RunLease, share: Share) -> None:
    try:
        drive_run(run, lease)
    finally:
        share.release()


def drive_run(run: Run, lease: RunLease) -> None:
    """Drive a claimed run to its end in this thread."""
    if metrics.are_on and run.attempt == 1 and run.started_at is not None:
        _measure_start(run, run.started_at)
    if not (traces.are_on and run.trace_context):
        _drive_logged(run, lease)
        return
    interrupted = run.resumes.trace_context if run.resumes else ""
    attributes: Attributes = {"signoff.run": str(run.pk), "signoff.attempt": run.attempt}
    with traces.span(
        "resume" if run.resumes else "agent turn",
        parent=run.trace_context,
        links=[interrupted],
        attributes=attributes,
    ) as span:
        span.set_attribute("signoff.status", _drive_logged(run, lease))


def _drive_logged(run: Run, lease: RunLease) -> str:
    """Drive a run, log its start and end, and return its status, or why there is none."""
    run_log = log.bind(run=str(run.pk), attempt=run.attempt)
    run_log.info("run started", agent=run.thread.agent.implementation)
    try:
        status = _drive(run, lease, run_log)
    except LeaseLost:
        run_log.info("run lease lost")
        return "lease lost"
    except (OperationalError, InterfaceError) as error:
        run_log.warning("database unavailable", error=str(error)[:200])
        return "database unavailable"
    run_log.info("run ended", status=status)
    return str(status)


def _measure_start(run: Run, started_at: datetime) -> None:
    is_resume = run.resumes_id is not None
    waited = (started_at - run.queued_at).total_seconds()
    QUEUE_SECONDS.observe(waited, "resume" if is_resume else "start")
    if is_resume:
        decided_at = _DECIDED_AT.first(run=run.resumes_id)
        if decided_at is not None:
            RESUME_SECONDS.observe((started_at - decided_at).total_seconds())


_DECIDED_AT = Select(
    lambda params: (
        Interrupt.objects.filter(run=params.run)
        .order_by("-closed_at")
        .values_list("closed_at", flat=True)[:1]
    )
)


def _drive(run: Run, lease: RunLease, run_log: Any) -> str:
    try:
        agent, endpoint = locate_agent(run.thread.agent.implementation)
        restartable = agent is not None and agent.restartable
        assignment = load_assignment(run, restartable=restartable, endpoint_digest=endpoint)
        driver = Driver(assignment, agent, lease, stopping, run_log)
    except (OperationalError, InterfaceError):
        raise
    except RunFailure as failure:
        run_log.error("run refused", code=failure.code, why=str(failure))
        return fail_unstarted_run(lease=lease, failure=failure)
    except Exception:
        # Another worker could not read these rows either.
        run_log.exception("run cannot be loaded")
        return fail_unstarted_run(lease=lease)
    return driver.drive()


def send_traces_to_agents() -> None:
    """Have requests to remote agents name the current trace."""
    set_trace_headers(traces.headers)
