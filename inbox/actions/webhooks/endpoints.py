"""Webhook endpoints: their URLs, event types and signing secrets."""

import base64
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.idempotency import IdempotencyKey, existing_result
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Agent, Delivery, WebhookEndpoint
from inbox.models.locks import lock_webhook
from inbox.platform.clock import database_now
from inbox.platform.encryption import encrypt
from inbox.platform.outgoing_hosts import webhook_hosts
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
    Add an endpoint that receives a team's events; return it with its secret.

    The secret is shown only once, and stored encrypted. Safe to replay with `idempotency`: the
    existing endpoint is returned, with "" for its secret.

    Raises:
        NotFound, Forbidden, IdempotencyConflict.
        InvalidValue: the URL or an event type is invalid, or the team has too many endpoints.
    """
    # Locked: concurrent requests must not exceed the limit.
    lock_permitted_team(team_id, actor, Permission.ADMIN, fresh_sign_in=True)
    event_types = _check(url, event_types, description)
    idempotency, now = idempotency or IdempotencyKey(), database_now()
    if earlier := existing_result(idempotency, actor=actor, now=now):
        return WebhookEndpoint.objects.get(pk=earlier), ""
    existing = WebhookEndpoint.objects.filter(team=team_id, agent=None, removed_at=None)
    if existing.count() >= MAX_ENDPOINTS:
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
        event_types=event_types,
        secret=encrypt(secret),
        owner_id=actor.person_id,
        created_at=now,
        changed_at=now,
    )
    record(endpoint, "webhook.added", actor, now, events=event_types)
    return endpoint, secret


def set_callbacks(*, agent: Agent, prefixes: Sequence[str], actor: Actor, now: datetime) -> None:
    """
    Store the endpoint by which programs of an agent are called back, with a secret that signs.

    The caller holds the agent's lock. Without prefixes an endpoint that exists gets no messages.
    """
    endpoint = WebhookEndpoint.objects.filter(agent=agent).first()
    if endpoint is None and prefixes:
        endpoint = WebhookEndpoint.objects.create(
            team_id=agent.team_id,
            agent=agent,
            url=prefixes[0],
            description=f"Callbacks of {agent.slug}",
            event_types=[],
            secret=encrypt(_new_secret()),
            created_at=now,
            changed_at=now,
        )
        record(endpoint, "webhook.added", actor, now, events=[], agent=agent.slug)
    elif endpoint is not None and prefixes:
        changes: dict[str, Any] = {"url": prefixes[0], "changed_at": now}
        if endpoint.removed_at is not None:
            changes |= {"removed_at": None, "secret": encrypt(_new_secret())}
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**changes)
        if endpoint.removed_at is not None:
            endpoint.url = prefixes[0]
            record(endpoint, "webhook.added", actor, now, events=[], agent=agent.slug)


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
    Change an endpoint; None leaves a value as it is.

    `check_seen` is called under the lock, and raises if the caller has seen another version. An
    endpoint that is enabled again receives the messages it has missed, in order. Safe to replay: a
    change without effect writes no audit entry.

    Raises:
        NotFound, Forbidden, InvalidValue.
    """
    endpoint, now = lock_permitted_endpoint(endpoint_id, actor, fresh_sign_in=url is not None)
    check_seen()
    if endpoint.agent_id and not (url is None and event_types is None):
        text = TranslatableMessage(
            "This webhook calls programs of an agent back. Change the callback_prefixes of the "
            "agent instead."
        )
        raise errors.InvalidValue(text, problems={"url": [text]})
    values: dict[str, Any] = {"url": url, "event_types": event_types, "description": description}
    changes = {
        name: value
        for name, value in values.items()
        if value is not None and value != getattr(endpoint, name)
    }
    types = (
        []
        if endpoint.agent_id
        else _check(
            changes.get("url"),
            changes.get("event_types", endpoint.event_types),
            changes.get("description", endpoint.description),
        )
    )
    if "event_types" in changes:
        changes["event_types"] = types
    if changes:
        for name, value in changes.items():
            setattr(endpoint, name, value)
        endpoint.changed_at = now
        endpoint.save(update_fields=[*changes, "changed_at"])
        record(endpoint, "webhook.changed", actor, now, changed=sorted(changes))
    if enabled is not None and enabled is (endpoint.disabled_at is not None):
        _enable(endpoint, actor, now) if enabled else disable(endpoint, actor, now)
    return endpoint


