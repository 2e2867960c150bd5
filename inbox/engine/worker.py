"""Executing a queued run in this process: claim it, load it, drive it."""

import threading
from typing import Any
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError

from inbox.actions.runs.run_lease import RunLease, claim_run, fail_unstarted_run
from inbox.engine.agents import locate_agent
from inbox.engine.driver import Driver
from inbox.models import Run
from inbox.queries.runs.run_assignment import load_assignment
from inbox.rules.errors import LeaseLost, RunFailure

log = structlog.get_logger(__name__)

#: Set when this process is about to stop; drivers then return their runs to the queue.
stopping = threading.Event()


def execute_run(run_id: UUID) -> None:
    """
    Drive a queued run to its end in this thread.

    Idempotent: does nothing if another worker has claimed the run.
    """
    if stopping.is_set():
        return  # the row stays queued, and the sweeper wakes a worker again
    claimed = claim_run(run_id=run_id)
    if claimed is not None:
        drive_run(*claimed)


def drive_run(run: Run, lease: RunLease) -> None:
    """Drive a claimed run to its end in this thread."""
    run_log = log.bind(run=str(run.pk), attempt=run.attempt)
    run_log.info("run started", agent=run.thread.agent.implementation)
    try:
        status = _drive(run, lease, run_log)
    except LeaseLost:
        run_log.info("run lease lost")
    except (OperationalError, InterfaceError) as error:
        run_log.warning("database unavailable", error=str(error)[:200])
    else:
        run_log.info("run ended", status=status)


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
