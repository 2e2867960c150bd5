"""Giving a run back when its worker stops in good order."""

from django.db import transaction

from inbox import wakeups
from inbox.actions.runs import tool_calls
from inbox.actions.runs.run_lease import RunLease
from inbox.models import Run
from inbox.models.locks import lock_thread
from inbox.models.moves import move_row
from inbox.rules.runs.states import RunStatus


@transaction.atomic(durable=True)
def release_run(*, lease: RunLease) -> bool:
    """
    Put the run back into the queue, at no cost to its attempts; return whether that was possible.

    Not while a `once` tool is between its start and its result: that worker finishes, or its lease
    runs out and a person is asked.
    """
    thread, now = lock_thread(lease.thread_id)
    in_flight = tool_calls.calls_in_flight(thread).exists()
    run = Run.objects.filter(pk=lease.run_id, fence=lease.fence, status=RunStatus.RUNNING).first()
    if in_flight or run is None:
        return False
    move_row(run, RunStatus.QUEUED)
    run.fence += 1
    # The next claim counts up again, and must not look like a first attempt.
    run.attempt = max(run.attempt - 1, 1)
    run.lease_until = None
    run.queued_at = now
    run.save(update_fields=["status", "fence", "attempt", "lease_until", "queued_at"])
    wakeups.wake_workers_on_commit(run.pk)
    return True
