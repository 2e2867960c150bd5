"""Mails to a channel: claiming what is due to it, and recording the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F
from uuid6 import uuid7

from inbox.models import Channel, Decision, Interrupt, Notification, PolicyVersion
from inbox.models.locks import lock_channel
from inbox.models.moves import settle_notifications
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import (
    administrators_of,
    confirmed_address,
    reason_to_drop,
    subscribers_of,
)
from inbox.rules.notifications.events import (
    MANDATORY,
    MAX_REFUSALS,
    MAX_REFUSED_TIME,
    AnnouncementKind,
    NotificationStatus,
    Reason,
    SendProblem,
    next_mail_at,
    retry_delay,
)

#: Longer than sending a mail takes.
LEASE = timedelta(seconds=90)
#: Notifications of one mail; the rest is in the next one.
MAX_NOTIFICATIONS = 500
_MAX_ANSWER_CHARACTERS = 200


@dataclass(frozen=True)
class Item:
    """The facts about one request in a mail."""

    interrupt_id: UUID
    kind: str
    team: str
    agent: str
    tool: str  #: "" if the request is about no tool call
    requester: str  #: "" if unknown
    expires_at: datetime | None
    decided_by: str = ""  #: of a decision despite the policy
    override_reason: str = ""


@dataclass(frozen=True)
class Publication:
    """The facts about a published policy in a mail."""

    team: str  #: "" for the installation
    team_slug: str
    number: int
    publisher: str
    comment: str


@dataclass(frozen=True)
class Mail:
    """A mail that a worker has claimed; without items it is a test."""

    channel_id: UUID
    fence: int
    message_id: UUID
    address: str
    language: str
    items: Sequence[Item]
    publications: Sequence[Publication] = ()
    is_mandatory: bool = False  #: notices for administrators


@transaction.atomic(durable=True)
def claim_mail(*, channel_id: UUID) -> Mail | None:
    """
    Claim all that is due to a channel, as one mail; return None if there is nothing to send now.

    What nobody needs to be told any more is dropped with the reason. If the worker is lost, the
    claim expires after LEASE, and the mail is sent again under the same message id.
    """
    channel = lock_channel(channel_id)
    now = database_now()
    if channel is None or channel.disabled_at is not None or _waits(channel, now):
        return None
    rows = _drop(channel, _due_rows(channel, now), now)
    address = confirmed_address(channel.user_id)
    if rows and not address:
        settle_notifications(rows, NotificationStatus.DROPPED, now, Reason.NO_ADDRESS)
    if not rows or not address:
        return None
    message_id = rows[0].message_id or uuid7()
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(
        message_id=message_id, tries=F("tries") + 1
    )
    channel.fence += 1
    channel.lease_until = now + LEASE
    channel.save(update_fields=["fence", "lease_until"])
    return Mail(
        channel.pk,
        channel.fence,
        message_id,
        address,
        channel.language,
        _items(rows),
        [_publication(row.announcement.version) for row in rows if row.announcement.version],
        rows[0].announcement.kind in MANDATORY,
    )


@transaction.atomic(durable=True)
def record_mail(*, mail: Mail, problem: SendProblem | None, answer: str = "") -> bool:
    """
    Record that a mail was sent or why not; return False if another worker has claimed it.

    A mail that the server cannot take now is tried again until its requests are closed. An address
    is switched off only by permanent refusals: a mail server that is away says nothing about it.
    """
    channel = lock_channel(mail.channel_id)
    if channel is None or channel.fence != mail.fence:
        return False
    now = database_now()
    rows = list(
        Notification.objects.filter(
            channel=channel, message_id=mail.message_id, status=NotificationStatus.PENDING
        )
    )
    channel.lease_until, channel.answer = None, answer[:_MAX_ANSWER_CHARACTERS]
    if problem is None:
        settle_notifications(rows, NotificationStatus.SENT, now)
        channel.failures, channel.refusals, channel.refused_since = 0, 0, None
        channel.next_try_at = next_mail_at(_recent_mails(channel, now))
    elif problem is SendProblem.TEMPORARY:
        channel.failures += 1
        channel.next_try_at = now + retry_delay(channel.failures)
    else:
        is_refused = problem is SendProblem.REFUSED
        settle_notifications(
            rows, NotificationStatus.FAILED, now, Reason.REFUSED if is_refused else Reason.BROKEN
        )
        if is_refused:
            _count_refusal(channel, now)
    channel.save(
        update_fields=[
            *("lease_until", "answer", "failures", "refusals", "refused_since", "next_try_at"),
            "disabled_at",
        ]
    )
    return True


def _waits(channel: Channel, now: datetime) -> bool:
    return any(
        until is not None and until > now for until in (channel.lease_until, channel.next_try_at)
    )


def _due_rows(channel: Channel, now: datetime) -> list[Notification]:
    """Return what is due; a mail that was tried before stays as it was, and so does a test."""
    due = Notification.objects.filter(
        channel=channel, status=NotificationStatus.PENDING, due_at__lte=now
    ).select_related(
        *(f"announcement__interrupt__{name}" for name in ("team", "agent", "run__requester_user")),
        "announcement__version__team",
    )
    rows = list(due.order_by("pk")[:MAX_NOTIFICATIONS])
    tried = [row for row in rows if row.message_id is not None]
    if tried:
        return [row for row in tried if row.message_id == tried[0].message_id]
    tests = [row for row in rows if row.announcement.kind == AnnouncementKind.TEST]
    notices = [row for row in rows if row.announcement.kind in MANDATORY]
    return tests or notices or rows


def _drop(channel: Channel, rows: Sequence[Notification], now: datetime) -> list[Notification]:
    """Drop the notifications that are not needed any more, and return the others."""
    teams = {row.announcement.interrupt.team_id for row in rows if row.announcement.interrupt}
    by_team = subscribers_of(teams, channel.user_id) if teams else {}
    is_subscribed = hasattr(channel, "subscription")
    needed = []
    for row in rows:
        interrupt = row.announcement.interrupt
        why = None
        if row.announcement.kind in MANDATORY:
            about = interrupt or row.announcement.version
            team_id = about.team_id if about else None
            is_admin = channel.user_id in administrators_of(team_id)
            why = None if is_admin else Reason.NO_ACCESS
        elif interrupt is not None:
            subscriber = next(iter(by_team.get(interrupt.team_id, ())), None)
            why = (
                reason_to_drop(interrupt, row.announcement.kind, subscriber, now)
                if is_subscribed
                else Reason.UNSUBSCRIBED
            )
        if why is None:
            needed.append(row)
        else:
            settle_notifications([row], NotificationStatus.DROPPED, now, why)
    return needed


def _count_refusal(channel: Channel, now: datetime) -> None:
    channel.refusals += 1
    channel.refused_since = channel.refused_since or now
    if channel.refusals >= MAX_REFUSALS and now - channel.refused_since >= MAX_REFUSED_TIME:
        channel.disabled_at = now
        pending = Notification.objects.filter(channel=channel, status=NotificationStatus.PENDING)
        settle_notifications(list(pending), NotificationStatus.DROPPED, now, Reason.DISABLED)


def _recent_mails(channel: Channel, now: datetime) -> list[datetime]:
    sent = Notification.objects.filter(
        channel=channel, status=NotificationStatus.SENT, settled_at__gt=now - timedelta(hours=1)
    )
    pairs = sent.values_list("message_id", "settled_at").distinct()
    return [at for _, at in pairs if at is not None]


def _items(rows: Sequence[Notification]) -> list[Item]:
    """Return the facts of each request once, with the latest event."""
    items: dict[UUID, Item] = {}
    for row in rows:
        interrupt = row.announcement.interrupt
        if interrupt is not None:
            items[interrupt.pk] = _item(interrupt, row.announcement.kind)
    return list(items.values())


def _publication(version: PolicyVersion) -> Publication:
    return Publication(
        team=version.team.name if version.team else "",
        team_slug=version.team.slug if version.team else "",
        number=version.number,
        publisher=version.publisher_label,
        comment=version.comment,
    )


def _item(interrupt: Interrupt, kind: str) -> Item:
    requester = interrupt.run.requester_user
    decision = (
        Decision.objects.filter(interrupt=interrupt, withdrawn_at=None).first()
        if kind == AnnouncementKind.OVERRIDDEN
        else None
    )
    return Item(
        decided_by=decision.actor_label if decision else "",
        override_reason=decision.override_reason if decision else "",
        interrupt_id=interrupt.pk,
        kind=kind,
        team=interrupt.team.name,
        agent=interrupt.agent.slug,
        tool=interrupt.tool,
        requester=requester.display_name if requester else "",
        expires_at=interrupt.expires_at,
    )
