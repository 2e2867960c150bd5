"""Edits of sent chat messages after a request in them was closed, or opened again."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from inbox.actions.notifications.due_notifications import HEAVY, READ
from inbox.actions.notifications.messages import Message, SendResult, count_failure, lease
from inbox.models import Channel, Notification
from inbox.models.locks import lock_channel
from inbox.platform.clock import database_now
from inbox.queries.notifications.chat_messages import outdated_notifications
from inbox.queries.notifications.message_facts import items_of
from inbox.queries.policies.policies import load_rulings
from inbox.rules.notifications.events import (
    ChannelKind,
    DisplayedState,
    SendProblem,
)


@transaction.atomic(durable=True)
def claim_edit(*, channel_id: UUID) -> Message | None:
    """
    Claim the oldest message of a channel that is outdated; None if there is none to edit now.

    The message shows the state of all its requests at this time. If the worker is lost, the claim
    expires after LEASE, and the message is edited again.
    """
    channel = lock_channel(channel_id)
    now = database_now()
    if channel is None or channel.removed_at is not None or _waits(channel, now):
        return None
    first = outdated_notifications().filter(channel=channel).order_by("pk").first()
    if first is None:
        return None
    rows = _rows_of(channel.pk, first.message_ref)
    # A request that is opened again from now on changes this, so that the result is not recorded.
    rows.exclude(displayed_state=DisplayedState.FINAL).update(
        displayed_state=DisplayedState.EDITING
    )
    lease(channel, now)
    related = rows.select_related(*(f"announcement__interrupt__{name}" for name in READ))
    sent = list(related.defer(*HEAVY).order_by("pk"))
    load_rulings([row.announcement.interrupt for row in sent if row.announcement.interrupt])
    return Message(
        channel.pk,
        channel.fence,
        first.message_id or channel.pk,
        ChannelKind(channel.kind),
        channel.address,
        channel.language,
        items_of(channel, sent, now),
        message_ref=first.message_ref,
    )


@transaction.atomic(durable=True)
def record_edit(*, message: Message, result: SendResult) -> bool:
    """
    Record that a message was edited or why not; return False if another worker has claimed it.

    What the server cannot take now is tried again. What it refuses is given up, and says nothing
    about the channel: people delete messages.
    """
    channel = lock_channel(message.channel_id)
    if channel is None or channel.fence != message.fence:
        return False
    now = database_now()
    channel.lease_until = None
    if result.problem is SendProblem.TEMPORARY:
        count_failure(channel, result, now)
    elif result.problem is None:
        channel.failures, channel.failing_since = 0, None
    channel.save(update_fields=["lease_until", "failures", "failing_since", "next_try_at"])
    if result.problem is not SendProblem.TEMPORARY:
        _record_displayed(message, is_edited=result.problem is None)
    return True


def _waits(channel: Channel, now: datetime) -> bool:
    """Return whether the channel takes no edit now; the pause between messages does not count."""
    until = channel.next_try_at if channel.failures else None
    times = (channel.lease_until, until)
    return channel.disabled_at is not None or any(time and time > now for time in times)


def _rows_of(channel_id: UUID, message_ref: str) -> QuerySet[Notification]:
    return Notification.objects.filter(channel=channel_id, message_ref=message_ref)


def _record_displayed(message: Message, *, is_edited: bool) -> None:
    claimed = _rows_of(message.channel_id, message.message_ref).filter(
        displayed_state=DisplayedState.EDITING
    )
    if not is_edited:
        claimed.update(displayed_state=DisplayedState.FINAL)
        return
    closed = [item.interrupt_id for item in message.items if item.closing is not None]
    claimed.filter(interrupt__in=closed).update(displayed_state=DisplayedState.CLOSED)
    claimed.update(displayed_state=DisplayedState.OPEN)
