"""The endpoints of webhooks: where they are, what they are told, and what signs it."""

import base64
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.idempotency import IdempotencyKey, existing_result
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Delivery, WebhookEndpoint
from inbox.models.clock import database_now
from inbox.models.locks import lock_webhook
from inbox.platform.encryption import encrypt
from inbox.queries.people.access import require
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import (
    MAX_ENDPOINTS,
    SECRET_OVERLAP,
    DeliveryStatus,
    DisabledReason,
    check_endpoint,
)


@transaction.atomic(durable=True)
def add_webhook(
    *,
    team_id: UUID,
    url: str,
    event_types: Sequence[str],
    actor: Actor,
    description: str = "",
    idempotency: IdempotencyKey | None = None,
) -> tuple[WebhookEndpoint, str]:
    """
    Have a URL told what happens in a team from now on; return it with its secret.

    The secret is shown this once, and kept encrypted. Safe to replay with `idempotency`: the
    endpoint that was made before is returned, as it is now, with "" for its secret.

    Raises:
        NotFound, Forbidden, IdempotencyConflict.
        InvalidValue: the URL or an event type is none, or the team has enough endpoints.
    """
    # Two at once would both find room for one.
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    wanted = _check(url, event_types, description)
    idempotency, now = idempotency or IdempotencyKey(), database_now()
    if earlier := existing_result(idempotency, actor=actor, now=now):
        return WebhookEndpoint.objects.get(pk=earlier), ""
    if WebhookEndpoint.objects.filter(team=team_id, removed_at=None).count() >= MAX_ENDPOINTS:
        text = TranslatableMessage(
            "A team can have at most {count} webhooks. Remove one first.", count=MAX_ENDPOINTS
        )
        raise errors.InvalidValue(text, problems={"team": [text]})
    secret = _new_secret()
    endpoint = WebhookEndpoint.objects.create(
        pk=idempotency.result_id,
        team_id=team_id,
        url=url,
        description=description,
        event_types=wanted,
        secret=encrypt(secret),
        created_at=now,
        changed_at=now,
    )
    record(endpoint, "webhook.added", actor, now, events=wanted)
    return endpoint, secret


@transaction.atomic(durable=True)
def change_webhook(
    *,
    endpoint_id: UUID,
    actor: Actor,
    url: str | None = None,
    event_types: Sequence[str] | None = None,
    description: str | None = None,
    enabled: bool | None = None,
    check_seen: Callable[[], None] = lambda: None,
) -> WebhookEndpoint:
    """
    Change what is given; None leaves it as it is.

    `check_seen` raises, under the lock, if the endpoint is not what the caller has seen.

    Enabled again, an endpoint gets all that it has missed, in order. Safe to replay: what is so
    already is not written down again.

    Raises:
        NotFound, Forbidden, InvalidValue.
    """
    endpoint, now = _own(endpoint_id, actor)
    check_seen()
    given: dict[str, Any] = {"url": url, "event_types": event_types, "description": description}
    changes = {
        name: value
        for name, value in given.items()
        if value is not None and value != getattr(endpoint, name)
    }
    wanted = {"event_types": endpoint.event_types, "description": endpoint.description, **changes}
    types = _check(changes.get("url"), wanted["event_types"], wanted["description"])
    if "event_types" in changes:
        changes["event_types"] = types
    if changes:
        for name, value in changes.items():
            setattr(endpoint, name, value)
        endpoint.changed_at = now
        endpoint.save(update_fields=[*changes, "changed_at"])
        record(endpoint, "webhook.changed", actor, now, changed=sorted(changes))
    if enabled is not None and enabled is (endpoint.disabled_at is not None):
        _enable(endpoint, actor, now) if enabled else _disable(endpoint, actor, now)
    return endpoint


@transaction.atomic(durable=True)
def rotate_secret(*, endpoint_id: UUID, actor: Actor) -> tuple[WebhookEndpoint, str]:
    """
    Give an endpoint a new secret, shown this once; the one before signs beside it for a day.

    Raises:
        NotFound, Forbidden.
    """
    endpoint, now = _own(endpoint_id, actor)
    secret = _new_secret()
    endpoint.former_secret, endpoint.former_until = endpoint.secret, now + SECRET_OVERLAP
    endpoint.secret = encrypt(secret)
    endpoint.save(update_fields=["secret", "former_secret", "former_until"])
    record(endpoint, "webhook.rotated", actor, now)
    return endpoint, secret


@transaction.atomic(durable=True)
def remove_webhook(
    *, endpoint_id: UUID, actor: Actor, check_seen: Callable[[], None] = lambda: None
) -> None:
    """
    Tell an endpoint nothing more, also nothing that it has missed, and forget its secrets.

    `check_seen` is that of `change_webhook`.

    Raises:
        NotFound, Forbidden.
    """
    endpoint, now = _own(endpoint_id, actor)
    check_seen()
    endpoint.removed_at = now
    endpoint.secret = endpoint.former_secret = ""
    endpoint.save(update_fields=["removed_at", "secret", "former_secret"])
    # So that the log forgets them in the end, too.
    waiting = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    waiting.update(status=DeliveryStatus.FAILED, next_try_at=now)
    record(endpoint, "webhook.removed", actor, now)


def lock_endpoint(endpoint_id: UUID) -> WebhookEndpoint | None:
    """Lock an endpoint that was not removed, for the rest of the transaction."""
    endpoint = lock_webhook(endpoint_id)
    return endpoint if endpoint and endpoint.removed_at is None else None


def record(
    endpoint: WebhookEndpoint, action: str, actor: Actor, now: datetime, **detail: Any
) -> None:
    """Write down what became of an endpoint; of its URL the host only, for some are secrets."""
    about = {"webhook": str(endpoint.pk), "host": urlsplit(endpoint.url).hostname}
    audit_trail.record(
        action=action, actor=actor, now=now, team_id=endpoint.team_id, **about, **detail
    )


def _own(endpoint_id: UUID, actor: Actor) -> tuple[WebhookEndpoint, datetime]:
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is None:
        raise errors.NotFound()
    require(actor, endpoint.team_id, Permission.ADMIN)
    return endpoint, database_now()


def _enable(endpoint: WebhookEndpoint, actor: Actor, now: datetime) -> None:
    endpoint.disabled_at, endpoint.disabled_reason = None, ""
    endpoint.failures, endpoint.failing_since = 0, None
    endpoint.save(update_fields=["disabled_at", "disabled_reason", "failures", "failing_since"])
    missed = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    missed.update(tries=0, next_try_at=now)
    record(endpoint, "webhook.enabled", actor, now)
    wakeups.wake_webhook_workers_on_commit(endpoint.pk)


def _disable(endpoint: WebhookEndpoint, actor: Actor, now: datetime) -> None:
    endpoint.disabled_at, endpoint.disabled_reason = now, DisabledReason.BY_HAND
    endpoint.save(update_fields=["disabled_at", "disabled_reason"])
    record(endpoint, "webhook.disabled", actor, now, reason=DisabledReason.BY_HAND)


def _new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def _check(url: str | None, event_types: Sequence[str], description: str) -> list[str]:
    return check_endpoint(
        url=url,
        event_types=event_types,
        description=description,
        may_be_clear=is_ours(url or ""),
    )


def is_ours(url: str) -> bool:
    """Whether a URL leads to one of the hosts of our own network that may be told things."""
    try:
        return urlsplit(url).hostname in settings.PRIVATE_WEBHOOK_HOSTS
    except ValueError:
        return False
