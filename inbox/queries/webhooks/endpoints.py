"""Webhooks of a team and their deliveries, for its administrators."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from inbox.models import Delivery, WebhookEndpoint
from inbox.queries.people.access import require, teams_of
from inbox.queries.people.teams import team_to_change
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import DeliveryStatus, DisabledReason

#: Deliveries are counted up to this number.
COUNT_UP_TO = 1_000
#: The system disabled these; an administrator has to act.
_TROUBLE = (DisabledReason.FAILING, DisabledReason.GONE)
_NOT_REMOVED = WebhookEndpoint.objects.filter(removed_at=None).select_related("team")


def webhooks_for(actor: Actor) -> Sequence[WebhookEndpoint]:
    """Return the webhooks of the teams that the actor administers, the oldest first."""
    return list(_of_teams(actor))


def webhooks_page(
    actor: Actor, *, limit: int, after: UUID | None = None
) -> Sequence[WebhookEndpoint]:
    """Return up to `limit` webhooks that the actor administers, the oldest first, after `after`."""
    rows = _of_teams(actor)
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def _of_teams(actor: Actor) -> "QuerySet[WebhookEndpoint]":
    return _NOT_REMOVED.filter(team__in=teams_of(actor, Permission.ADMIN)).order_by("pk")


def webhook_for(actor: Actor, endpoint_id: UUID) -> WebhookEndpoint:
    """
    Return a webhook.

    Raises:
        NotFound, Forbidden.
    """
    endpoint = _NOT_REMOVED.filter(pk=endpoint_id).first()
    if endpoint is None:
        raise NotFound()
    require(actor, endpoint.team_id, Permission.ADMIN)
    return endpoint


def webhook_of(actor: Actor, message_id: UUID) -> WebhookEndpoint:
    """
    Return the webhook of a message.

    Raises:
        NotFound, Forbidden.
    """
    delivery = Delivery.objects.filter(message_id=message_id).first()
    if delivery is None:
        raise NotFound()
    return webhook_for(actor, delivery.endpoint_id)


def troubled_webhooks_in(teams: Sequence[UUID]) -> Sequence[WebhookEndpoint]:
    """Return the webhooks of these teams that were disabled because deliveries failed."""
    if not teams:
        return []
    return list(_NOT_REMOVED.filter(team__in=teams, disabled_reason__in=_TROUBLE).order_by("pk"))


def deliveries_of(
    endpoint: WebhookEndpoint,
    *,
    limit: int,
    status: DeliveryStatus | None = None,
    after: UUID | None = None,
) -> Sequence[Delivery]:
    """
    Return up to `limit` deliveries of a webhook with their attempts, the latest first.

    `after` is the message id of the last delivery on the previous page; an unknown id returns
    nothing.
    """
    rows = Delivery.objects.filter(endpoint=endpoint)
    if status is not None:
        rows = rows.filter(status=status)
    if after is not None:
        last = Delivery.objects.filter(endpoint=endpoint, message_id=after)
        rows = rows.filter(pk__lt=last.values("pk"))
    return list(rows.order_by("-pk").prefetch_related("attempts")[:limit])


def undelivered_counts(endpoint: WebhookEndpoint) -> dict[str, int]:
    """Return the numbers of pending and of failed messages by status, each up to COUNT_UP_TO."""
    rows = Delivery.objects.filter(endpoint=endpoint)
    return {
        status.value: rows.filter(status=status)[:COUNT_UP_TO].count()
        for status in (DeliveryStatus.PENDING, DeliveryStatus.FAILED)
    }


def team_for_webhook(actor: Actor, slug: str = "") -> UUID:
    """Return the team for a new webhook; raises the errors of `team_to_change`."""
    several = TranslatableMessage("Choose a team for the webhook.")
    return team_to_change(actor, slug, if_several=several)
