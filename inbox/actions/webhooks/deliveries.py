"""Webhook deliveries: claiming a message, recording attempts, sending messages again."""

import secrets
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from inbox import wakeups
from inbox.actions.webhooks.endpoints import lock_endpoint, lock_permitted_endpoint, record
from inbox.actions.webhooks.outbox import message
from inbox.models import Delivery, DeliveryAttempt, WebhookEndpoint
from inbox.models.locks import lock_webhook
from inbox.platform.clock import database_now
from inbox.queries.runs.overdue import old_deliveries
from inbox.rules import errors
from inbox.rules.people.access import WEBHOOK_SENDER, Actor
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import (
    TEST_EVENT,
    AttemptOutcome,
    DeliveryStatus,
    plan_after_failure,
)

#: Longer than any attempt takes.
LEASE = timedelta(seconds=60)
#: Concurrent messages to one endpoint; one while the endpoint fails.
MAX_CONCURRENT = 4
#: Rows deleted in one transaction.
BATCH_SIZE = 500


@transaction.atomic(durable=True)
def claim_delivery(*, endpoint_id: UUID) -> Delivery | None:
    """
    Claim the next due message of an endpoint; return None if there is none to send now.

    A message waits for the earlier messages of its thread. If the worker is lost, the claim expires
    after LEASE, and the message is sent again under the same id.
    """
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is None or endpoint.disabled_at is not None:
        return None
    now = database_now()
    pending = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    limit = 1 if endpoint.failing_since else MAX_CONCURRENT
    if pending.filter(lease_until__gt=now).count() >= limit:
        return None
    predecessors = pending.filter(thread=OuterRef("thread"), pk__lt=OuterRef("pk"), is_manual=False)
    messages = pending.filter(Q(lease_until=None) | Q(lease_until__lte=now), next_try_at__lte=now)
    messages = messages.filter(Q(is_manual=True) | ~Exists(predecessors))
    row = messages.order_by("next_try_at", "pk").first()
    if row is None:
        return None
    row.fence += 1
    row.lease_until = now + LEASE
    row.save(update_fields=["fence", "lease_until"])
    row.endpoint = endpoint
    return row


@transaction.atomic(durable=True)
def record_attempt(*, delivery: Delivery, outcome: AttemptOutcome) -> DeliveryStatus | None:
    """
    Record an attempt and plan the next one; return None if another worker has claimed the message.

    The receiver recognises a message that was sent twice by its id.
    """
    endpoint = lock_endpoint(delivery.endpoint_id)
    row = Delivery.objects.filter(
        pk=delivery.pk, fence=delivery.fence, status=DeliveryStatus.PENDING
    ).first()
    if endpoint is None or row is None:
        return None
    now = database_now()
    DeliveryAttempt.objects.create(
        delivery=row,
        at=now,
        status_code=outcome.status,
        problem=outcome.problem or "",
        response=outcome.answer,
        milliseconds=outcome.milliseconds,
    )
    row.lease_until = None
    if outcome.is_delivered:
        row.status, row.delivered_at = DeliveryStatus.DELIVERED, now
        endpoint.failures, endpoint.failing_since = 0, None
    else:
        _plan_after_failure(endpoint, row, outcome, now)
    row.save(
        update_fields=["status", "delivered_at", "lease_until", "failed_attempts", "next_try_at"]
    )
    endpoint.save(update_fields=["failures", "failing_since", "disabled_at", "disabled_reason"])
    return DeliveryStatus(row.status)


@transaction.atomic(durable=True)
def delete_old_messages(*, endpoint_id: UUID) -> int:
    """
    Delete up to BATCH_SIZE old messages that were delivered or have failed; return how many.

    Pending messages stay, whatever their age. Safe to replay.
    """
    # A removed endpoint too: its log is not readable any more.
    lock_webhook(endpoint_id)
    old_messages = old_deliveries().filter(endpoint=endpoint_id)
    ids = list(old_messages.values_list("pk", flat=True)[:BATCH_SIZE])
    DeliveryAttempt.objects.filter(delivery__in=ids).delete()
    return Delivery.objects.filter(pk__in=ids).delete()[0]


