"""The pages of webhooks for team admins: list, details, deliveries and secrets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.webhooks import deliveries
from inbox.actions.webhooks.endpoints import change_webhook, remove_webhook, rotate_secret
from inbox.queries.people.access import teams_of
from inbox.queries.people.members import teams_with_access
from inbox.queries.webhooks import endpoints
from inbox.rules.errors import Forbidden, WebhookDisabled
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.text.ids import read_id
from inbox.rules.text.safe_text import escape_invisible
from inbox.rules.webhooks.delivery_rules import (
    DeliveryStatus,
    DisabledReason,
    EventType,
    problem_message,
)
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.navigation.settings_nav import settings_nav

if TYPE_CHECKING:
    from inbox.models import Delivery, DeliveryAttempt


#: Messages per page of the delivery log.
PAGE = 25
EVENTS = {
    EventType.RUN_INTERRUPTED: gettext_noop("a run was interrupted"),
    EventType.RUN_FINISHED: gettext_noop("a run ended"),
    EventType.INTERRUPT_OPENED: gettext_noop("a decision was requested"),
    EventType.INTERRUPT_DECIDED: gettext_noop("a request was answered"),
    EventType.INTERRUPT_REMINDED: gettext_noop("people are reminded of a request"),
    EventType.INTERRUPT_ENDORSED: gettext_noop("one of several people approved a request"),
    EventType.INTERRUPT_ESCALATED: gettext_noop("more people may answer a request"),
    EventType.INTERRUPT_EXPIRING: gettext_noop("a request expires soon"),
    EventType.INTERRUPT_EXPIRED: gettext_noop("a request expired"),
    EventType.REQUEST_DECIDED: gettext_noop("a program's request was decided"),
    EventType.CALL_IN_DOUBT: gettext_noop("the outcome of a program's call is unknown"),
    EventType.CALL_DEVIATED: gettext_noop("a program executed other arguments than approved"),
    EventType.GRANT_MADE: gettext_noop("a reviewer allowed further calls"),
    EventType.GRANT_ENDED: gettext_noop("a permission for further calls ended"),
    EventType.POLICY_PUBLISHED: gettext_noop("a policy was published"),
    EventType.CHANNEL_DISABLED: gettext_noop("a chat was switched off after failures"),
}
_DISABLED_REASONS = {
    DisabledReason.BY_HAND: gettext_noop("Disabled by a team admin."),
    DisabledReason.OWNER_LEFT: gettext_noop("Its owner has left the team."),
    DisabledReason.GONE: gettext_noop("The receiver asked not to receive more messages (410)."),
    DisabledReason.FAILING: gettext_noop("No delivery has succeeded for more than a day."),
}


@dataclass(frozen=True)
class DeliveryRow:
    """A message of the delivery log; the receiver's responses are escaped."""

    delivery: Delivery
    status: str
    tone: str
    icon: str
    attempts: list[tuple[datetime, str, str]]  #: (time, result, response body)
    next_try_at: datetime | None


@page
def webhook_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    context = webhook_list_context(actor)
    team = next(row.team.slug for row in teams_with_access(actor) if row.administers)
    context |= {"nav": settings_nav(team, administers=True), "part": "webhooks"}
    return show(request, actor, "webhooks/webhooks.html", context, section="webhooks")


@page
def webhook(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    return show_webhook(request, actor, webhook_id)


@post_page
def test(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    return _run_action(request, actor, webhook_id, deliveries.send_test)


@post_page
def replay(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    return _run_action(request, actor, webhook_id, deliveries.resend_failed)


@post_page
def send_again(request: HttpRequest, actor: Actor, message_id: UUID) -> HttpResponse:
    def send(**_of: Any) -> None:
        deliveries.resend_message(message_id=message_id, actor=actor)

    return _run_action(request, actor, endpoints.webhook_of(actor, message_id).pk, send)


@post_page
def switch(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    change_webhook(endpoint_id=webhook_id, actor=actor, enabled=request.POST.get("on") == "1")
    return see_other("webhook", webhook_id)


@post_page
def rotate(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    """Rotate the secret and display the new one, in this response only."""
    _, secret = rotate_secret(endpoint_id=webhook_id, actor=actor)
    return show_webhook(request, actor, webhook_id, secret=secret)


@post_page
def remove(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    remove_webhook(endpoint_id=webhook_id, actor=actor)
    return see_other("webhooks")


def show_webhook(
    request: HttpRequest,
    actor: Actor,
    webhook_id: UUID,
    *,
    secret: str = "",
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render a webhook; `secret` is displayed once, `notice` is the error of an action."""
    row = endpoints.webhook_for(actor, webhook_id)
    deliveries_page = endpoints.deliveries_of(
        row, limit=PAGE + 1, after=read_id(request.GET.get("before", ""))
    )
    context = {
        "webhook": row,
        "description": escape_invisible(row.description),
        "events": [(kind, gettext(EVENTS[EventType(kind)])) for kind in row.event_types],
        "disabled_reason": gettext(_DISABLED_REASONS[DisabledReason(row.disabled_reason)])
        if row.disabled_reason
        else "",
        "counts": endpoints.undelivered_counts(row),
        "deliveries": [_delivery_row(delivery) for delivery in deliveries_page[:PAGE]],
        "next_before": deliveries_page[PAGE - 1].message_id
        if len(deliveries_page) > PAGE
        else None,
        "secret": secret,
        "notice": notice,
        **webhook_list_context(actor, row.pk),
    }
    return show(request, actor, "webhooks/webhook.html", context, section="webhooks", status=status)


def webhook_list_context(actor: Actor, current: UUID | None = None) -> dict[str, Any]:
    """
    Return the context of the list beside a webhook's page.

    Raises:
        Forbidden: the actor administers no team.
    """
    if not teams_of(actor, Permission.ADMIN):
        raise Forbidden(MISSING_PERMISSION[Permission.ADMIN])
    return {"webhooks": endpoints.webhooks_for(actor), "current": current}


def _run_action(request: HttpRequest, actor: Actor, webhook_id: UUID, action: Any) -> HttpResponse:
    """Call `action` and open the page, with a notice if the webhook is disabled."""
    try:
        action(endpoint_id=webhook_id, actor=actor)
    except WebhookDisabled as refusal:
        return show_webhook(
            request, actor, webhook_id, notice=translate(refusal.message), status=409
        )
    return see_other("webhook", webhook_id)


def _delivery_row(delivery: Delivery) -> DeliveryRow:
    words, tone, icon = {
        DeliveryStatus.PENDING: (gettext("Pending"), "line", "circle-dashed"),
        DeliveryStatus.DELIVERED: (gettext("Delivered"), "ok", "circle-check"),
        DeliveryStatus.FAILED: (gettext("Failed"), "bad", "circle-x"),
    }[DeliveryStatus(delivery.status)]
    attempts = list(delivery.attempts.all())
    if delivery.status == DeliveryStatus.PENDING and attempts:
        words, tone, icon = gettext("Retrying"), "warn", "circle-dashed"
    return DeliveryRow(
        delivery=delivery,
        status=words,
        tone=tone,
        icon=icon,
        attempts=[
            (attempt.at, _attempt_result(attempt), escape_invisible(attempt.response))
            for attempt in attempts
        ],
        next_try_at=delivery.next_try_at if delivery.status == DeliveryStatus.PENDING else None,
    )


def _attempt_result(attempt: DeliveryAttempt) -> str:
    if attempt.problem:
        return translate(problem_message(attempt.problem, attempt.status_code))
    text = gettext("The receiver answered with status {status} in {count} ms.")
    return text.format(status=attempt.status_code, count=attempt.milliseconds)
