"""Messages to a channel: claiming what is due to it, and recording the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from uuid6 import uuid7

from inbox.actions.audit import audit_trail
from inbox.actions.notifications.announcements import announce_outage
from inbox.actions.notifications.decision_links import end_links, issue_links
from inbox.actions.notifications.due_notifications import take_due_rows
from inbox.actions.people.accounts import record_change
from inbox.actions.webhooks import outbox
from inbox.models import Channel, Notification, Subscription
from inbox.models.locks import lock_channel
from inbox.models.moves import settle_notifications
from inbox.platform.clock import database_now
from inbox.queries.notifications.message_facts import (
    DisabledChat,
    Item,
    PausedAgent,
    Publication,
    WeakerSetting,
    disabled_chat_of,
    items_of,
    paused_agent_of,
    publication_of,
    weaker_setting_of,
)
from inbox.queries.notifications.recipients import confirmed_address
from inbox.rules.notifications.events import (
    CHAT_KINDS,
    MANDATORY,
    MAX_FAILING_TIME,
    MAX_FAILURES,
    MAX_REFUSALS,
    MAX_REFUSED_TIME,
    MAX_WAIT,
    WAITING,
    ChannelEnd,
    ChannelKind,
    DisplayedState,
    NotificationStatus,
    Reason,
    SendProblem,
    next_message_at,
    retry_delay,
)
from inbox.rules.people.access import NOTIFIER, Actor

#: Longer than sending takes.
LEASE = timedelta(seconds=90)
#: Requests that one mail lists; it counts the others.
MAX_LISTED = 20
_MAX_ANSWER_CHARACTERS = 200
_REASONS = {
    SendProblem.REFUSED: Reason.REFUSED,
    SendProblem.GONE: Reason.GONE,
    SendProblem.BROKEN: Reason.BROKEN,
}


@dataclass(frozen=True)
class Message:
    """A mail or chat message that a worker has claimed; without items it is a test."""

    channel_id: UUID
    fence: int
    message_id: UUID
    kind: ChannelKind
    address: str  #: of a mail; of other channels encrypted
    language: str
    items: Sequence[Item]
    publications: Sequence[Publication] = ()
    disabled_chats: Sequence[DisabledChat] = ()
    paused_agents: Sequence[PausedAgent] = ()
    weaker_settings: Sequence[WeakerSetting] = ()
    is_mandatory: bool = False  #: notices for administrators
    message_ref: str = ""  #: of the sent message that this one replaces


@dataclass(frozen=True)
class SendResult:
    """The result of a try; without a problem the server has accepted the message."""

    problem: SendProblem | None = None
    answer: str = ""  #: of the server, on one line
    wait: timedelta | None = None  #: the server asks to try again after it
    message_ref: str = ""  #: of the message, where the chat can edit it


@transaction.atomic(durable=True)
def claim_message(*, channel_id: UUID) -> Message | None:
    """
    Claim all that is due to a channel, as one message; return None if nothing is to be sent now.

    What nobody needs to be told any more is dropped with the reason. If the worker is lost, the
    claim expires after LEASE, and the message is sent again under the same id.
    """
    channel = lock_channel(channel_id)
    now = database_now()
    if channel is None or channel.disabled_at is not None or _waits(channel, now):
        return None
    rows = take_due_rows(channel, now)
    address = _address_of(channel)
    if rows and not address:
        settle_notifications(rows, NotificationStatus.DROPPED, now, Reason.NO_ADDRESS)
    if not rows or not address:
        return None
    message_id = rows[0].message_id or uuid7()
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(
        message_id=message_id, tries=F("tries") + 1
    )
    lease(channel, now)
    announcements = [row.announcement for row in rows]
    return Message(
        channel.pk,
        channel.fence,
        message_id,
        ChannelKind(channel.kind),
        address,
        channel.language,
        items_of(channel, rows, now, _tokens(channel, rows, message_id, now)),
        [publication_of(row.version) for row in announcements if row.version],
        [disabled_chat_of(row.channel) for row in announcements if row.channel],
        [paused_agent_of(row.agent, row.at) for row in announcements if row.agent],
        [weaker_setting_of(row.team, row) for row in announcements if row.team],
        announcements[0].kind in MANDATORY,
    )


@transaction.atomic(durable=True)
def record_message(*, message: Message, result: SendResult) -> bool:
    """
    Record that a message was sent or why not; return False if another worker has claimed it.

    A message that the server cannot take now is tried again until its requests are closed. An
    address is switched off only by permanent refusals, as a mail server that is away says nothing
    about it; a chat also after a day of failures.
    """
    channel = lock_channel(message.channel_id)
    if channel is None or channel.fence != message.fence:
        return False
    now = database_now()
    rows = list(
        Notification.objects.filter(
            channel=channel, message_id=message.message_id, status=NotificationStatus.PENDING
        )
    )
    problem = result.problem
    channel.lease_until, channel.answer = None, result.answer[:_MAX_ANSWER_CHARACTERS]
    if problem is None:
        settle_notifications(rows, NotificationStatus.SENT, now, message_ref=result.message_ref)
        if result.message_ref and message.items:
            # Those that were decided meanwhile are edited at once.
            about_requests = [row.pk for row in rows if row.interrupt_id]
            Notification.objects.filter(pk__in=about_requests).update(
                displayed_state=DisplayedState.OPEN
            )
        channel.failures, channel.refusals = 0, 0
        channel.refused_since = channel.failing_since = None
        channel.next_try_at = next_message_at(_recent_messages(channel, now), channel.kind)
    elif problem is SendProblem.TEMPORARY:
        count_failure(channel, result, now)
    else:
        settle_notifications(rows, NotificationStatus.FAILED, now, _REASONS[problem])
        if problem is SendProblem.REFUSED:
            channel.refusals += 1
            channel.refused_since = channel.refused_since or now
    if problem is not None:
        end_links(message.message_id, now)
    channel.save(
        update_fields=[
            *("lease_until", "answer", "failures", "refusals", "refused_since", "failing_since"),
            "next_try_at",
        ]
    )
    is_on = channel.disabled_at is None and channel.removed_at is None
    if is_on and problem is SendProblem.GONE:
        remove_channel(channel, Reason.GONE, now, NOTIFIER)
    elif is_on and (why := _reason_to_disable(channel, now)) is not None:
        disable_channel(channel, why, now, NOTIFIER)
    return True


def lease(channel: Channel, now: datetime) -> None:
    """Claim a channel for one worker; the caller holds its lock."""
    channel.fence += 1
    channel.lease_until = now + LEASE
    channel.save(update_fields=["fence", "lease_until"])


def count_failure(channel: Channel, result: SendResult, now: datetime) -> None:
    """Count a temporary failure, and put off the next try; the caller saves the channel."""
    channel.failures += 1
    channel.failing_since = channel.failing_since or now
    wait = max(retry_delay(channel.failures), min(result.wait or timedelta(), MAX_WAIT))
    channel.next_try_at = now + wait


def _reason_to_disable(channel: Channel, now: datetime) -> ChannelEnd | None:
    refused_since, failing_since = channel.refused_since, channel.failing_since
    if (
        refused_since is not None
        and channel.refusals >= MAX_REFUSALS
        and now - refused_since >= MAX_REFUSED_TIME
    ):
        return ChannelEnd.REFUSED
    if (
        channel.kind in CHAT_KINDS
        and failing_since is not None
        and channel.failures >= MAX_FAILURES
        and now - failing_since >= MAX_FAILING_TIME
    ):
        return ChannelEnd.FAILING
    return None


def disable_channel(channel: Channel, why: ChannelEnd, now: datetime, actor: Actor) -> None:
    """
    Switch a channel off, in the transaction that holds its lock.

    The administrators of a team are told of a chat that the system switches off.
    """
    channel.disabled_at, channel.disabled_reason = now, why
    channel.save(update_fields=["disabled_at", "disabled_reason"])
    drop_pending(channel, now, Reason.DISABLED)
    about = {"channel": str(channel.pk), "kind": channel.kind, "reason": why}
    if channel.user_id is not None:
        record_change(channel.user_id, "channel.disabled", actor, **about)
        return
    audit_trail.record("channel.disabled", actor, now, team_id=channel.team_id, **about)
    if why is not ChannelEnd.BY_HAND and channel.team is not None:
        announce_outage(channel, now)
        outbox.channel_disabled(channel=channel, now=now)


def enable_channel(channel: Channel) -> None:
    """
    Switch a channel on, and forget its failures; the caller holds its lock.

    It gets nothing about the time between, also if that was expanded as it was switched off.
    """
    if channel.disabled_at is not None:
        drop_pending(channel, database_now(), Reason.DISABLED)
    channel.disabled_at, channel.disabled_reason, channel.next_try_at = None, "", None
    channel.failures = channel.refusals = 0
    channel.refused_since = channel.failing_since = None
    channel.save(
        update_fields=[
            *("disabled_at", "disabled_reason", "next_try_at", "failures", "refusals"),
            *("refused_since", "failing_since"),
        ]
    )


def remove_channel(channel: Channel, why: Reason, now: datetime, actor: Actor) -> None:
    """Remove a person's channel and its address, in the transaction that holds its lock."""
    channel.removed_at, channel.address, channel.address_digest = now, "", ""
    channel.save(update_fields=["removed_at", "address", "address_digest"])
    Subscription.objects.filter(channel=channel).delete()
    drop_pending(channel, now, why)
    about = {"channel": str(channel.pk), "kind": channel.kind, "host": channel.host}
    record_change(channel.user_id, "channel.removed", actor, **about, label=channel.label)


