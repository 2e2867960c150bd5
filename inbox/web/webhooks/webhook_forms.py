"""The forms to add and change webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from inbox.actions.webhooks.endpoints import add_webhook, change_webhook
from inbox.queries.people.access import memberships_of
from inbox.queries.webhooks import endpoints
from inbox.rules.errors import InvalidInput
from inbox.rules.people.access import Actor, Permission
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.webhooks.webhooks import EVENTS, show_webhook, webhook_list_context

if TYPE_CHECKING:
    from inbox.models import WebhookEndpoint


@dataclass(frozen=True)
class WebhookForm:
    """The posted form."""

    team: str = ""
    url: str = ""
    description: str = ""
    events: Sequence[str] = tuple(EVENTS)


@page
def new_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show(request, actor, WebhookForm())


@post_page
def add(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Add a webhook and display its secret, in this response only."""
    form = _read(request)
    try:
        team_id = endpoints.team_for_webhook(actor, form.team)
        row, secret = add_webhook(
            team_id=team_id,
            url=form.url,
            event_types=form.events,
            description=form.description,
            actor=actor,
        )
    except InvalidInput as refusal:
        return _show(request, actor, form, refusal=refusal)
    return show_webhook(request, actor, row.pk, secret=secret)


@page
def change_page(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    row = endpoints.webhook_for(actor, webhook_id)
    form = WebhookForm(url=row.url, description=row.description, events=row.event_types)
    return _show(request, actor, form, row)


@post_page
def save(request: HttpRequest, actor: Actor, webhook_id: UUID) -> HttpResponse:
    row = endpoints.webhook_for(actor, webhook_id)
    form = _read(request)
    try:
        change_webhook(
            endpoint_id=webhook_id,
            url=form.url,
            event_types=form.events,
            description=form.description,
            actor=actor,
        )
    except InvalidInput as refusal:
        return _show(request, actor, form, row, refusal)
    return see_other("webhook", webhook_id)


def _read(request: HttpRequest) -> WebhookForm:
    return WebhookForm(
        team=request.POST.get("team", ""),
        url=request.POST.get("url", "").strip(),
        description=" ".join(request.POST.get("description", "").split()),
        events=request.POST.getlist("events"),
    )


def _show(
    request: HttpRequest,
    actor: Actor,
    form: WebhookForm,
    endpoint: WebhookEndpoint | None = None,
    refusal: InvalidInput | None = None,
) -> HttpResponse:
    teams = [team for team, allowed in memberships_of(actor) if Permission.ADMIN in allowed]
    problems = {
        name: translate(texts[0])
        for name, texts in (refusal.detail["problems"] if refusal else {}).items()
    }
    context = {
        "webhook": endpoint,
        "teams": teams if endpoint is None and len(teams) > 1 else [],
        "form": form,
        "problems": problems,
        "choices": [(kind, gettext(words), kind in form.events) for kind, words in EVENTS.items()],
        **webhook_list_context(actor, endpoint.pk if endpoint else None),
    }
    status = 422 if refusal else 200
    return show(
        request, actor, "webhooks/webhook_form.html", context, section="webhooks", status=status
    )
