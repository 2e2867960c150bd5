"""Stopping the work of a database that was restored from a backup."""

from datetime import datetime
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.runs.resume import queue_resume
from inbox.actions.runs.run_termination import fail_run
from inbox.models import Interrupt, Run
from inbox.models.locks import lock_thread
from inbox.platform.clock import database_now
from inbox.queries.runs.latest_run import latest_run
from inbox.rules import errors
from inbox.rules.people.access import OPERATOR
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus


@transaction.atomic(durable=True)
def record_restoration(*, made_at: datetime | None) -> None:
    """End all sessions and record that a backup of `made_at` (None: unknown) was restored."""
    sessions, _ = Session.objects.all().delete()
    audit_trail.record(
        "installation.restored",
        OPERATOR,
        database_now(),
        made_at=made_at and made_at.isoformat(),
        sessions_ended=sessions,
    )


@transaction.atomic(durable=True)
def stop_restored_run(*, thread_id: UUID) -> bool:
    """
    Fail the active run of a restored thread with RESTORED; return whether there was one.

    The calls that it would make may have been made after the backup, so that a person has to check
    and to retry it. Started `once` calls become IN_DOUBT, and the retry asks about them. A decided
    run that waits for the end of its grace period is resumed and failed. Open interrupts stay open,
    and answers to them have to confirm that somebody has checked what happened since; the thread
    gets an audit entry, which their pages display.

    Idempotent but for the entry. No process of the product may run meanwhile.
    """
    thread, now = lock_thread(thread_id)
    run: Run | None = latest_run(thread)
    if run is None:
        return False
    audit_trail.record("thread.restored", OPERATOR, now, thread=thread, run=run)
    if run.resume_at is not None:
        run = queue_resume(thread=thread, run=run, now=now, started_by=OPERATOR.label) or run
    if run.status == RunStatus.INTERRUPTED:
        Interrupt.objects.filter(run=run).update(restored_at=now)
    if run.status not in ACTIVE_RUN_STATUSES:
        return False
    failure = errors.Restored("The installation was restored from a backup.")
    fail_run(thread=thread, run=run, failure=failure, now=now, actor=OPERATOR)
    return True
