"""Snoozes: requests that a person does not want to see until a time."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.decisions.decide import check_open
from inbox.models import Interrupt, Snooze
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_person
from inbox.rules.decisions.teamwork.snoozing import check_snooze
from inbox.rules.people.access import Actor, Permission


@transaction.atomic(durable=True)
def snooze_interrupt(*, interrupt_id: UUID, until: datetime, actor: Actor) -> Snooze:
    """
    Hide an open interrupt from the actor's lists until a time, or change that time.

    It concerns nobody else, so that the audit trail does not have it.

    Raises:
        NotFound, Forbidden.
        InvalidValue: the time is not in the future, or too far away.
        AlreadyDecided, InterruptExpired: the interrupt is closed.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.READ)
    check_open(Interrupt.objects.select_related("run").get(pk=interrupt_id))
    check_snooze(until, now)
    snooze, _ = Snooze.objects.update_or_create(
        interrupt_id=interrupt_id, user_id=user_id, defaults={"until": until}
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return snooze


@transaction.atomic(durable=True)
def end_snooze(*, interrupt_id: UUID, actor: Actor) -> None:
    """
    Show an interrupt in the actor's lists again. Safe to replay.

    Raises:
        NotFound, Forbidden.
    """
    thread, _ = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.READ)
    ended, _ = Snooze.objects.filter(interrupt=interrupt_id, user=user_id).delete()
    if ended:
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
