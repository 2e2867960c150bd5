"""Expansion of announcements into notifications, one for each channel, outside of every lock."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from inbox.models import Announcement, Channel, Interrupt, Notification
from inbox.models.statements import Select
from inbox.platform.clock import database_now
from inbox.queries.notifications.deputies import Deputies, load_deputies
from inbox.queries.notifications.people_concerned import people_concerned
from inbox.queries.notifications.recipients import (
    Subscriber,
    active_people,
    administrators_of,
    chats_of,
    is_chosen,
    is_urgent,
    is_waiting,
    may_decide,
    subscribers_of,
    team_of,
    with_addresses,
)
from inbox.queries.policies.policies import load_rulings
from inbox.queries.policies.quorum import current_quorum
from inbox.queries.runs.threads import HEAVY_OF_RUNS
from inbox.rules.notifications.away import recipient_for
from inbox.rules.notifications.events import (
    MANDATORY,
    OUTCOMES,
    PERSONAL,
    WAITING,
    AnnouncementKind,
    ChannelKind,
    DeliveryMode,
    DisplayedState,
    NotificationStatus,
    Reason,
    due_at,
)
from inbox.rules.notifications.schedule import (
    NO_SCHEDULE,
    PersonalTime,
    Schedule,
    personal_time,
    times_of,
)
from inbox.rules.people.access import Role
from inbox.rules.runs.states import InterruptStatus

_HEAVY = tuple(f"interrupt__run__{name}" for name in HEAVY_OF_RUNS)
#: Announcements that one transaction expands.
BATCH_SIZE = 200


@dataclass(frozen=True)
class _Recipient:
    """A channel that is told of a request; `away` is the person whose deputy is told."""

    channel: Channel
    schedule: Schedule
    mode: str
    minutes: int
    away: int | None = None
    is_active: bool = False  #: the person uses the inbox now


_NEW_ANNOUNCEMENTS = Select(
    lambda params: (
        Announcement.objects.filter(expanded_at=None)
        .order_by("pk")
        .values_list("pk", "kind", "interrupt__status", "interrupt__expires_at", "interrupt_id")[
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
    waiting = _load(
        pk
        for pk, kind, status, expires_at, _ in new
        if kind in WAITING and is_waiting(status, expires_at, now)
    )
    closed = _load(
        pk for pk, kind, status, *_ in new if kind in OUTCOMES and status != InterruptStatus.OPEN
    )
    personal = _load(pk for pk, kind, *_ in new if kind in PERSONAL)
    notifications = [
        *_about_waiting(waiting, now),
        *_for_chats(waiting),
        *_about_outcomes(closed),
        *_about_people(personal),
        *_notices([pk for pk, kind, *_ in new if kind in MANDATORY], now),
    ]
    Notification.objects.bulk_create(notifications, ignore_conflicts=True)
    _mark_reopened([row for _, kind, *_, row in new if kind == AnnouncementKind.OPENED])
    Announcement.objects.filter(pk__in=[pk for pk, *_ in new]).update(expanded_at=now)
    return len(new)


def _mark_reopened(interrupt_ids: Sequence[UUID | None]) -> None:
    """Let sent messages that show a decision be edited, if the request is open again."""
    sent = Notification.objects.filter(interrupt__in=interrupt_ids, message_ref__gt="")
    sent.exclude(displayed_state__in=[DisplayedState.FINAL, DisplayedState.OPEN]).update(
        displayed_state=DisplayedState.STALE
    )


def _load(ids: Iterable[int]) -> list[tuple[Announcement, Interrupt]]:
    rows = Announcement.objects.filter(pk__in=list(ids)).order_by("pk")
    rows = rows.select_related(
        "interrupt__team", "interrupt__agent", "interrupt__run__requester_key"
    )
    return [(row, row.interrupt) for row in rows.defer(*_HEAVY) if row.interrupt]


def _about_waiting(
    rows: Sequence[tuple[Announcement, Interrupt]], now: datetime
) -> Iterator[Notification]:
    """Yield the notifications of people who may decide the requests, or of their deputies."""
    teams = {interrupt.team_id for _, interrupt in rows}
    subscribers = subscribers_of(teams) if teams else {}
    if not subscribers:
        return
    load_rulings([interrupt for _, interrupt in rows])
    people = {item.user_id for items in subscribers.values() for item in items}
    deputies = load_deputies(people, teams, now)
    channels = _channels_of(deputies, now)
    active = active_people(people, now)
    for announcement, interrupt in rows:
        chosen = [
            subscriber
            for subscriber in subscribers.get(interrupt.team_id, ())
            if is_chosen(interrupt, announcement.kind, subscriber.subscription)
        ]
        recipients = _recipients(interrupt, chosen, deputies, channels, now) if chosen else []
        recipients = [
            replace(item, is_active=item.channel.user_id in active) for item in recipients
        ]
        yield from _notifications(announcement, interrupt, recipients, now)


def _recipients(
    interrupt: Interrupt,
    subscribers: Sequence[Subscriber],
    deputies: Deputies,
    channels: dict[int, list[Channel]],
    now: datetime,
) -> list[_Recipient]:
    """Return the channels of the subscribers who may decide, or those of their deputies."""
    quorum = current_quorum(interrupt, now)
    deciders = {
        int(person.id)
        for person in deputies.in_team(interrupt.team_id)
        if channels.get(int(person.id)) and may_decide(quorum, person)
    }
    recipients = []
    for subscriber in subscribers:
        if not may_decide(quorum, subscriber.person):
            continue
        row, user_id = subscriber.subscription, subscriber.user_id
        recipient = recipient_for(user_id, deputies.absences, deciders, now)
        if recipient == user_id:
            recipients.append(_Recipient(row.channel, subscriber.schedule, row.mode, row.minutes))
        elif recipient is not None:
            schedule = deputies.schedules.get(recipient, NO_SCHEDULE)
            recipients += [
                _Recipient(channel, schedule, row.mode, row.minutes, away=user_id)
                for channel in channels[recipient]
            ]
    return recipients


def _notifications(
    announcement: Announcement,
    interrupt: Interrupt,
    recipients: Sequence[_Recipient],
    now: datetime,
) -> Iterator[Notification]:
    """Yield one notification for each channel, at the times that people want."""
    urgent = is_urgent(interrupt)
    times = times_of(
        [_time_for(announcement, interrupt, item, is_urgent=urgent) for item in recipients]
    )
    earliest: dict[object, Notification] = {}
    for item, due in zip(recipients, times, strict=True):
        row = _notification(announcement, item.channel, due, now, away=item.away)
        other = earliest.setdefault(item.channel.pk, row)
        if row.away_id is None:
            # Deputies who are told anyway stay so if the person comes back.
            other.away_id = None
        other.due_at = min(other.due_at, row.due_at)
    yield from earliest.values()


def _time_for(
    announcement: Announcement, interrupt: Interrupt, recipient: _Recipient, *, is_urgent: bool
) -> PersonalTime:
    """Return when to tell a channel; an urgent request does not wait for anything."""
    mode = DeliveryMode.AT_ONCE if is_urgent else recipient.mode
    return personal_time(
        NO_SCHEDULE if is_urgent else recipient.schedule,
        earliest=due_at(
            announcement.kind,
            mode,
            recipient.minutes,
            announcement.at,
            is_active=recipient.is_active and not is_urgent,
        ),
        is_digest=announcement.kind == AnnouncementKind.OPENED and mode == DeliveryMode.DIGEST,
        expires_at=interrupt.expires_at,
    )


def _notification(
    announcement: Announcement,
    channel: Channel,
    due: datetime,
    now: datetime,
    *,
    away: int | None = None,
) -> Notification:
    """Return a notification; it is dropped if the channel is off, or it would be old later."""
    is_off = channel.disabled_at is not None
    return Notification(
        announcement=announcement,
        interrupt=announcement.interrupt,
        channel=channel,
        due_at=due,
        away_id=away,
        status=NotificationStatus.DROPPED if is_off else NotificationStatus.PENDING,
        why=Reason.DISABLED if is_off else "",
        settled_at=now if is_off else None,
    )


def _for_chats(rows: Sequence[tuple[Announcement, Interrupt]]) -> Iterator[Notification]:
    """Yield the notifications of the teams' chats, which are about all requests of a team."""
    teams = {interrupt.team_id for _, interrupt in rows}
    chats = chats_of(teams) if teams else {}
    load_rulings([interrupt for _, interrupt in rows if interrupt.team_id in chats])
    for announcement, interrupt in rows:
        for chat in chats.get(interrupt.team_id, ()):
            if is_chosen(interrupt, announcement.kind, chat):
                mode = DeliveryMode.AT_ONCE if is_urgent(interrupt) else chat.mode
                due = due_at(announcement.kind, mode, chat.minutes, announcement.at)
                yield Notification(
                    announcement=announcement,
                    interrupt=interrupt,
                    channel_id=chat.channel_id,
                    due_at=due,
                )


