"""Announcements of events, stored in the transaction of the event."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.models import (
    Agent,
    Announcement,
    Channel,
    Decision,
    DecisionLink,
    Interrupt,
    Notification,
    PolicyVersion,
    Run,
    Team,
)
from inbox.models.statements import insert
from inbox.platform.clock import database_now
from inbox.queries.notifications.people_concerned import requesters_of
from inbox.queries.policies.undecidable import undecidable_requests
from inbox.queries.runs.overdue import unannounced_expiries
from inbox.rules.notifications.events import LOG_RETENTION, AnnouncementKind
from inbox.rules.people.access import Actor

#: Announcements that one transaction stores or deletes.
BATCH_SIZE = 200


def announce(kind: AnnouncementKind, interrupts: Sequence[Interrupt], now: datetime) -> None:
    """
    Store the announcements of an event; the caller holds the thread's lock.

    One insert, whoever has subscribed. The sweeper finds the rows within a second, so that the
    hot path sends no wake-up.
    """
    insert([Announcement(interrupt=row, kind=kind, at=now) for row in interrupts])


def announce_to(
    kind: AnnouncementKind, interrupt_id: UUID, people: Sequence[int], now: datetime
) -> None:
    """Store an announcement for each of these people, in the transaction of the event."""
    insert(
        [
            Announcement(interrupt_id=interrupt_id, kind=kind, person_id=user_id, at=now)
            for user_id in people
        ]
    )


def announce_publication(version: PolicyVersion, now: datetime) -> None:
    """Store the announcement of a published policy, in its transaction."""
    insert([Announcement(version=version, kind=AnnouncementKind.POLICY_PUBLISHED, at=now)])


def announce_outage(channel: Channel, now: datetime) -> None:
    """Store the announcement that a chat was switched off, in its transaction."""
    insert([Announcement(channel=channel, kind=AnnouncementKind.CHANNEL_DISABLED, at=now)])


def announce_pause(agent: Agent, now: datetime) -> None:
    """Store the announcement that an agent was paused, in its transaction."""
    insert([Announcement(agent=agent, kind=AnnouncementKind.AGENT_PAUSED, at=now)])


def announce_setting(
    kind: AnnouncementKind,
    team: Team,
    actor: Actor,
    now: datetime,
    *,
    name: str,
    before: Any,
    value: Any,
) -> None:
    """Store the announcement of a weaker setting, in the transaction of its entry."""
    setting = {"name": name, "before": before, "value": value, "by": actor.label}
    insert([Announcement(team=team, setting=json.dumps(setting), kind=kind, at=now)])


def announce_outcomes(
    run: Run, decisions: Sequence[Decision], overruled: Collection[UUID], now: datetime
) -> None:
    """
    Store the announcements of closed requests, for the people concerned.

    `overruled` has the ids of the interrupts that were closed despite approvals. Nothing is stored
    if a key started the run, or its requester decides.
    """
    requesters = requesters_of(run)
    rows = [
        Announcement(interrupt=decision.interrupt, kind=AnnouncementKind.DECIDED, at=now)
        for decision in decisions
        if requesters - {decision.user_id}
    ]
    rows += [
        Announcement(interrupt=decision.interrupt, kind=AnnouncementKind.OVERRULED, at=now)
        for decision in decisions
        if decision.interrupt_id in overruled
    ]
    if rows:
        insert(rows)


@transaction.atomic(durable=True)
def announce_expiry() -> int:
    """
    Store announcements of the requests that expire soon, and return how many.

    Safe to replay and to run concurrently: each request gets one. The thread's lock is not needed,
    as what was closed meanwhile is told to nobody.
    """
    now = database_now()
    ids = unannounced_expiries()[:BATCH_SIZE]
    Announcement.objects.bulk_create(
        [Announcement(interrupt_id=pk, kind=AnnouncementKind.EXPIRING, at=now) for pk in ids],
        ignore_conflicts=True,
    )
    return len(ids)


def announce_undecidable() -> int:
    """
    Store announcements of the requests that too few people may approve, and return how many.

    Safe to replay: each request gets one. For the sweeper, of which only one runs at a time. They
    are looked for outside of the transaction, which on SQLite would keep decisions waiting.
    """
    now = database_now()
    ids = undecidable_requests(now)[:BATCH_SIZE]
    rows = [Announcement(interrupt_id=pk, kind=AnnouncementKind.UNDECIDABLE, at=now) for pk in ids]
    if rows:
        with transaction.atomic(durable=True):
            Announcement.objects.bulk_create(rows)
    return len(ids)


@transaction.atomic(durable=True)
def delete_old_announcements() -> int:
    """
    Delete old announcements with their notifications, and links that ended long ago.

    Return the number of announcements. Safe to replay.
    """
    before = database_now() - LOG_RETENTION
    ended = DecisionLink.objects.filter(expires_at__lte=before).values_list("pk", flat=True)
    DecisionLink.objects.filter(pk__in=list(ended[:BATCH_SIZE])).delete()
    old = Announcement.objects.filter(at__lte=before)
    pks = list(old.order_by("at").values_list("pk", flat=True)[:BATCH_SIZE])
    Notification.objects.filter(announcement__in=pks).delete()
    return Announcement.objects.filter(pk__in=pks).delete()[0]
