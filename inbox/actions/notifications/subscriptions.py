"""Subscriptions: people choose what they are notified of, and when."""

from collections.abc import Collection
from dataclasses import asdict
from uuid import UUID

from django.conf import settings
from django.db import transaction

from inbox.actions.notifications.messages import enable_channel
from inbox.actions.people.accounts import record_change
from inbox.models import (
    Announcement,
    Channel,
    Notification,
    NotificationSchedule,
    Subscription,
)
from inbox.models.locks import lock_channel
from inbox.platform.clock import database_now
from inbox.queries.notifications.recipients import (
    confirmed_address,
    person_of,
    schedule_of,
)
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.notifications.events import (
    CHOICES,
    AnnouncementKind,
    ChannelKind,
    NotificationStatus,
    check_subscription,
)
from inbox.rules.notifications.schedule import Schedule
from inbox.rules.people.access import SUBSCRIBER, Actor
from inbox.rules.text.messages import TranslatableMessage


@transaction.atomic(durable=True)
def subscribe(
    *,
    events: Collection[str],
    mode: str,
    minutes: int,
    language: str | None,
    actor: Actor,
    only: str = "",
) -> Subscription:
    """
    Send the actor mails about requests; enables an address that was switched off.

    The mails keep their language if it is None. `only` is the URL query string of a saved view:
    requests outside of it are not told of.

    Safe to replay: the same choice again writes no audit entry.

    Raises:
        Forbidden: the actor is no person.
        InvalidValue: a value is invalid, or the account has no confirmed address.
    """
    check_subscription(events=events, mode=mode, minutes=minutes)
    channel = _channel(actor, language)
    choice = [kind.value for kind in CHOICES if kind in events]
    values = {
        "events": choice,
        "mode": mode,
        "minutes": minutes,
        "filter": InterruptFilter.from_text(only).lasting_query(),
    }
    before = Subscription.objects.filter(channel=channel).first()
    if channel.disabled_at is not None:
        enable_channel(channel)
    if language is not None and channel.language != language:
        channel.language = language
        channel.save(update_fields=["language"])
    row, _ = Subscription.objects.update_or_create(channel=channel, defaults=values)
    if before is None or any(getattr(before, name) != value for name, value in values.items()):
        record_change(channel.user_id, "subscription.changed", actor, **values)
    return row


@transaction.atomic(durable=True)
def set_schedule(*, schedule: Schedule, actor: Actor) -> None:
    """
    Store the times at which the actor wants messages. Safe to replay.

    Raises:
        Forbidden: the actor is no person.
    """
    user_id = person_of(actor)
    if schedule_of(user_id) == schedule:
        return
    values = asdict(schedule)
    NotificationSchedule.objects.update_or_create(user_id=user_id, defaults=values)
    texts = {name: str(value) for name, value in values.items()}
    record_change(user_id, "subscription.changed", actor, **texts)


@transaction.atomic(durable=True)
def unsubscribe(*, actor: Actor) -> None:
    """
    End the actor's mails about requests. Safe to replay.

    Raises:
        Forbidden: the actor is no person.
    """
    channel = Channel.objects.filter(user=person_of(actor), kind=ChannelKind.EMAIL).first()
    if channel is not None:
        _end(channel.pk, actor)


@transaction.atomic(durable=True)
def unsubscribe_channel(*, channel_id: UUID) -> None:
    """End the mails of a channel, for the holder of the link in one of them. Safe to replay."""
    _end(channel_id, SUBSCRIBER)


@transaction.atomic(durable=True)
def send_test(*, language: str | None, actor: Actor) -> None:
    """
    Queue a test mail to the actor; the log shows the result.

    Raises:
        Forbidden: the actor is no person.
        InvalidValue: the account has no confirmed address.
    """
    channel = _channel(actor, language)
    if channel.disabled_at is not None:
        enable_channel(channel)  # a test shows whether the address works again
    queue_test(channel)


def queue_test(channel: Channel) -> None:
    """Queue a test message, unless one waits; the caller holds the channel's lock."""
    now = database_now()
    waiting = Notification.objects.filter(
        channel=channel,
        status=NotificationStatus.PENDING,
        announcement__kind=AnnouncementKind.TEST,
    )
    if not waiting.exists():
        test = Announcement.objects.create(kind=AnnouncementKind.TEST, at=now, expanded_at=now)
        Notification.objects.create(announcement=test, channel=channel, due_at=now)


def _channel(actor: Actor, language: str | None) -> Channel:
    """Return the actor's channel under its lock; create it if there is none."""
    user_id = person_of(actor)
    if not confirmed_address(user_id):
        text = TranslatableMessage("Confirm an e-mail address first.")
        raise errors.InvalidValue(text, problems={"address": [text]})
    row, _ = Channel.objects.get_or_create(
        user_id=user_id,
        kind=ChannelKind.EMAIL,
        defaults={"language": language or settings.LANGUAGE_CODE, "created_at": database_now()},
    )
    return lock_channel(row.pk) or row


def _end(channel_id: UUID, actor: Actor) -> None:
    channel = lock_channel(channel_id)
    if channel is not None and Subscription.objects.filter(channel=channel).delete()[0]:
        record_change(channel.user_id, "subscription.changed", actor, events=[])