def _about_outcomes(rows: Sequence[tuple[Announcement, Interrupt]]) -> Iterator[Notification]:
    """Yield the notifications of the people whom closed requests concern."""
    teams = {interrupt.team_id for _, interrupt in rows}
    subscribers = subscribers_of(teams, roles=tuple(Role)) if teams else {}
    for announcement, interrupt in rows:
        chosen = [
            subscriber
            for subscriber in subscribers.get(interrupt.team_id, ())
            if is_chosen(interrupt, announcement.kind, subscriber.subscription)
        ]
        people = people_concerned(announcement, interrupt) if chosen else frozenset()
        for subscriber in chosen:
            if subscriber.user_id in people:
                yield Notification(
                    announcement=announcement,
                    interrupt=interrupt,
                    channel_id=subscriber.subscription.channel_id,
                    due_at=subscriber.schedule.end_of_quiet(announcement.at),
                )


def _about_people(rows: Sequence[tuple[Announcement, Interrupt]]) -> Iterator[Notification]:
    """Yield the notifications of the people to whom a request is assigned, or who are mentioned."""
    teams = {interrupt.team_id for _, interrupt in rows}
    subscribers = subscribers_of(teams, roles=tuple(Role)) if teams else {}
    for announcement, interrupt in rows:
        for subscriber in subscribers.get(interrupt.team_id, ()):
            if subscriber.user_id == announcement.person_id and is_chosen(
                interrupt, announcement.kind, subscriber.subscription
            ):
                yield Notification(
                    announcement=announcement,
                    interrupt=interrupt,
                    channel_id=subscriber.subscription.channel_id,
                    due_at=subscriber.schedule.end_of_quiet(announcement.at),
                )


