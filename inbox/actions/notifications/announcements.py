"""Announcements: stored with the event, and expanded to the subscribers afterwards."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from inbox.models import Announcement, Channel, Interrupt, Notification, PolicyVersion
from inbox.models.statements import Select, insert
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import (
    Subscriber,
    administrators_of,
    chats_of,
    is_waiting,
    may_decide,
    subscribers_of,
    team_of,
)
from inbox.queries.policies.policies import load_rulings
from inbox.queries.policies.quorum import current_quorum
from inbox.queries.runs.threads import HEAVY_OF_RUNS
from inbox.rules.notifications.events import (
    LOG_RETENTION,
    MANDATORY,
    AnnouncementKind,
    ChannelKind,
    DeliveryMode,
    DisplayedState,
    NotificationStatus,
    Reason,
    due_at,
)
from inbox.rules.notifications.schedule import personal_time, times_of

_HEAVY = tuple(f"interrupt__run__{name}" for name in HEAVY_OF_RUNS)
#: Announcements that one transaction expands or deletes.
BATCH_SIZE = 200


def announce(kind: AnnouncementKind, interrupts: Sequence[Interrupt], now: datetime) -> None:
    """
    Store the announcements of an event; the caller holds the thread's lock.

    One insert, whoever has subscribed. The sweeper finds the rows within a second, so that the
    hot path sends no wake-up.
    """
    insert([Announcement(interrupt=row, kind=kind, at=now) for row in interrupts])


def announce_publication(version: PolicyVersion, now: datetime) -> None:
    """Store the announcement of a published policy, in its transaction."""
    insert([Announcement(version=version, kind=AnnouncementKind.POLICY_PUBLISHED, at=now)])


def announce_outage(channel: Channel, now: datetime) -> None:
    """Store the announcement that a chat was switched off, in its transaction."""
    insert([Announcement(channel=channel, kind=AnnouncementKind.CHANNEL_DISABLED, at=now)])


_NEW_ANNOUNCEMENTS = Select(
    lambda params: (
        Announcement.objects.filter(expanded_at=None)
        .order_by("pk")
        .values_list("pk", "kind", "interrupt_id", "interrupt__status", "interrupt__expires_at")[
            :BATCH_SIZE
        ]
    )
)


@transaction.atomic(durable=True)
def expand_announcements() -> int:
    """
    Store the notifications of the oldest new announcements; return how many announcements.

    Safe to replay and to run concurrently: each channel gets an announcement once.
    """
    now = database_now()
    new = _NEW_ANNOUNCEMENTS.all()
    # Most requests of a busy inbox are closed by now: nothing else is read of them.
    waiting = [
        pk
        for pk, kind, _, status, expires_at in new
        if kind not in MANDATORY and is_waiting(status, expires_at, now)
    ]
    rows = Announcement.objects.filter(pk__in=waiting).order_by("pk")
    rows = rows.select_related("interrupt__team", "interrupt__run__requester_key")
    announcements = list(rows.defer(*_HEAVY))
    teams = {row.interrupt.team_id for row in announcements if row.interrupt}
    subscribers = subscribers_of(teams) if teams else {}
    load_rulings([row.interrupt for row in announcements if row.interrupt])
    quorums = {
        interrupt: current_quorum(interrupt, now)
        for row in announcements
        if (interrupt := row.interrupt) and subscribers.get(interrupt.team_id)
    }
    notifications = [
        notification
        for row in announcements
        if row.interrupt
        for notification in _for_people(
            row,
            row.interrupt,
            [
                subscriber
                for subscriber in subscribers.get(row.interrupt.team_id, ())
                if row.kind in subscriber.subscription.events
                and may_decide(quorums[row.interrupt], subscriber)
            ],
        )
    ]
    notifications += _for_chats(announcements, teams)
    notifications += _notices([pk for pk, kind, *_ in new if kind in MANDATORY], now)
    Notification.objects.bulk_create(notifications, ignore_conflicts=True)
    _mark_reopened([row for _, kind, row, *_ in new if kind == AnnouncementKind.OPENED])
    Announcement.objects.filter(pk__in=[pk for pk, *_ in new]).update(expanded_at=now)
    return len(new)


def _mark_reopened(interrupt_ids: Sequence[UUID | None]) -> None:
    """Let sent messages that show a decision be edited, if the request is open again."""
    sent = Notification.objects.filter(interrupt__in=interrupt_ids, message_ref__gt="")
    sent.exclude(displayed_state__in=[DisplayedState.FINAL, DisplayedState.OPEN]).update(
        displayed_state=DisplayedState.STALE
    )


def _for_people(
    announcement: Announcement, interrupt: Interrupt, subscribers: Sequence[Subscriber]
) -> list[Notification]:
    """Return the notifications of people, at the times that they want."""
    personal = [
        personal_time(
            subscriber.schedule,
            earliest=due_at(
                announcement.kind,
                subscriber.subscription.mode,
                subscriber.subscription.minutes,
                announcement.at,
            ),
            is_digest=announcement.kind == AnnouncementKind.OPENED
            and subscriber.subscription.mode == DeliveryMode.DIGEST,
            expires_at=interrupt.expires_at,
        )
        for subscriber in subscribers
    ]
    return [
        Notification(
            announcement=announcement,
            interrupt=interrupt,
            channel_id=subscriber.subscription.channel_id,
            due_at=due,
        )
        for subscriber, due in zip(subscribers, times_of(personal), strict=True)
    ]


def _for_chats(
    announcements: Sequence[Announcement], teams: Collection[UUID]
) -> list[Notification]:
    """Return the notifications of the teams' chats, which are about all requests of a team."""
    chats = chats_of(teams) if teams else {}
    return [
        Notification(
            announcement=row,
            interrupt=row.interrupt,
            channel_id=chat.channel_id,
            due_at=due_at(row.kind, chat.mode, chat.minutes, row.at),
        )
        for row in announcements
        if row.interrupt
        for chat in chats.get(row.interrupt.team_id, ())
        if row.kind in chat.events
    ]


