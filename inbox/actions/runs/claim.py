"""The claim of a queued run by the process that drives it."""

from datetime import datetime, timedelta

from agents.agui import wire
from inbox.actions.runs import event_log
from inbox.models import Run, Thread
from inbox.models.moves import move_row
from inbox.rules.runs.states import RunStatus

LEASE = timedelta(seconds=20)


def take_lease(run: Run, now: datetime) -> None:
    """Claim a queued run of a locked thread; the caller stores the row."""
    move_row(run, RunStatus.RUNNING)
    run.fence += 1
    run.attempt += 1
    run.lease_until = now + LEASE
    run.started_at = run.started_at or now


def append_run_started(*, thread: Thread, run: Run, now: datetime) -> None:
    event = wire.run_started(thread.external_id, run.external_id, run.parent_external_id or None)
    event_log.append_frames(thread=thread, run=run, frames=[event_log.encode_frame(event)], now=now)
