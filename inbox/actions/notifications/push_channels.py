"""Browsers of people that get push messages: adding and removing them, and what they get."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction

from inbox.actions.notifications.messages import enable_channel, remove_channel
from inbox.actions.notifications.subscriptions import queue_test
from inbox.actions.people.accounts import record_change
from inbox.models import Channel, Subscription
from inbox.models.locks import lock_channel, lock_person
from inbox.platform.clock import database_now
from inbox.platform.encryption import encrypt, is_push_on
from inbox.platform.outgoing_hosts import webhook_hosts
from inbox.queries.notifications.recipients import person_of
from inbox.rules import errors
from inbox.rules.notifications.events import (
    CHOICES,
    DEFAULT_MINUTES,
    MAX_LABEL_CHARACTERS,
    ChannelKind,
    DeliveryMode,
    Reason,
    check_subscription,
)
from inbox.rules.notifications.push_subscriptions import (
    MAX_BROWSERS,
    PushSubscription,
    check_push_subscription,
    digest_of,
)
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible

if TYPE_CHECKING:
    from django.db.models import QuerySet


@transaction.atomic(durable=True)
def add_browser(
    *,
    subscription: PushSubscription,
    label: str,
    language: str | None,
    actor: Actor,
    former_endpoint: str = "",
) -> Channel:
    """
    Send the actor push messages in a browser; the subscription is stored encrypted.

    A known browser keeps its label and the language of its messages if `language` is None.
    A browser belongs to the person who subscribed last. It gets the events of the person's other
    browsers. `former_endpoint` is the one that the browser had before. Safe to replay: the same
    browser again updates its channel, and switches it on if it was switched off.

    Raises:
        Forbidden: the actor is no person.
        InvalidValue: with all `problems` by field; or push is off, or there are too many browsers.
    """
    user_id = person_of(actor)
    if not is_push_on():
        raise _refusal(TranslatableMessage("This installation sends no push messages."))
    endpoint = subscription.endpoint
    check_push_subscription(subscription, webhook_hosts())
    lock_person(user_id)
    now = database_now()
    if former_endpoint and former_endpoint != endpoint:
        _move(user_id, digest_of(former_endpoint), subscription.digest)
    channel, is_new = _lock_or_create(user_id, subscription, now, actor)
    channel.address = encrypt(asdict(subscription))
    channel.host = (urlsplit(endpoint).hostname or "")[:255]
    if is_new or language is not None:
        channel.label = escape_invisible(label)[:MAX_LABEL_CHARACTERS]
        channel.language = language or settings.LANGUAGE_CODE
    channel.save(update_fields=["address", "language", "host", "label"])
    if is_new:
        _copy_choice(channel)
        _record(channel, "channel.added", actor)
    elif channel.disabled_at is not None:
        enable_channel(channel)
    return channel


@transaction.atomic(durable=True)
def choose_pushes(
    *, events: Collection[str], mode: str, minutes: int, language: str | None, actor: Actor
) -> None:
    """
    Set what all browsers of the actor get, and when; None keeps the language of the messages.

    Safe to replay: the same choice again writes no audit entry.

    Raises:
        Forbidden: the actor is no person.
        InvalidValue: a value is invalid, or the actor has no browser.
    """
    check_subscription(events=events, mode=mode, minutes=minutes)
    if mode == DeliveryMode.DIGEST:
        text = TranslatableMessage("Only mails come once a day.")
        raise errors.InvalidValue(text, problems={"mode": [text]})
    user_id = person_of(actor)
    lock_person(user_id)
    rows = list(_browsers_of(user_id).select_related("subscription").order_by("pk"))
    if not rows:
        raise _refusal(TranslatableMessage("Switch push messages on in a browser first."))
    choice = [kind.value for kind in CHOICES if kind in events]
    chosen = [row.subscription for row in rows]
    before = [(row.events, row.mode, row.minutes) for row in chosen]
    Subscription.objects.filter(channel__in=rows).update(events=choice, mode=mode, minutes=minutes)
    if language is not None:
        _browsers_of(user_id).update(language=language)
    if any(values != (choice, mode, minutes) for values in before):
        values = {"events": choice, "mode": mode, "minutes": minutes}
        record_change(user_id, "subscription.changed", actor, kind=ChannelKind.PUSH, **values)


@transaction.atomic(durable=True)
def remove_browser(*, channel_id: UUID, actor: Actor) -> None:
    """
    End the push messages in a browser of the actor.

    Raises:
        Forbidden: the actor is no person.
        NotFound.
    """
    remove_channel(_lock(channel_id, actor), Reason.REMOVED, database_now(), actor)


@transaction.atomic(durable=True)
def send_browser_test(*, channel_id: UUID, actor: Actor) -> None:
    """
    Queue a test message to a browser of the actor; switches it on if it was switched off.

    Raises:
        Forbidden: the actor is no person.
        NotFound.
    """
    channel = _lock(channel_id, actor)
    if channel.disabled_at is not None:
        enable_channel(channel)  # a test shows whether the browser can be reached again
    queue_test(channel)


def _lock(channel_id: UUID, actor: Actor) -> Channel:
    user_id = person_of(actor)
    channel = lock_channel(channel_id)
    is_mine = channel is not None and channel.user_id == user_id
    if channel is None or not is_mine or channel.kind != ChannelKind.PUSH or channel.removed_at:
        raise errors.NotFound()
    return channel


def _lock_or_create(
    user_id: int, subscription: PushSubscription, now: datetime, actor: Actor
) -> tuple[Channel, bool]:
    """Return the person's channel of a browser; another person's channel of it is removed."""
    digest = subscription.digest
    while True:
        is_full = _browsers_of(user_id).count() >= MAX_BROWSERS
        if is_full and not _browsers_of(user_id).filter(address_digest=digest).exists():
            text = TranslatableMessage(
                "You can have at most {count} browsers. Remove one first.", count=MAX_BROWSERS
            )
            raise _refusal(text)
        row, is_new = Channel.objects.get_or_create(
            address_digest=digest,
            defaults={
                "user_id": user_id,
                "kind": ChannelKind.PUSH,
                "language": settings.LANGUAGE_CODE,
                "created_at": now,
            },
        )
        channel = lock_channel(row.pk)
        if channel is None or channel.address_digest != digest:
            continue  # removed in the meantime
        if channel.user_id == user_id:
            return channel, is_new
        remove_channel(channel, Reason.REMOVED, now, actor)


def _move(user_id: int, former: str, digest: str) -> None:
    """Let the channel of a browser follow to its new endpoint, unless that has one already."""
    row = _browsers_of(user_id).filter(address_digest=former).first()
    channel = lock_channel(row.pk) if row else None
    is_taken = Channel.objects.filter(address_digest=digest).exists()
    if channel is not None and channel.address_digest == former and not is_taken:
        channel.address_digest = digest
        channel.save(update_fields=["address_digest"])


def _copy_choice(channel: Channel) -> None:
    """Give a new channel what the person's other browsers get, or else all events."""
    others = Subscription.objects.filter(channel__in=_browsers_of(channel.user_id))
    other = others.order_by("channel").first()
    Subscription.objects.create(
        channel=channel,
        events=other.events if other else [kind.value for kind in CHOICES],
        mode=other.mode if other else DeliveryMode.IF_WAITING,
        minutes=other.minutes if other else DEFAULT_MINUTES,
    )


def _browsers_of(user_id: int | None) -> "QuerySet[Channel]":
    return Channel.objects.filter(user=user_id, kind=ChannelKind.PUSH, removed_at=None)


def _record(channel: Channel, action: str, actor: Actor) -> None:
    """Audit a change with the host only: whoever has the endpoint can send messages."""
    about = {"channel": str(channel.pk), "kind": channel.kind, "host": channel.host}
    record_change(channel.user_id, action, actor, **about, label=channel.label)


def _refusal(message: TranslatableMessage) -> errors.InvalidValue:
    return errors.InvalidValue(message, problems={"endpoint": [message]})
