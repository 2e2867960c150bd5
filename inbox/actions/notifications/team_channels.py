"""Chats of a team that get notifications: their URLs, events, and switching them on and off."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.notifications.messages import disable_channel, drop_pending, enable_channel
from inbox.actions.notifications.subscriptions import queue_test
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Channel, Subscription
from inbox.models.locks import lock_channel
from inbox.platform.clock import database_now
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt
from inbox.platform.outgoing_hosts import webhook_hosts
from inbox.queries.notifications.slack_apps import slack_app_of
from inbox.queries.people.access import require
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.notifications.events import (
    CHAT_KINDS,
    MAX_CHANNELS,
    MAX_LABEL_CHARACTERS,
    WAITING,
    ChannelEnd,
    ChannelKind,
    DeliveryMode,
    Reason,
    check_subscription,
)
from inbox.rules.notifications.slack_app import NO_APP, SLACK_HOST, SlackApp, slack_problems
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.outgoing_urls import url_problem


@dataclass(frozen=True)
class ChatSettings:
    """
    The settings of a chat; `url` is "" to keep the stored one.

    A Slack app has no URL, but settings of its own, of which those that are "" are kept.
    """

    label: str
    url: str
    events: Sequence[str]
    mode: str
    minutes: int
    slack: SlackApp = NO_APP
    only: str = ""  #: the URL query string of a saved view; "" for all requests


@transaction.atomic(durable=True)
def add_chat(
    *, team_id: UUID, kind: str, values: ChatSettings, language: str, actor: Actor
) -> Channel:
    """
    Add a chat, which gets messages about all requests of the team.

    The URL is stored encrypted and never shown again: whoever has it can write to the chat. So are
    the token and the signing secret of a Slack app.

    Raises:
        NotFound, Forbidden.
        InvalidValue: with all `problems` by field, or the team has too many chats.
    """
    # Locked: concurrent requests must not exceed the limit.
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    problems = _problems(values, kind, is_new=True)
    if kind not in CHAT_KINDS:
        problems["kind"] = [TranslatableMessage("Choose the kind of chat.")]
    if Channel.objects.filter(team=team_id, removed_at=None).count() >= MAX_CHANNELS:
        text = TranslatableMessage("A team can have at most {count} chats.", count=MAX_CHANNELS)
        problems["label"] = [text]
    errors.raise_for(problems)
    now = database_now()
    channel = Channel.objects.create(
        team_id=team_id,
        kind=ChannelKind(kind),
        label=values.label,
        address=_address(values, kind),
        host=_host(values.url, kind),
        language=language,
        created_at=now,
    )
    _subscribe(channel, values)
    _record(channel, "channel.added", actor, now, **_facts_of(values, kind))
    return channel


@transaction.atomic(durable=True)
def change_chat(
    *,
    channel_id: UUID,
    actor: Actor,
    label: str | None = None,
    url: str = "",
    events: Sequence[str] | None = None,
    mode: str | None = None,
    minutes: int | None = None,
    slack: SlackApp | None = None,
    only: str | None = None,
) -> Channel:
    """
    Change a chat; None, or "" for the URL and the settings of a Slack app, leaves a value as it is.

    What waits for the chat goes to the new URL, whose failures are counted anew. Safe to replay: a
    change without effect writes no audit entry.

    Raises:
        NotFound, Forbidden.
        InvalidValue: with all `problems` by field.
    """
    channel, now = _lock(channel_id, actor)
    row = channel.subscription
    before = {
        "label": channel.label,
        "events": sorted(row.events),
        "mode": row.mode,
        "minutes": row.minutes,
        "only": row.filter,
    }
    values = ChatSettings(
        label=channel.label if label is None else label,
        url=url,
        events=row.events if events is None else sorted(set(events)),
        mode=row.mode if mode is None else mode,
        minutes=row.minutes if minutes is None else minutes,
        slack=_merged(channel, slack),
        only=row.filter if only is None else InterruptFilter.from_text(only).lasting_query(),
    )
    kind = channel.kind
    errors.raise_for(_problems(values, kind, is_new=False))
    changed = [name for name, value in before.items() if getattr(values, name) != value]
    if changed_address := _changed_address(channel, values):
        changed += changed_address
        channel.address, channel.answer = _address(values, kind), ""
        channel.host = _host(values.url, kind)
        channel.next_try_at = channel.refused_since = channel.failing_since = None
        channel.failures = channel.refusals = 0
    if changed:
        channel.label = values.label
        channel.save()
        _subscribe(channel, values)
        facts = _facts_of(values, kind)
        _record(channel, "channel.changed", actor, now, changed=changed, **facts)
    return channel


@transaction.atomic(durable=True)
def switch_chat(*, channel_id: UUID, is_on: bool, actor: Actor) -> Channel:
    """
    Switch a chat on or off; it gets no messages about events of the time between.

    Safe to replay: a call without effect writes no audit entry.

    Raises:
        NotFound, Forbidden.
    """
    channel, now = _lock(channel_id, actor)
    if is_on is (channel.disabled_at is None):
        return channel
    if not is_on:
        disable_channel(channel, ChannelEnd.BY_HAND, now, actor)
        return channel
    enable_channel(channel)
    _record(channel, "channel.enabled", actor, now)
    return channel


@transaction.atomic(durable=True)
def remove_chat(*, channel_id: UUID, actor: Actor) -> None:
    """
    Remove a chat: its URL is deleted, and nothing more is sent to it.

    Raises:
        NotFound, Forbidden.
    """
    channel, now = _lock(channel_id, actor)
    channel.removed_at, channel.address, channel.answer = now, "", ""
    channel.save(update_fields=["removed_at", "address", "answer"])
    Subscription.objects.filter(channel=channel).delete()
    drop_pending(channel, now, Reason.REMOVED)
    _record(channel, "channel.removed", actor, now)


@transaction.atomic(durable=True)
def test_chat(*, channel_id: UUID, actor: Actor) -> None:
    """
    Queue a test message; the log of the channel shows the result.

    Raises:
        NotFound, Forbidden.
        InvalidValue: the chat is switched off.
    """
    channel, _ = _lock(channel_id, actor)
    if channel.disabled_at is not None:
        text = TranslatableMessage("This chat is switched off. Switch it on first.")
        raise errors.InvalidValue(text)
    queue_test(channel)


def _lock(channel_id: UUID, actor: Actor) -> tuple[Channel, datetime]:
    """Lock a chat of a team that the actor administers; raises NotFound, Forbidden."""
    channel = lock_channel(channel_id)
    if channel is None or channel.team_id is None or channel.removed_at is not None:
        raise errors.NotFound()
    require(actor, channel.team_id, Permission.ADMIN)
    return channel, database_now()


def _merged(channel: Channel, slack: SlackApp | None) -> SlackApp:
    """Return the stored settings of a Slack app with those that are not ""."""
    if channel.kind != ChannelKind.SLACK_APP:
        return NO_APP
    new = {name: text for name, text in asdict(slack or NO_APP).items() if text}
    return replace(slack_app_of(channel), **new)


def _changed_address(channel: Channel, values: ChatSettings) -> list[str]:
    """Return the names of the changed parts of the address."""
    if channel.kind == ChannelKind.SLACK_APP:
        before, after = asdict(slack_app_of(channel)), asdict(values.slack)
        return [name for name, text in after.items() if text != before[name]]
    return ["url"] if values.url and values.url != _url_of(channel) else []


def _address(values: ChatSettings, kind: str) -> str:
    """Return the encrypted address of a chat."""
    return encrypt(asdict(values.slack) if kind == ChannelKind.SLACK_APP else values.url)


def _problems(
    values: ChatSettings, kind: str, *, is_new: bool
) -> dict[str, list[TranslatableMessage]]:
    problems: dict[str, list[TranslatableMessage]] = {}
    if not 1 <= len(values.label) <= MAX_LABEL_CHARACTERS:
        text = TranslatableMessage(
            "Enter a name of up to {count} characters.", count=MAX_LABEL_CHARACTERS
        )
        problems["label"] = [text]
    if kind == ChannelKind.SLACK_APP:
        problems |= slack_problems(values.slack)
    elif is_new or values.url:
        problem = url_problem(values.url, webhook_hosts())
        if problem is not None:
            problems["url"] = [problem]
    try:
        check_subscription(
            events=values.events, mode=values.mode, minutes=values.minutes, choices=WAITING
        )
    except errors.InvalidValue as refusal:
        problems |= refusal.detail["problems"]
    if values.mode == DeliveryMode.DIGEST:
        problems["mode"] = [TranslatableMessage("Only mails come once a day.")]
    return problems


def _facts_of(values: ChatSettings, kind: str) -> dict[str, Any]:
    """Return what an audit entry contains of the settings: all but the URL and secrets."""
    app = {"workspace": values.slack.workspace, "slack_channel": values.slack.channel}
    return {
        **(app if kind == ChannelKind.SLACK_APP else {}),
        "label": values.label,
        "events": list(values.events),
        "mode": values.mode,
        "minutes": values.minutes,
        "only": values.only,
    }


def _subscribe(channel: Channel, values: ChatSettings) -> None:
    Subscription.objects.update_or_create(
        channel=channel,
        defaults={
            "events": sorted(set(values.events)),
            "mode": values.mode,
            "minutes": values.minutes,
            "filter": InterruptFilter.from_text(values.only).lasting_query(),
        },
    )


def _url_of(channel: Channel) -> str:
    """Return the stored URL, "" if the key has been lost."""
    try:
        return str(decrypt(channel.address))
    except DecryptionFailed:
        return ""


def _host(url: str, kind: str) -> str:
    return SLACK_HOST if kind == ChannelKind.SLACK_APP else (urlsplit(url).hostname or "")[:255]


def _record(channel: Channel, action: str, actor: Actor, now: datetime, **detail: object) -> None:
    """Audit a change of a chat with the host only: the URL is a secret."""
    about = {"channel": str(channel.pk), "kind": channel.kind, "host": channel.host}
    audit_trail.record(action, actor, now, team_id=channel.team_id, **about, **detail)
