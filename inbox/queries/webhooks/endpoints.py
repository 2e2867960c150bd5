"""The webhooks of a team and what was sent to them, for its administrators."""

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

#: As many as anybody looks at: an endpoint that was away for long has more.
COUNT_UP_TO = 1_000
#: Nobody has switched these off: somebody has to look.
_TROUBLE = (DisabledReason.FAILING, DisabledReason.GONE)
_KEPT = WebhookEndpoint.objects.filter(removed_at=None).select_related("team")


def webhooks_for(actor: Actor) -> Sequence[WebhookEndpoint]:
    """The webhooks of the teams that the actor administers, the oldest first."""
    return list(_of_teams(actor))


def webhooks_page(
    actor: Actor, *, limit: int, after: UUID | None = None
) -> Sequence[WebhookEndpoint]:
    """The webhooks that the actor administers, the oldest first, from behind `after` on."""
    rows = _of_teams(actor)
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def _of_teams(actor: Actor) -> "QuerySet[WebhookEndpoint]":
    return _KEPT.filter(team__in=teams_of(actor, Permission.ADMIN)).order_by("pk")


def webhook_for(actor: Actor, endpoint_id: UUID) -> WebhookEndpoint:
    """
    One webhook.

    Raises:
        NotFound, Forbidden.
    """
    found = _KEPT.filter(pk=endpoint_id).first()
    if found is None:
        raise NotFound()
    require(actor, found.team_id, Permission.ADMIN)
    return found


def webhook_of(actor: Actor, message_id: UUID) -> WebhookEndpoint:
    """
    The webhook that a message is for.

    Raises:
        NotFound, Forbidden.
    """
    found = Delivery.objects.filter(message_id=message_id).first()
    if found is None:
        raise NotFound()
    return webhook_for(actor, found.endpoint_id)


def troubled_webhooks_in(teams: Sequence[UUID]) -> Sequence[WebhookEndpoint]:
    """Those that were left alone because they failed, which somebody has to look at."""
    if not teams:
        return []
    return list(_KEPT.filter(team__in=teams, disabled_reason__in=_TROUBLE).order_by("pk"))


def deliveries_of(
    endpoint: WebhookEndpoint,
    *,
    limit: int,
    status: DeliveryStatus | None = None,
    after: UUID | None = None,
) -> Sequence[Delivery]:
    """
    What was told to a webhook, the latest first, with the attempts in order.

    `after` is the message id of the last one of the page before; an unknown one is the end.
    """
    rows = Delivery.objects.filter(endpoint=endpoint)
    if status is not None:
        rows = rows.filter(status=status)
    if after is not None:
        last = Delivery.objects.filter(endpoint=endpoint, message_id=after)
        rows = rows.filter(pk__lt=last.values("pk"))
    return list(rows.order_by("-pk").prefetch_related("attempts")[:limit])


def undelivered_counts(endpoint: WebhookEndpoint) -> dict[str, int]:
    """How many messages wait and how many were given up, each up to COUNT_UP_TO."""
    rows = Delivery.objects.filter(endpoint=endpoint)
    return {
        status.value: rows.filter(status=status)[:COUNT_UP_TO].count()
        for status in (DeliveryStatus.PENDING, DeliveryStatus.FAILED)
    }


def team_for_webhook(actor: Actor, slug: str = "") -> UUID:
    """The team that gets a webhook; raises what `team_to_change` raises."""
    several = TranslatableMessage("Choose a team for the webhook.")
    return team_to_change(actor, slug, if_several=several)
