"""Reminders and escalations of open requests, at the times that policies set."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.notifications.announcements import announce
from inbox.actions.webhooks import outbox
from inbox.models import DueStep, Ruling, Thread
from inbox.models.locks import lock_thread
from inbox.queries.policies.policies import stored_ruling
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import POLICY
from inbox.rules.policies.requirement import StepKind
from inbox.rules.runs.states import InterruptStatus


def store_steps(rulings: Sequence[Ruling]) -> None:
    """Store the steps that rulings require, in the transaction that stores the rulings."""
    steps = [
        DueStep(ruling=row, kind=step.kind, number=step.number, due_at=step.due_at)
        for row in rulings
        if (ruling := stored_ruling(row.interrupt)) and ruling.requirement
        for step in ruling.requirement.steps
    ]
    DueStep.objects.bulk_create(steps)


@transaction.atomic(durable=True)
def do_due_steps(*, thread_id: UUID) -> int:
    """
    Do the steps of the thread that are due, and return the number of steps that people see.

    Of several reminders of a request that are due at once, the last one is done, and escalations
    are one; steps of closed requests and of replaced rulings do nothing. Safe to replay.
    """
    thread, now = lock_thread(thread_id)
    due = DueStep.objects.filter(
        ruling__interrupt__thread=thread, done_at=None, due_at__lte=now
    ).order_by("ruling", "kind", "number")
    steps = list(due.select_related("ruling__version", "ruling__interrupt__run"))
    DueStep.objects.filter(pk__in=[step.pk for step in steps]).update(done_at=now)
    groups = groupby(steps, key=lambda step: (step.ruling, step.kind))
    count = sum(
        _do(thread, ruling, StepKind(kind), list(items), now) for (ruling, kind), items in groups
    )
    if count:
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return count


def _do(
    thread: Thread, row: Ruling, kind: StepKind, steps: Sequence[DueStep], now: datetime
) -> bool:
    interrupt = row.interrupt
    ruling = stored_ruling(interrupt)
    is_open = interrupt.status == InterruptStatus.OPEN
    is_late = interrupt.expires_at is not None and interrupt.expires_at <= now
    is_in_force = interrupt.ruling == row
    if ruling is None or ruling.requirement is None or is_late or not (is_open and is_in_force):
        return False
    if kind is StepKind.REMIND:
        action, detail = "interrupt.reminded", dict[str, Any]()
        outbox.interrupt_reminded(thread=thread, interrupt=interrupt, now=now)
        announce(AnnouncementKind.REMINDED, [interrupt], now)
    else:
        numbers = {step.number for step in steps}
        plan = [step for step in ruling.requirement.steps if step.kind is kind]
        to = sorted({key for step in plan if step.number in numbers for key in step.to})
        action, detail = "interrupt.escalated", {"to": to, "rules": list(ruling.rules)}
        outbox.interrupt_escalated(thread=thread, interrupt=interrupt, to=to, now=now)
        announce(AnnouncementKind.ESCALATED, [interrupt], now)
    audit_trail.record(action, POLICY, now, thread=thread, interrupt=interrupt, **detail)
    return True