def _plan_after_failure(
    endpoint: WebhookEndpoint, row: Delivery, outcome: AttemptOutcome, now: datetime
) -> None:
    row.failed_attempts += 1
    endpoint.failures += 1
    endpoint.failing_since = endpoint.failing_since or now
    plan = plan_after_failure(
        outcome=outcome,
        tries=row.failed_attempts,
        failures=endpoint.failures,
        failing_since=endpoint.failing_since,
        now=now,
        chance=secrets.randbelow(1_000) / 1_000,
    )
    row.next_try_at = now + plan.wait
    if plan.give_up:
        row.status = DeliveryStatus.FAILED
    if plan.disable is not None and endpoint.disabled_at is None:
        endpoint.disabled_at, endpoint.disabled_reason = now, plan.disable
        record(endpoint, "webhook.disabled", WEBHOOK_SENDER, now, reason=plan.disable)


@transaction.atomic(durable=True)
def resend_message(*, message_id: UUID, actor: Actor) -> Delivery:
    """
    Send a message again under the same id; later messages of its thread do not wait for it.

    Safe to replay: a pending message is only made due now.

    Raises:
        NotFound, Forbidden, WebhookDisabled.
    """
    delivery = Delivery.objects.filter(message_id=message_id).first()
    if delivery is None:
        raise errors.NotFound()
    endpoint, now = _lock_enabled_endpoint(delivery.endpoint_id, actor)
    row = Delivery.objects.filter(pk=delivery.pk).first()
    if row is None:
        raise errors.NotFound()  # deleted meanwhile
    if row.status != DeliveryStatus.PENDING:
        row.is_manual = True
        row.status, row.failed_attempts, row.delivered_at = DeliveryStatus.PENDING, 0, None
        record(endpoint, "delivery.sent_again", actor, now, message=str(message_id))
    row.next_try_at = now
    row.save(
        update_fields=["is_manual", "status", "failed_attempts", "delivered_at", "next_try_at"]
    )
    wakeups.wake_webhook_workers_on_commit(endpoint.pk)
    return row


@transaction.atomic(durable=True)
def resend_failed(*, endpoint_id: UUID, actor: Actor) -> int:
    """
    Send all failed messages again, in their original order; return how many.

    Raises:
        NotFound, Forbidden, WebhookDisabled.
    """
    endpoint, now = _lock_enabled_endpoint(endpoint_id, actor)
    failed = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.FAILED)
    count = failed.update(status=DeliveryStatus.PENDING, failed_attempts=0, next_try_at=now)
    if count:
        record(endpoint, "webhook.replayed", actor, now, count=count)
        wakeups.wake_webhook_workers_on_commit(endpoint.pk)
    return count


@transaction.atomic(durable=True)
def send_test(*, endpoint_id: UUID, actor: Actor) -> Delivery:
    """
    Queue a test message; its attempts show the result.

    Raises:
        NotFound, Forbidden, WebhookDisabled.
    """
    endpoint, now = _lock_enabled_endpoint(endpoint_id, actor)
    row = Delivery.objects.create(
        endpoint=endpoint,
        type=TEST_EVENT,
        body=message(TEST_EVENT, {"webhook": str(endpoint.pk), "by": actor.label[:160]}, now),
        is_manual=True,
        next_try_at=now,
        created_at=now,
    )
    record(endpoint, "webhook.tested", actor, now)
    wakeups.wake_webhook_workers_on_commit(endpoint.pk)
    return row


def _lock_enabled_endpoint(endpoint_id: UUID, actor: Actor) -> tuple[WebhookEndpoint, datetime]:
    """Lock and return an enabled endpoint that the actor administers."""
    endpoint, now = lock_permitted_endpoint(endpoint_id, actor)
    if endpoint.disabled_at is not None:
        raise errors.WebhookDisabled(
            TranslatableMessage("This webhook is disabled. Enable it first.")
        )
    return endpoint, now
