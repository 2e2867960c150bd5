"""Absences: people say until when they are away, and who is told instead."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from inbox.actions.people.accounts import record_change
from inbox.models import NotificationSchedule
from inbox.platform.clock import database_now
from inbox.queries.notifications.deputies import possible_deputies
from inbox.queries.notifications.recipients import person_of
from inbox.rules.notifications.away import check_absence
from inbox.rules.notifications.schedule import NO_SCHEDULE
from inbox.rules.people.access import Actor


@transaction.atomic(durable=True)
def set_away(*, until: datetime | None, deputy: int | None, actor: Actor) -> None:
    """
    Say until when the actor is away, None to be back; the deputy is told of requests instead.

    The deputy gets no rights: only colleagues who may decide anyway can be one. Safe to replay.

    Raises:
        Forbidden: the actor is no person.
        InvalidValue: with all `problems` by field.
    """
    user_id, now = person_of(actor), database_now()
    if until is not None:
        colleagues = {user.pk for user in possible_deputies(user_id)} if deputy else ()
        check_absence(until, deputy, colleagues=colleagues, now=now)
    else:
        deputy = None
    row, _ = NotificationSchedule.objects.get_or_create(
        user_id=user_id, defaults=asdict(NO_SCHEDULE)
    )
    if (row.away_until, row.deputy_id) == (until, deputy):
        return
    row.away_until, row.deputy_id = until, deputy
    row.save(update_fields=["away_until", "deputy"])
    text = until.isoformat() if until else ""
    record_change(user_id, "subscription.changed", actor, away_until=text, deputy=deputy)


@transaction.atomic(durable=True)
def decline_deputy(*, user_id: int, actor: Actor) -> None:
    """
    End the absence of a person whose deputy the actor is; they are told themselves again.

    Safe to replay.

    Raises:
        Forbidden: the actor is no person.
    """
    rows = NotificationSchedule.objects.filter(deputy=person_of(actor))
    # Compared here: the id of an address may be too large for the database.
    if user_id not in rows.values_list("user", flat=True):
        return
    if rows.filter(user=user_id).update(away_until=None, deputy=None):
        record_change(user_id, "subscription.changed", actor, away_until="", deputy=None)
