"""Delivering: a worker takes a message, sends it outside of any transaction, says what came."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from inbox import wakeups
from inbox.actions.webhooks.endpoints import lock_endpoint, record
from inbox.actions.webhooks.outbox import message
from inbox.models import Delivery, DeliveryAttempt, WebhookEndpoint
from inbox.models.clock import database_now
from inbox.models.locks import lock_webhook
from inbox.queries.people.access import require
from inbox.queries.runs.overdue import old_deliveries
from inbox.rules import errors
from inbox.rules.people.access import WEBHOOK_SENDER, Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import (
    TEST_EVENT,
    AttemptOutcome,
    DeliveryStatus,
    FailurePlan,
    plan_after_failure,
)

#: Longer than any attempt takes.
LEASE = timedelta(seconds=60)
#: So many messages are on their way to one endpoint at once; one, while it fails.
MOST_AT_ONCE = 4
#: So many are deleted in one transaction.
AT_ONCE = 500


@dataclass(frozen=True)
class Taken:
    """A message that this worker sends, and what it is signed with."""

    delivery_id: int
    endpoint_id: UUID
    fence: int
    message_id: str
    body: str
    url: str
    sealed_secrets: tuple[str, ...] = field(repr=False)  #: the present one first


@transaction.atomic(durable=True)
def take_delivery(*, endpoint_id: UUID) -> Taken | None:
    """
    Take the next message that is due to an endpoint; None if there is none for this worker now.

    A message waits for those before it of its thread. A worker that is lost loses it after a
    minute: then it is sent once more, under the same id.
    """
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is None or endpoint.disabled_at is not None:
        return None
    now = database_now()
    waiting = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    at_once = 1 if endpoint.failing_since else MOST_AT_ONCE
    if waiting.filter(lease_until__gt=now).count() >= at_once:
        return None
    earlier = waiting.filter(thread=OuterRef("thread"), pk__lt=OuterRef("pk"), by_hand=False)
    due = waiting.filter(Q(lease_until=None) | Q(lease_until__lte=now), next_try_at__lte=now)
    row = due.filter(Q(by_hand=True) | ~Exists(earlier)).order_by("next_try_at", "pk").first()
    if row is None:
        return None
    row.fence += 1
    row.lease_until = now + LEASE
    row.save(update_fields=["fence", "lease_until"])
    secrets_now = [endpoint.secret]
    if endpoint.former_until is not None and endpoint.former_until > now:
        secrets_now.append(endpoint.former_secret)
    return Taken(
        delivery_id=row.pk,
        endpoint_id=endpoint.pk,
        fence=row.fence,
        message_id=f"msg_{row.message_id.hex}",
        body=row.body,
        url=endpoint.url,
        sealed_secrets=tuple(secrets_now),
    )


@transaction.atomic(durable=True)
def record_attempt(*, taken: Taken, outcome: AttemptOutcome) -> DeliveryStatus | None:
    """
    Record what came of an attempt, and what follows; None if another worker has the message.

    Who was slower than its lease has sent it for nothing: the receiver knows it by its id.
    """
    endpoint = lock_endpoint(taken.endpoint_id)
    row = Delivery.objects.filter(
        pk=taken.delivery_id, fence=taken.fence, status=DeliveryStatus.PENDING
    ).first()
    if endpoint is None or row is None:
        return None
    now = database_now()
    DeliveryAttempt.objects.create(
        delivery=row,
        at=now,
        status_code=outcome.status,
        problem=outcome.problem or "",
        answer=outcome.answer,
        milliseconds=outcome.milliseconds,
    )
    row.lease_until = None
    if outcome.is_delivered:
        row.status, row.delivered_at = DeliveryStatus.DELIVERED, now
        endpoint.failures, endpoint.failing_since = 0, None
    else:
        _plan_after_failure(endpoint, row, outcome, now)
    row.save(update_fields=["status", "delivered_at", "lease_until", "tries", "next_try_at"])
    endpoint.save(update_fields=["failures", "failing_since", "disabled_at", "disabled_reason"])
    return DeliveryStatus(row.status)


@transaction.atomic(durable=True)
def forget_old(*, endpoint_id: UUID) -> int:
    """
    Delete messages that arrived or were given up long enough ago; return how many.

    A bounded piece of it. What is still to be sent stays, however old it is. Safe to replay.
    """
    # Also of one that was removed: nobody reads its log any more.
    lock_webhook(endpoint_id)
    old = old_deliveries().filter(endpoint=endpoint_id)
    chosen = list(old.values_list("pk", flat=True)[:AT_ONCE])
    DeliveryAttempt.objects.filter(delivery__in=chosen).delete()
    return Delivery.objects.filter(pk__in=chosen).delete()[0]


def _plan_after_failure(
    endpoint: WebhookEndpoint, row: Delivery, outcome: AttemptOutcome, now: datetime
) -> None:
    row.tries += 1
    endpoint.failures += 1
    endpoint.failing_since = endpoint.failing_since or now
    follows: FailurePlan = plan_after_failure(
        outcome=outcome,
        tries=row.tries,
        failures=endpoint.failures,
        failing_since=endpoint.failing_since,
        now=now,
        chance=secrets.randbelow(1_000) / 1_000,
    )
    row.next_try_at = now + follows.wait
    if follows.give_up:
        row.status = DeliveryStatus.FAILED
    if follows.disable is not None and endpoint.disabled_at is None:
        endpoint.disabled_at, endpoint.disabled_reason = now, follows.disable
        record(endpoint, "webhook.disabled", WEBHOOK_SENDER, now, reason=follows.disable)


@transaction.atomic(durable=True)
def send_again(*, message_id: UUID, actor: Actor) -> Delivery:
    """
    Send a message once more, under the same id; what waits in its thread does not wait for it.

    Safe to replay: a message that is still to be sent is returned unchanged, but for its time.

    Raises:
        NotFound, Forbidden.
        WebhookDisabled: nothing is sent there.
    """
    found = Delivery.objects.filter(message_id=message_id).first()
    if found is None:
        raise errors.NotFound()
    endpoint = _own(found.endpoint_id, actor)
    row = Delivery.objects.filter(pk=found.pk).first()
    if row is None:
        raise errors.NotFound()  # the log has just forgotten it
    now = database_now()
    if row.status != DeliveryStatus.PENDING:
        row.by_hand = True
        row.status, row.tries, row.delivered_at = DeliveryStatus.PENDING, 0, None
        record(endpoint, "delivery.sent_again", actor, now, message=str(message_id))
    row.next_try_at = now
    row.save(update_fields=["by_hand", "status", "tries", "delivered_at", "next_try_at"])
    wakeups.wake_webhook_workers_on_commit(endpoint.pk)
    return row


@transaction.atomic(durable=True)
def replay(*, endpoint_id: UUID, actor: Actor) -> int:
    """
    Send all that was given up once more, in the order in which it happened; return how many.

    Raises:
        NotFound, Forbidden, WebhookDisabled.
    """
    endpoint = _own(endpoint_id, actor)
    now = database_now()
    failed = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.FAILED)
    count = failed.update(status=DeliveryStatus.PENDING, tries=0, next_try_at=now)
    if count:
        record(endpoint, "webhook.replayed", actor, now, count=count)
        wakeups.wake_webhook_workers_on_commit(endpoint.pk)
    return count


@transaction.atomic(durable=True)
def send_test(*, endpoint_id: UUID, actor: Actor) -> Delivery:
    """
    Queue a message that tells nothing; its attempts say what came of it.

    Raises:
        NotFound, Forbidden, WebhookDisabled.
    """
    endpoint = _own(endpoint_id, actor)
    now = database_now()
    row = Delivery.objects.create(
        endpoint=endpoint,
        type=TEST_EVENT,
        body=message(TEST_EVENT, {"webhook": str(endpoint.pk), "by": actor.label[:160]}, now),
        by_hand=True,
        next_try_at=now,
        created_at=now,
    )
    record(endpoint, "webhook.tested", actor, now)
    wakeups.wake_webhook_workers_on_commit(endpoint.pk)
    return row


def _own(endpoint_id: UUID, actor: Actor) -> WebhookEndpoint:
    """An endpoint that the actor may send to."""
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is None:
        raise errors.NotFound()
    require(actor, endpoint.team_id, Permission.ADMIN)
    if endpoint.disabled_at is not None:
        raise errors.WebhookDisabled(
            TranslatableMessage("This webhook is disabled. Enable it first.")
        )
    return endpoint
