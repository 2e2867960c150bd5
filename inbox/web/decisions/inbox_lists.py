"""The lists of what is asked, and the page of one interrupt beside them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from inbox.queries.agents.agents import agents_for
from inbox.queries.decisions.inbox_lists import choices_for, list_for, similar_count
from inbox.queries.decisions.interrupts import detail_for, interrupt_for, progress_of
from inbox.queries.people.access import may_decide_anywhere
from inbox.rules.decisions.list_filters import InterruptFilter, ListState
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus
from inbox.web.base.list_filters import (
    Asked,
    asked_of,
    is_spelled_out,
    selects_of,
)
from inbox.web.base.pages import (
    bounded,
    is_fragment,
    page,
    show,
)
from inbox.web.base.toasts import address_with_toast
from inbox.web.decisions.decision_form import Posted
from inbox.web.decisions.interrupt_page import Card
from inbox.web.decisions.list_rows import rows_of

_PAGE = 50
_RECENT = 5


@require_safe
@page
def pending(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show_list(request, actor, ListState.OPEN, "decisions/pending.html")


@require_safe
@page
def decided(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show_list(request, actor, ListState.DECIDED, "decisions/decided.html")


@require_safe
@page
def interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return show_interrupt(request, actor, card_of(actor, interrupt_id))


@require_safe
@page
def decided_interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return show_interrupt(request, actor, card_of(actor, interrupt_id), state=ListState.DECIDED)


def show_interrupt(
    request: HttpRequest,
    actor: Actor,
    card: Card,
    *,
    state: ListState = ListState.OPEN,
    status: int = 200,
) -> HttpResponse:
    """The page of an interrupt beside the list that it was opened from."""
    asked = asked_of(request, state=state)
    is_open = card.row.status == InterruptStatus.OPEN
    context = {
        "card": card,
        "similar": bounded(similar_count(card.row)) if is_open else "0",
        **_list(request, actor, asked, card.row.pk),
    }
    return show(
        request, actor, "decisions/interrupt.html", context, section=asked.section, status=status
    )


def card_of(actor: Actor, interrupt_id: UUID, posted: Posted | None = None) -> Card:
    """The interrupt as this person sees it now, with an answer of theirs that was not taken."""
    detail = detail_for(actor, interrupt_id)
    return Card(detail=detail, me=actor.user_id, now=timezone.now(), posted=posted)


def _show_list(request: HttpRequest, actor: Actor, state: ListState, template: str) -> HttpResponse:
    asked = asked_of(request, state=state)
    if is_spelled_out(request, asked) and not is_fragment(request):
        return HttpResponseRedirect(asked.page_after(asked.after))
    context = _list(request, actor, asked)
    if not context["rows"] and asked.filter == InterruptFilter():
        agents = agents_for(actor)
        context["example_agent"] = agents[0].slug if agents else "rehearsal"
        context["example_url"] = request.build_absolute_uri("/api/runs")
    return show(request, actor, template, context, section=asked.section)


def _list(
    request: HttpRequest, actor: Actor, asked: Asked, current: UUID | None = None
) -> dict[str, Any]:
    """What the list shows: one page of it, and what was decided last below what waits."""
    now = timezone.now()
    wanted = asked.filter
    found = list_for(actor, wanted, now=now, limit=_PAGE, after=_cursor(asked, actor))
    recent: Sequence[Any] = ()
    if wanted == InterruptFilter():
        recent = list_for(
            actor, InterruptFilter(state=ListState.DECIDED), now=now, limit=_RECENT
        ).rows
    rows = rows_of(
        found.rows,
        progress=progress_of([row for row in found.rows if row.status == InterruptStatus.OPEN]),
        me=actor.user_id,
        now=now,
        current=current,
        suffix=asked.suffix,
        may_pick=may_decide_anywhere(actor),
        page="decided_interrupt" if wanted.is_closed else "interrupt",
    )
    return {
        "asked": asked,
        "list_title": asked.title,
        "list_url": asked.page_after(asked.after),
        "list_suffix": asked.suffix,
        **({} if is_fragment(request) else _tools(actor, wanted)),
        "rows": rows,
        "recent": rows_of(recent, progress={}, me=actor.user_id, now=now, current=current),
        "next_url": asked.page_after(found.after) if found.after else "",
        "is_cut": found.is_cut,
        "next_row": next((row for row in rows if not row.is_current and not row.is_done), None),
    }


def _tools(actor: Actor, wanted: InterruptFilter) -> dict[str, Any]:
    """What the forms above the list offer; they are not part of what a live page reads again."""
    choices = choices_for(actor, state=wanted.kind)
    return {
        "list_selects": selects_of(choices, wanted),
        "shareable_teams": choices.decides_in,
    }


def next_address(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> str:
    """The address of what waits next in this list, which says what was just decided."""
    asked = asked_of(request, state=ListState.OPEN)
    wanted = asked.filter if asked.filter.is_open else InterruptFilter()
    row, now = interrupt_for(actor, interrupt_id), timezone.now()
    found = list_for(actor, wanted, now=now, limit=1, after=row).rows
    found = found or list_for(actor, wanted, now=now, limit=1).rows
    if not found:
        return address_with_toast(asked.url, interrupt_id)
    address = reverse("interrupt", args=[found[0].pk])
    return address_with_toast(f"{address}{asked.suffix}", interrupt_id)


def _cursor(asked: Asked, actor: Actor) -> Any:
    """The row after which the page starts; None for the first page and for nonsense."""
    try:
        return interrupt_for(actor, UUID(asked.after))
    except (ValueError, NotFound):
        return None