def drop_pending(channel: Channel, now: datetime, why: Reason) -> None:
    """Drop what waits for a channel; the caller holds its lock."""
    pending = Notification.objects.filter(channel=channel, status=NotificationStatus.PENDING)
    settle_notifications(list(pending), NotificationStatus.DROPPED, now, why)


def _address_of(channel: Channel) -> str:
    if channel.kind == ChannelKind.EMAIL and channel.user_id is not None:
        return confirmed_address(channel.user_id)
    return channel.address


def _waits(channel: Channel, now: datetime) -> bool:
    return any(
        until is not None and until > now for until in (channel.lease_until, channel.next_try_at)
    )


def _recent_messages(channel: Channel, now: datetime) -> list[datetime]:
    sent = Notification.objects.filter(
        channel=channel, status=NotificationStatus.SENT, settled_at__gt=now - timedelta(hours=1)
    )
    pairs = sent.values_list("message_id", "settled_at").distinct()
    return [at for _, at in pairs if at is not None]


def _tokens(
    channel: Channel, rows: Sequence[Notification], message_id: UUID, now: datetime
) -> Mapping[UUID, str]:
    """Return the tokens of links to decide the first requests of a mail, by interrupt."""
    if channel.kind != ChannelKind.EMAIL or channel.user_id is None or not settings.PUBLIC_URL:
        return {}
    requests = {
        row.announcement.interrupt.pk: row.announcement.interrupt
        for row in rows
        if row.announcement.interrupt and row.announcement.kind in WAITING
    }
    listed = list(requests.values())[:MAX_LISTED]
    return issue_links(listed, user_id=channel.user_id, message_id=message_id, now=now)
