"""Due notifications of a channel: dropped, put off, or sent together as one message."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from inbox.models import Channel, Interrupt, Notification, Subscription
from inbox.models.moves import settle_notifications
from inbox.queries.notifications.deputies import decider_in, is_deputy_of
from inbox.queries.notifications.people_concerned import (
    reason_to_drop_outcome,
    reason_to_drop_personal,
)
from inbox.queries.notifications.recipients import (
    Attention,
    Subscriber,
    administrators_of,
    attention_to,
    is_urgent,
    is_waiting,
    may_decide,
    reason_to_drop,
    reason_to_drop_in_chat,
    schedule_of,
    subscribers_of,
    team_of,
)
from inbox.queries.policies.policies import load_rulings
from inbox.queries.policies.quorum import current_quorum
from inbox.queries.runs.threads import HEAVY_OF_RUNS
from inbox.rules.notifications.events import (
    MANDATORY,
    OUTCOMES,
    PERSONAL,
    WAITING,
    AnnouncementKind,
    NotificationStatus,
    Reason,
)
from inbox.rules.notifications.schedule import NO_SCHEDULE
from inbox.rules.people.access import Role
from inbox.rules.runs.states import InterruptStatus

#: Of an interrupt and its run, for the facts and for whoever may decide.
READ = ("team", "agent", "run__requester_user", "run__requester_key")
HEAVY = tuple(f"announcement__interrupt__run__{name}" for name in HEAVY_OF_RUNS)
#: Notifications of one message; the rest is in the next one.
MAX_NOTIFICATIONS = 500


def take_due_rows(channel: Channel, now: datetime) -> list[Notification]:
    """
    Return the notifications of the next message to a channel, whose lock the caller holds.

    What nobody needs to be told any more is dropped with the reason, and what comes due in the
    quiet hours of a person is put off.
    """
    _drop_closed(channel, now)
    return _drop(channel, _postpone(channel, _due_rows(channel, now), now), now)


def _due_rows(channel: Channel, now: datetime) -> list[Notification]:
    """Return what is due; a message that was tried before stays as it was, and so does a test."""
    due = Notification.objects.filter(
        channel=channel, status=NotificationStatus.PENDING, due_at__lte=now
    ).select_related(
        *(f"announcement__interrupt__{name}" for name in READ),
        *("announcement__version__team", "announcement__channel__team"),
        *("announcement__agent__team", "announcement__team", "away"),
    )
    rows = list(due.defer(*HEAVY).order_by("pk")[:MAX_NOTIFICATIONS])
    tried = [row for row in rows if row.message_id is not None]
    if tried:
        return [row for row in tried if row.message_id == tried[0].message_id]
    by_topic: dict[int, list[Notification]] = {}
    for row in rows:
        by_topic.setdefault(_topic(row), []).append(row)
    return by_topic[min(by_topic)] if rows else []


def _topic(row: Notification) -> int:
    """Return the order of what a message is about; a message is about one topic."""
    topics = ((AnnouncementKind.TEST,), MANDATORY, PERSONAL, WAITING, OUTCOMES)
    return next(place for place, kinds in enumerate(topics) if row.announcement.kind in kinds)


def _postpone(
    channel: Channel, rows: Sequence[Notification], now: datetime
) -> Sequence[Notification]:
    """
    Put off what came due in the quiet hours of a person, and return the rest.

    Whoever planned it knew the quiet hours, but a server that was away did not, and people change
    them. What would be too late afterwards is not put off, nor are tests, notices and a message
    that was tried before.
    """
    schedule = schedule_of(channel.user_id) if channel.user_id and rows else NO_SCHEDULE
    if not schedule.is_quiet(now):
        return rows
    end = schedule.end_of_quiet(now)
    load_rulings([row.announcement.interrupt for row in rows if row.announcement.interrupt])
    later = [row for row in rows if row.message_id is None and _can_wait(row, end)]
    Notification.objects.filter(pk__in=[row.pk for row in later]).update(due_at=end)
    return [row for row in rows if row not in later]


def _can_wait(row: Notification, end: datetime) -> bool:
    """Return whether a notification is still of use at the end of the quiet hours."""
    interrupt, kind = row.announcement.interrupt, row.announcement.kind
    if interrupt is None or kind not in WAITING:
        return kind in (*OUTCOMES, *PERSONAL)
    is_too_late = interrupt.expires_at is not None and interrupt.expires_at <= end
    return not (is_too_late or is_urgent(interrupt))


def _drop_closed(channel: Channel, now: datetime) -> None:
    """Drop all that is due about closed requests, so that a message has room for others."""
    closed = Notification.objects.filter(
        channel=channel,
        status=NotificationStatus.PENDING,
        due_at__lte=now,
        announcement__kind__in=WAITING,
    ).exclude(announcement__interrupt__status=InterruptStatus.OPEN)
    settle_notifications(list(closed), NotificationStatus.DROPPED, now, Reason.CLOSED)


def _drop(channel: Channel, rows: Sequence[Notification], now: datetime) -> list[Notification]:
    """Drop the notifications that are not needed any more, and return the others."""
    by_reason: dict[Reason | None, list[Notification]] = {}
    for row, why in zip(rows, _reasons_to_drop(channel, rows, now), strict=True):
        by_reason.setdefault(why, []).append(row)
    needed = by_reason.pop(None, [])
    for why, dropped in by_reason.items():
        settle_notifications(dropped, NotificationStatus.DROPPED, now, why)
    return needed


def _reasons_to_drop(
    channel: Channel, rows: Sequence[Notification], now: datetime
) -> list[Reason | None]:
    """Return why each notification is not needed any more, None if it is."""
    notices = [row.announcement for row in rows if row.announcement.kind in MANDATORY]
    teams = {team_of(notice) for notice in notices}
    administered = {team for team in teams if administrators_of(team, channel.user_id)}
    interrupts = [row.announcement.interrupt for row in rows if row.announcement.interrupt]
    about = _Reasons(channel, interrupts, now) if len(notices) < len(rows) else None

    def reason(row: Notification) -> Reason | None:
        announcement = row.announcement
        if announcement.kind in MANDATORY:
            return None if team_of(announcement) in administered else Reason.NOT_ADMIN
        if about is None or announcement.interrupt is None:
            return None  # a test
        return about.reason(row, announcement.interrupt)

    return [reason(row) for row in rows]


class _Reasons:
    """Why notifications of requests to one channel are not needed any more, read at once."""

    def __init__(self, channel: Channel, interrupts: Sequence[Interrupt], now: datetime) -> None:
        load_rulings(interrupts)
        self._channel, self._now = channel, now
        self._attention: Attention = attention_to(interrupts, channel.user_id, now)
        teams = {interrupt.team_id for interrupt in interrupts}
        self._by_team: dict[UUID, list[Subscriber]] = {}
        if teams and channel.user_id:
            self._by_team = subscribers_of(teams, channel, roles=tuple(Role))
        self._subscription = Subscription.objects.filter(channel=channel).first()

    def reason(self, row: Notification, interrupt: Interrupt) -> Reason | None:
        kind, now = row.announcement.kind, self._now
        if row.away_id is not None:
            return _reason_to_drop_for_deputy(self._channel, row.away_id, interrupt, now)
        if self._subscription is None:
            return Reason.UNSUBSCRIBED
        if self._channel.user_id is None:
            return reason_to_drop_in_chat(interrupt, kind, self._subscription, self._attention, now)
        subscriber = next(iter(self._by_team.get(interrupt.team_id, ())), None)
        if kind in OUTCOMES:
            of_member = subscriber.subscription if subscriber else None
            return reason_to_drop_outcome(interrupt, kind, of_member)
        if kind in PERSONAL:
            return reason_to_drop_personal(row.announcement, interrupt, subscriber, now)
        return reason_to_drop(interrupt, kind, subscriber, self._attention, now)


def _reason_to_drop_for_deputy(
    channel: Channel, away_id: int, interrupt: Interrupt, now: datetime
) -> Reason | None:
    """Return why a deputy need not be told any more; their own choices do not count here."""
    user_id = channel.user_id
    if not is_waiting(interrupt.status, interrupt.expires_at, now):
        return Reason.CLOSED
    if user_id is None or not is_deputy_of(user_id, away_id, now):
        return Reason.NO_DEPUTY
    person = decider_in(interrupt.team_id, user_id)
    may = person is not None and may_decide(current_quorum(interrupt, now), person)
    return None if may else Reason.NO_ACCESS
