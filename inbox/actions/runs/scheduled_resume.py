"""Resuming runs whose grace period is over."""

from uuid import UUID

from django.db import transaction

from inbox.actions.runs.resume import queue_resume
from inbox.models import Decision, Run
from inbox.models.locks import lock_thread


@transaction.atomic(durable=True)
def resume_if_due(*, run_id: UUID) -> Run | None:
    """
    Queue the resume of an interrupted run whose grace period is over; return None if none is due.

    Happens exactly once: queueing the resume clears `resume_at`, and so does a withdrawal.
    """
    thread, now = lock_thread(runs=run_id)
    run = Run.objects.get(pk=run_id)
    if run.resume_at is None or run.resume_at > now:
        return None
    decisions = Decision.objects.filter(interrupt__run=run, withdrawn_at=None)
    last_decision = decisions.order_by("created_at", "pk").last()
    return queue_resume(
        thread=thread,
        run=run,
        now=now,
        started_by=last_decision.actor_label if last_decision else "",
    )
