"""Returning a run to the queue when its worker shuts down."""

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
    Return the run to the queue without counting the attempt; return whether that was possible.

    Refused while a `once` call is in flight: the worker finishes it, or loses its lease and a
    person is asked.
    """
    thread, now = lock_thread(lease.thread_id)
    in_flight = tool_calls.calls_in_flight(thread).exists()
    run = Run.objects.filter(pk=lease.run_id, fence=lease.fence, status=RunStatus.RUNNING).first()
    if in_flight or run is None:
        return False
    move_row(run, RunStatus.QUEUED)
    run.fence += 1
    # At least 1: the next claim increments it, and must not look like a first attempt.
    run.attempt = max(run.attempt - 1, 1)
    run.lease_until = None
    run.queued_at = now
    run.save(update_fields=["status", "fence", "attempt", "lease_until", "queued_at"])
    wakeups.wake_workers_on_commit(run.pk)
    return True
