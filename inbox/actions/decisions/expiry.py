"""Closing interrupts that nobody answered in time."""

from uuid import UUID

from django.db import transaction

from inbox.actions.decisions.decide import DecisionDraft, authorize, record_decisions
from inbox.actions.runs.resume import queue_resume_if_complete
from inbox.models import Interrupt
from inbox.models.locks import lock_thread
from inbox.queries.runs.interrupt_states import interrupt_state
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import EXPIRY
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, InterruptStatus


@transaction.atomic(durable=True)
def expire_interrupts(*, thread_id: UUID) -> int:
    """
    Close the thread's late interrupts as cancelled and return how many.

    The system answers in the person's place, so that the set completes, the siblings' decisions
    count and the thread is never stuck. Safe to replay.
    """
    thread, now = lock_thread(thread_id)
    late = list(
        Interrupt.objects.filter(
            thread=thread, status=InterruptStatus.OPEN, expires_at__lte=now
        ).select_related("tool_call", "run", "claim")
    )
    admission = authorize(thread=thread, now=now, actor=EXPIRY, entrance=Entrance.EXPIRY)
    for run in {interrupt.run for interrupt in late}:
        answers = [
            DecisionDraft(
                interrupt,
                interrupt_state(interrupt, None),
                ResumeEntry(interrupt.interrupt_id, EntryStatus.CANCELLED),
            )
            for interrupt in late
            if interrupt.run == run
        ]
        record_decisions(admission, run=run, answers=answers, closed_as=InterruptStatus.EXPIRED)
        queue_resume_if_complete(thread=thread, run=run, now=now, started_by=EXPIRY.label)
    return len(late)