def _notices(announcements: Sequence[int], now: datetime) -> Iterator[Notification]:
    """Yield the mandatory notices, for all administrators who have an address."""
    rows = list(
        Announcement.objects.filter(pk__in=announcements)
        .select_related("interrupt", "version", "channel", "agent")
        .order_by("pk")
    )
    admins = {team_id: administrators_of(team_id) for team_id in {team_of(row) for row in rows}}
    channels = _mail_channels(set().union(*admins.values()), now)
    for row in rows:
        for user_id in sorted(admins[team_of(row)]):
            yield _notification(row, channels[user_id], row.at, now)


def _channels_of(deputies: Deputies, now: datetime) -> dict[int, list[Channel]]:
    """
    Return the channels of deputies that are on: those with a subscription, or else their mails.

    Deputies who cannot be reached have none.
    """
    ids = {int(person.id) for person in deputies.members.values()}
    if not ids:
        return {}
    rows = Channel.objects.filter(
        user__in=ids, removed_at=None, disabled_at=None, subscription__isnull=False
    )
    channels: dict[int, list[Channel]] = {}
    for row in rows:
        if row.user_id is not None:
            channels.setdefault(row.user_id, []).append(row)
    mails = _mail_channels(with_addresses(ids - channels.keys()), now)
    return channels | {
        user_id: [channel] for user_id, channel in mails.items() if channel.disabled_at is None
    }


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