def _notices(announcements: Sequence[int], now: datetime) -> list[Notification]:
    """
    Return the notifications of mandatory notices, for all administrators who have an address.

    Those to an address that was switched off are dropped: they would be old when it works again.
    """
    rows = list(
        Announcement.objects.filter(pk__in=announcements)
        .select_related("interrupt", "version", "channel")
        .order_by("pk")
    )
    admins = {team_id: administrators_of(team_id) for team_id in {team_of(row) for row in rows}}
    channels = _mail_channels(set().union(*admins.values()), now)
    notices = []
    for row in rows:
        for user_id in sorted(admins[team_of(row)]):
            channel = channels[user_id]
            is_off = channel.disabled_at is not None
            notices.append(
                Notification(
                    announcement=row,
                    interrupt=row.interrupt,
                    channel=channel,
                    due_at=row.at,
                    status=NotificationStatus.DROPPED if is_off else NotificationStatus.PENDING,
                    why=Reason.DISABLED if is_off else "",
                    settled_at=now if is_off else None,
                )
            )
    return notices


def _mail_channels(user_ids: Collection[int], now: datetime) -> dict[int, Channel]:
    """Return the channels for mails of people; those that are missing are created."""
    mails = Channel.objects.filter(user__in=user_ids, kind=ChannelKind.EMAIL)
    missing = set(user_ids) - set(mails.values_list("user", flat=True))
    Channel.objects.bulk_create(
        [
            Channel(
                user_id=user_id,
                kind=ChannelKind.EMAIL,
                language=settings.LANGUAGE_CODE,
                created_at=now,
            )
            for user_id in sorted(missing)
        ],
        ignore_conflicts=True,
    )
    return {row.user_id: row for row in mails.all() if row.user_id is not None}


@transaction.atomic(durable=True)
def delete_old_announcements() -> int:
    """Delete old announcements with their notifications; return how many. Safe to replay."""
    old = Announcement.objects.filter(at__lte=database_now() - LOG_RETENTION)
    pks = list(old.order_by("at").values_list("pk", flat=True)[:BATCH_SIZE])
    Notification.objects.filter(announcement__in=pks).delete()
    return Announcement.objects.filter(pk__in=pks).delete()[0]
