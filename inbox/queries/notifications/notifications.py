"""The notifications of a person, and what is due to be sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db.models import Exists, OuterRef, Q

from inbox.models import Announcement, Channel, Interrupt, Notification, Subscription
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import (
    confirmed_address,
    person_of,
    schedule_of,
)
from inbox.rules.notifications.events import ChannelKind, NotificationStatus, Reason
from inbox.rules.notifications.schedule import Schedule
from inbox.rules.people.access import Actor

if TYPE_CHECKING:
    from django.db.models import QuerySet

_MAX_CHANNELS = 500
MAX_LOG_ROWS = 20
MAX_RECIPIENTS = 50
#: Why people could not be told, other than refusals.
_COULD_NOT = (Reason.NO_ADDRESS, Reason.DISABLED, Reason.REMOVED)


@dataclass(frozen=True)
class LogRow:
    """A notification in the log."""

    kind: str
    title: str  #: of the request, "" for a test
    at: datetime
    status: str
    why: str
    label: str = ""  #: of the browser or chat


@dataclass(frozen=True)
class Preferences:
    """The notifications of a person, as they see them."""

    address: str  #: "" without a confirmed one
    subscription: Subscription | None
    schedule: Schedule
    is_disabled: bool  #: the server refused the address repeatedly
    answer: str  #: the mail server's last answer, "" after success
    log: list[LogRow]


def preferences_of(actor: Actor) -> Preferences:
    """
    Return the subscription of a person, and the last notifications.

    Raises:
        Forbidden: the actor is no person.
    """
    user_id = person_of(actor)
    channel = Channel.objects.filter(user=user_id, kind=ChannelKind.EMAIL).first()
    return Preferences(
        address=confirmed_address(user_id),
        subscription=Subscription.objects.filter(channel=channel).first() if channel else None,
        schedule=schedule_of(user_id),
        is_disabled=bool(channel and channel.disabled_at),
        answer=channel.answer if channel else "",
        log=log_of(channel) if channel else [],
    )


@dataclass(frozen=True)
class Recipient:
    """A person or chat that was told of a request, or is to be told."""

    name: str
    is_chat: bool
    is_push: bool  #: the message is to a browser
    kind: str
    status: str
    why: str
    at: datetime


def recipients_of(interrupt: Interrupt) -> list[Recipient]:
    """
    Return who was told of a request and when, and who could not be; the earliest first.

    Notifications that were not needed any more are left out.
    """
    is_off = Q(channel__disabled_at__isnull=False) | Q(channel__removed_at__isnull=False)
    rows = (
        Notification.objects.filter(interrupt=interrupt)
        .exclude(Q(status=NotificationStatus.DROPPED) & ~Q(why__in=_COULD_NOT))
        .exclude(Q(status=NotificationStatus.PENDING) & is_off)
        .select_related("announcement", "channel__user")
        .order_by("pk")
    )
    return [
        Recipient(
            name=row.channel.user.display_name if row.channel.user else row.channel.label,
            is_chat=row.channel.user is None,
            is_push=row.channel.kind == ChannelKind.PUSH,
            kind=row.announcement.kind,
            status=row.status,
            why=row.why,
            at=row.settled_at or row.due_at,
        )
        for row in rows[:MAX_RECIPIENTS]
    ]


def log_of(channel: Channel) -> list[LogRow]:
    """Return the last notifications to a channel, the latest first."""
    return _log(Notification.objects.filter(channel=channel))


def log_of_browsers(user_id: int) -> list[LogRow]:
    """Return the last push messages to the browsers of a person, also to removed ones."""
    browsers = Channel.objects.filter(user=user_id, kind=ChannelKind.PUSH)
    return _log(Notification.objects.filter(channel__in=browsers))


def _log(notifications: "QuerySet[Notification]") -> list[LogRow]:
    rows = notifications.select_related("announcement__interrupt", "channel").order_by("-pk")
    return [
        LogRow(
            row.announcement.kind,
            row.announcement.interrupt.title if row.announcement.interrupt else "",
            row.settled_at or row.due_at,
            row.status,
            row.why,
            row.channel.label,
        )
        for row in rows[:MAX_LOG_ROWS]
    ]


def kind_of(channel_id: UUID) -> ChannelKind | None:
    """Return the kind of a channel, also of a removed one; None if there is no such channel."""
    kind = Channel.objects.filter(pk=channel_id).values_list("kind", flat=True).first()
    return ChannelKind(kind) if kind else None


def has_new_announcements() -> bool:
    return Announcement.objects.filter(expanded_at=None).exists()


def channels_with_due_notifications() -> list[UUID]:
    """Return channels with notifications that are due and that no worker has claimed."""
    now = database_now()
    due = Notification.objects.filter(
        channel=OuterRef("pk"), status=NotificationStatus.PENDING, due_at__lte=now
    )
    ready = Channel.objects.filter(
        Q(lease_until=None) | Q(lease_until__lte=now),
        Q(next_try_at=None) | Q(next_try_at__lte=now),
        disabled_at=None,
        removed_at=None,
    )
    return list(ready.filter(Exists(due)).values_list("pk", flat=True)[:_MAX_CHANNELS])


def unsubscribe_token(channel_id: UUID) -> str:
    """Return the token of the link that ends the mails of a channel."""
    return _signer().sign(channel_id.hex)


def channel_of_token(token: str) -> UUID | None:
    """Return the channel that a token of `unsubscribe_token` names; None if it is not valid."""
    try:
        channel_id = UUID(_signer().unsign(token))
    except (BadSignature, ValueError):
        return None
    return channel_id if Channel.objects.filter(pk=channel_id).exists() else None


def _signer() -> Signer:
    return Signer(salt="signoff.unsubscribe")
