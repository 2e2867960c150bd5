"""Expiry: closing interrupts that were not answered in time."""

from uuid import UUID

from django.db import transaction

from inbox.actions.decisions.decide import DecisionDraft, authorize, record_decisions
from inbox.actions.runs.resume import queue_resume_if_complete
from inbox.models import Interrupt
from inbox.models.locks import lock_thread
from inbox.queries.policies.policies import load_rulings, stored_ruling
from inbox.queries.runs.interrupt_states import interrupt_state
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import EXPIRY
from inbox.rules.policies.answers import answer_on_expiry
from inbox.rules.runs.states import InterruptStatus


@transaction.atomic(durable=True)
def expire_interrupts(*, thread_id: UUID) -> int:
    """
    Close the thread's overdue interrupts, and return their number.

    Each gets a decision of the system, a cancellation or the denial that the policy requires, so
    that the run is resumed with the other decisions once the set is complete. Safe to replay.
    """
    thread, now = lock_thread(thread_id)
    overdue_interrupts = list(
        Interrupt.objects.filter(
            thread=thread, status=InterruptStatus.OPEN, expires_at__lte=now
        ).select_related("tool_call", "run", "claim")
    )
    load_rulings(overdue_interrupts)
    authorization = authorize(thread=thread, now=now, actor=EXPIRY, entrance=Entrance.EXPIRY)
    for run in {interrupt.run for interrupt in overdue_interrupts}:
        drafts = []
        for interrupt in (row for row in overdue_interrupts if row.run == run):
            state = interrupt_state(interrupt, None)
            entry = answer_on_expiry(state, stored_ruling(interrupt))
            drafts.append(DecisionDraft(interrupt, state, entry))
        record_decisions(authorization, run=run, drafts=drafts)
        queue_resume_if_complete(thread=thread, run=run, now=now, started_by=EXPIRY.label)
    return len(overdue_interrupts)
