"""The lists of what is asked, and the page of one interrupt beside them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from inbox.domain.access import Actor
from inbox.domain.errors import NotFound
from inbox.selectors.agents import agents_for
from inbox.selectors.interrupts import (
    decided_for,
    detail_for,
    interrupt_for,
    pending_for,
    progress_of,
)
from inbox.web.answers import Posted
from inbox.web.cards import Card
from inbox.web.pages import page, show
from inbox.web.rows import rows_of

_PAGE = 50
_RECENT = 5


@require_safe
@page
def pending(request: HttpRequest, actor: Actor) -> HttpResponse:
    context = pending_list(request, actor)
    if not context["rows"]:
        agents = agents_for(actor)
        context["example_agent"] = agents[0].slug if agents else "rehearsal"
        context["example_url"] = request.build_absolute_uri("/api/runs")
    return show(request, actor, "pending.html", context, section="pending")


@require_safe
@page
def interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return show_interrupt(request, actor, card_of(actor, interrupt_id))


@require_safe
@page
def decided(request: HttpRequest, actor: Actor) -> HttpResponse:
    context = _decided_list(actor)
    return show(request, actor, "decided.html", context, section="decided")


@require_safe
@page
def decided_interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    card = card_of(actor, interrupt_id)
    context = {"card": card, **_decided_list(actor, interrupt_id)}
    return show(request, actor, "interrupt.html", context, section="decided")


def show_interrupt(
    request: HttpRequest, actor: Actor, card: Card, *, status: int = 200
) -> HttpResponse:
    """The page of an interrupt beside the pending ones."""
    context = {"card": card, **pending_list(request, actor, card.row.pk)}
    return show(request, actor, "interrupt.html", context, section="pending", status=status)


def pending_list(request: HttpRequest, actor: Actor, current: UUID | None = None) -> dict[str, Any]:
    """What the pending list shows: one page of it, then what was decided last."""
    found = pending_for(actor, limit=_PAGE + 1, after=_cursor(request, actor))
    shown, more = found[:_PAGE], len(found) > _PAGE
    return {
        "list_title": "Pending",
        "list_order": "Soonest to expire",
        "list_url": reverse("pending"),
        "rows": _rows(actor, shown, current),
        "recent": _rows(actor, decided_for(actor, limit=_RECENT), current),
        "next_after": shown[-1].pk if more else None,
        "next_row": next((row for row in shown if row.pk != current), None),
    }


def _decided_list(actor: Actor, current: UUID | None = None) -> dict[str, Any]:
    return {
        "list_title": "Decided",
        "list_order": "Latest first",
        "list_url": reverse("decided"),
        "rows": _rows(actor, decided_for(actor, limit=_PAGE), current, "decided_interrupt"),
    }


def _rows(
    actor: Actor, found: Sequence[Any], current: UUID | None, link: str = "interrupt"
) -> list[Any]:
    return rows_of(
        found,
        progress=progress_of(found),
        me=actor.user_id,
        now=timezone.now(),
        current=current,
        page=link,
    )


def card_of(actor: Actor, interrupt_id: UUID, posted: Posted | None = None) -> Card:
    """The interrupt as this person sees it now, with an answer of theirs that was not taken."""
    detail = detail_for(actor, interrupt_id)
    return Card(detail=detail, me=actor.user_id, now=timezone.now(), posted=posted)


def _cursor(request: HttpRequest, actor: Actor) -> Any:
    """The row after which the page starts; None for the first page and for nonsense."""
    try:
        return interrupt_for(actor, UUID(request.GET.get("after", "")))
    except (ValueError, NotFound):
        return None