@transaction.atomic(durable=True)
def rotate_secret(*, endpoint_id: UUID, actor: Actor) -> tuple[WebhookEndpoint, str]:
    """
    Give an endpoint a new secret, shown only once; the old one also signs for SECRET_OVERLAP.

    Raises:
        NotFound, Forbidden.
    """
    endpoint, now = lock_permitted_endpoint(endpoint_id, actor, fresh_sign_in=True)
    secret = _new_secret()
    endpoint.former_secret, endpoint.former_until = endpoint.secret, now + SECRET_OVERLAP
    endpoint.secret = encrypt(secret)
    endpoint.owner_id = actor.person_id or endpoint.owner_id
    endpoint.save(update_fields=["secret", "former_secret", "former_until", "owner"])
    record(endpoint, "webhook.rotated", actor, now)
    return endpoint, secret


@transaction.atomic(durable=True)
def remove_webhook(
    *, endpoint_id: UUID, actor: Actor, check_seen: Callable[[], None] = lambda: None
) -> None:
    """
    Remove an endpoint: its pending messages are dropped, and its secrets are deleted.

    `check_seen` is as in `change_webhook`.

    Raises:
        NotFound, Forbidden.
    """
    endpoint, now = lock_permitted_endpoint(endpoint_id, actor)
    check_seen()
    endpoint.removed_at = now
    endpoint.secret = endpoint.former_secret = ""
    endpoint.save(update_fields=["removed_at", "secret", "former_secret"])
    # Failed messages are deleted after a time; pending ones would stay.
    pending = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    pending.update(status=DeliveryStatus.FAILED, next_try_at=now)
    record(endpoint, "webhook.removed", actor, now)


def lock_endpoint(endpoint_id: UUID) -> WebhookEndpoint | None:
    """Lock an endpoint; return None if it was removed."""
    endpoint = lock_webhook(endpoint_id)
    return endpoint if endpoint and endpoint.removed_at is None else None


def record(
    endpoint: WebhookEndpoint, action: str, actor: Actor, now: datetime, **detail: Any
) -> None:
    """Audit a change of an endpoint, with the host only, as URLs may contain secrets."""
    about = {"webhook": str(endpoint.pk), "host": urlsplit(endpoint.url).hostname}
    audit_trail.record(action, actor, now, team_id=endpoint.team_id, **about, **detail)


def lock_permitted_endpoint(
    endpoint_id: UUID, actor: Actor, *, fresh_sign_in: bool = False
) -> tuple[WebhookEndpoint, datetime]:
    """Lock an endpoint of a team that the actor administers; raises NotFound, Forbidden."""
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is None:
        raise errors.NotFound()
    # Locked: whoever is removed meanwhile must not receive a secret afterwards.
    lock_permitted_team(endpoint.team_id, actor, Permission.ADMIN, fresh_sign_in=fresh_sign_in)
    return endpoint, database_now()


def _enable(endpoint: WebhookEndpoint, actor: Actor, now: datetime) -> None:
    if endpoint.disabled_reason == DisabledReason.OWNER_LEFT:
        endpoint.owner_id = actor.person_id or endpoint.owner_id
    endpoint.disabled_at, endpoint.disabled_reason = None, ""
    endpoint.failures, endpoint.failing_since = 0, None
    endpoint.save(
        update_fields=["disabled_at", "disabled_reason", "failures", "failing_since", "owner"]
    )
    pending = Delivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    pending.update(failed_attempts=0, next_try_at=now)
    record(endpoint, "webhook.enabled", actor, now)
    wakeups.wake_webhook_workers_on_commit(endpoint.pk)


def disable(
    endpoint: WebhookEndpoint,
    actor: Actor,
    now: datetime,
    reason: DisabledReason = DisabledReason.BY_HAND,
) -> None:
    """Disable an endpoint that the caller has locked; its messages wait until it is enabled."""
    endpoint.disabled_at, endpoint.disabled_reason = now, reason
    endpoint.save(update_fields=["disabled_at", "disabled_reason"])
    record(endpoint, "webhook.disabled", actor, now, reason=reason)


def _new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def _check(url: str | None, event_types: Sequence[str], description: str) -> list[str]:
    return check_endpoint(
        url=url,
        event_types=event_types,
        description=description,
        hosts=webhook_hosts(),
    )
