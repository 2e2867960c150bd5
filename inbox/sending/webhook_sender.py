"""Sending webhook messages: sign, post, record the attempt (Standard Webhooks 1.0)."""

import threading
import time
from datetime import UTC, datetime
from uuid import UUID

import httpx
import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError
from standardwebhooks import Webhook

from agents.adapters.remote.allowed_addresses import AddressProblem, AddressRefused
from inbox import wakeups
from inbox.actions.webhooks.deliveries import claim_delivery, record_attempt
from inbox.models import Delivery
from inbox.platform import clock
from inbox.platform.clock import database_now
from inbox.platform.encryption import DecryptionFailed, decrypt
from inbox.platform.monitoring.metrics import WEBHOOK_ATTEMPTS
from inbox.platform.outgoing_hosts import webhook_hosts
from inbox.rules.webhooks.delivery_rules import MAX_RESPONSE_BYTES, AttemptOutcome, DeliveryProblem
from inbox.sending import outgoing_http

log = structlog.get_logger(__name__)

#: Messages of one task; then the worker is free for other tasks.
MAX_MESSAGES_PER_TASK = 20

#: Slow receivers occupy at most half of a worker.
_free_slots = threading.BoundedSemaphore(max(1, settings.CELERY_WORKER_CONCURRENCY // 2))
_never = threading.Event()


def deliver(endpoint_id: UUID, *, stopping: threading.Event = _never) -> None:
    """
    Send the due messages of an endpoint, one after the other.

    Safe to run concurrently: each message is claimed by one worker.
    """
    if not _free_slots.acquire(blocking=False):
        return  # the messages stay due, and the sweeper wakes a worker again
    try:
        for _ in range(MAX_MESSAGES_PER_TASK):
            delivery = None if stopping.is_set() else claim_delivery(endpoint_id=endpoint_id)
            if delivery is None:
                return
            _deliver(delivery)
    except (OperationalError, InterfaceError) as error:
        log.warning("database unavailable", webhook=str(endpoint_id), error=str(error)[:200])
        return
    finally:
        _free_slots.release()
    wakeups.wake_webhook_workers(endpoint_id)


def _deliver(delivery: Delivery) -> None:
    started_at = time.monotonic()
    status, problem, answer = _attempt(delivery)
    outcome = AttemptOutcome(
        status, problem, answer, round((time.monotonic() - started_at) * 1_000)
    )
    status_after = record_attempt(delivery=delivery, outcome=outcome)
    WEBHOOK_ATTEMPTS.add(problem.value if problem else "delivered")
    log.info(
        "webhook sent",
        webhook=str(delivery.endpoint_id),
        message=delivery.wire_id,
        status=status,
        problem=problem.value if problem else None,
        delivery=status_after.value if status_after else "taken by another worker",
    )


def _attempt(delivery: Delivery) -> tuple[int | None, DeliveryProblem | None, str]:
    """Send a message; return the HTTP status, the problem, and the beginning of the body."""
    endpoint, now = delivery.endpoint, database_now()
    try:
        url = decrypt(delivery.url) if delivery.url else endpoint.url
        secrets = [decrypt(secret) for secret in endpoint.encrypted_secrets(now)]
        headers = sign(delivery.wire_id, delivery.body, secrets, at=clock.now())
        answer = outgoing_http.post(
            url,
            delivery.body,
            headers,
            hosts=webhook_hosts(),
            most_bytes=MAX_RESPONSE_BYTES,
        )
    except Exception as error:  # every failure must be recorded, or the message is retried forever
        return None, _problem_of(error, delivery), ""
    return answer.status, None if answer.is_success else DeliveryProblem.STATUS, answer.body


_ADDRESS_PROBLEMS = {
    AddressProblem.CLEAR: DeliveryProblem.CLEAR,
    AddressProblem.NOT_LISTED: DeliveryProblem.NOT_LISTED,
}
_PROBLEMS: tuple[tuple[DeliveryProblem, tuple[type[Exception], ...]], ...] = (
    (DeliveryProblem.UNREADABLE, (DecryptionFailed,)),
    (DeliveryProblem.TIMEOUT, (TimeoutError, httpx.TimeoutException)),
    (DeliveryProblem.UNREACHABLE, (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError)),
)


def _problem_of(error: Exception, delivery: Delivery) -> DeliveryProblem:
    if isinstance(error, AddressRefused):
        return _ADDRESS_PROBLEMS.get(error.fault, DeliveryProblem.PRIVATE)
    for problem, kinds in _PROBLEMS:
        if isinstance(error, kinds):
            return problem
    log.error(
        "webhook failed",
        exc_info=error,
        webhook=str(delivery.endpoint_id),
        message=delivery.wire_id,
    )
    return DeliveryProblem.BROKEN


def sign(message_id: str, body: str, secrets: list[str], *, at: datetime) -> dict[str, str]:
    """Return the three headers of a message, with one signature for each secret."""
    signatures = [Webhook(secret).sign(message_id, at.astimezone(UTC), body) for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
