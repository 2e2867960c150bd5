"""Sending notifications: claim a message, send it, record the result."""

import threading
from collections.abc import Callable
from uuid import UUID

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.translation import get_language, override
from uuid6 import uuid7

from inbox.actions.notifications.edits import claim_edit, record_edit
from inbox.actions.notifications.messages import (
    Message,
    SendResult,
    claim_message,
    record_message,
)
from inbox.models import Channel
from inbox.platform.monitoring.metrics import NOTIFICATIONS
from inbox.queries.notifications.notifications import kind_of
from inbox.rules.notifications.events import CHAT_KINDS, WEBHOOK_CHATS, ChannelKind, SendProblem
from inbox.sending.chats import send_chat_message
from inbox.sending.mails import send_mail
from inbox.sending.pushes import send_push
from inbox.sending.slack_app import send_slack_message

log = structlog.get_logger(__name__)

_SENDERS: dict[ChannelKind, Callable[[Message], SendResult]] = {
    ChannelKind.EMAIL: send_mail,
    ChannelKind.PUSH: send_push,
    **dict.fromkeys(WEBHOOK_CHATS, send_chat_message),
    ChannelKind.SLACK_APP: send_slack_message,
}
#: Slow mail servers, slow chats and slow push services occupy at most a quarter of a worker each.
_MOST = max(1, settings.CELERY_WORKER_CONCURRENCY // 4)
_slots = {send: threading.BoundedSemaphore(_MOST) for send in _SENDERS.values()}
_never = threading.Event()
#: Edits of one channel in a row; chats limit their rate, and other channels wait.
_MAX_EDITS = 5


def send_due(channel_id: UUID, *, stopping: threading.Event = _never) -> None:
    """
    Send what is due to a channel as one message, and edit sent messages that are outdated.

    Safe to run concurrently: each message is claimed by one worker.
    """
    kind = kind_of(channel_id)
    if kind is None:
        return
    slots = _slots[_SENDERS[kind]]
    if not slots.acquire(blocking=False):
        return  # the notifications stay due, and the sweeper wakes a worker again
    try:
        message = None if stopping.is_set() else claim_message(channel_id=channel_id)
        if message is not None:
            _record(message, _send(message))
        if kind in CHAT_KINDS:
            _edit_messages(channel_id, stopping)
    except (OperationalError, InterfaceError) as error:
        log.warning("database unavailable", channel=str(channel_id), error=str(error)[:200])
    finally:
        slots.release()


def send_test_mail(address: str) -> SendResult:
    """Send a test mail now, in the active language, and return the answer of the server."""
    return _SENDERS[ChannelKind.EMAIL](_test_message(ChannelKind.EMAIL, address))


def send_test_to_chat(channel_id: UUID) -> SendResult | None:
    """Send a test message to a chat now; return None if there is none that is switched on."""
    channel = Channel.objects.filter(
        pk=channel_id, team__isnull=False, removed_at=None, disabled_at=None
    ).first()
    if channel is None:
        return None
    kind = ChannelKind(channel.kind)
    return _SENDERS[kind](_test_message(kind, channel.address, channel.pk))


def _test_message(kind: ChannelKind, address: str, channel_id: UUID | None = None) -> Message:
    language = get_language() or settings.LANGUAGE_CODE
    return Message(channel_id or uuid7(), 0, uuid7(), kind, address, language, [])


def _edit_messages(channel_id: UUID, stopping: threading.Event) -> None:
    for _ in range(_MAX_EDITS):
        message = None if stopping.is_set() else claim_edit(channel_id=channel_id)
        if message is None:
            return
        result = _send(message)
        is_current = record_edit(message=message, result=result)
        log.info(
            "message edited" if result.problem is None else "message not edited",
            channel=str(message.channel_id),
            kind=message.kind,
            message=str(message.message_id),
            problem=result.problem.value if result.problem else None,
            answer=result.answer,
            is_current=is_current,
        )


def _send(message: Message) -> SendResult:
    try:
        with override(message.language):
            return _SENDERS[message.kind](message)
    except Exception:  # every failure must be recorded, or the message is sent forever
        log.exception("notification failed", channel=str(message.channel_id))
        return SendResult(SendProblem.BROKEN)


def _record(message: Message, result: SendResult) -> None:
    is_current = record_message(message=message, result=result)
    NOTIFICATIONS.add(message.kind, result.problem.value if result.problem else "sent")
    log.info(
        "notification sent" if result.problem is None else "notification not sent",
        channel=str(message.channel_id),
        kind=message.kind,
        message=str(message.message_id),
        requests=len(message.items),
        problem=result.problem.value if result.problem else None,
        is_current=is_current,
    )
