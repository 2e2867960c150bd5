"""The pages of the interrupt lists, and of one interrupt beside its list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from inbox.platform import clock
from inbox.queries.agents.agents import agents_for
from inbox.queries.decisions.inbox_lists import choices_for, list_for, similar_count
from inbox.queries.decisions.interrupts import detail_for, interrupt_for, progress_of
from inbox.queries.people.access import may_decide_anywhere
from inbox.rules.decisions.list_filters import InterruptFilter, ListState
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.web.base.demo import DEMO_AGENT
from inbox.web.base.list_filters import (
    ListRequest,
    has_redundant_parameters,
    parse_list_request,
    selects_of,
)
from inbox.web.base.pages import bounded, is_fragment, page, show
from inbox.web.base.toasts import url_with_toast
from inbox.web.decisions.decision_form import Submission
from inbox.web.decisions.interrupt_page import InterruptPage
from inbox.web.decisions.list_rows import rows_of

if TYPE_CHECKING:
    from inbox.models import Interrupt


_PAGE = 50
_RECENT = 5


@page
def interrupt_list(request: HttpRequest, actor: Actor, state: ListState) -> HttpResponse:
    list_request = parse_list_request(request, state=state)
    if has_redundant_parameters(request, list_request) and not is_fragment(request):
        return HttpResponseRedirect(list_request.page_after(list_request.after))
    context = _list(request, actor, list_request)
    if not context["rows"] and list_request.filter == InterruptFilter():
        agents = agents_for(actor, Permission.RUN)
        context["example_agent"] = agents[0].slug if agents else "rehearsal"
        context["may_start_demo"] = DEMO_AGENT in [agent.slug for agent in agents]
        context["demo_key"] = str(uuid4())
        context["example_url"] = request.build_absolute_uri("/api/runs")
    template = "pending" if state is ListState.OPEN else "decided"
    section = list_request.section
    return show(request, actor, f"decisions/{template}.html", context, section=section)


@page
def interrupt(
    request: HttpRequest, actor: Actor, interrupt_id: UUID, state: ListState
) -> HttpResponse:
    return show_interrupt(request, actor, page_of(actor, interrupt_id), state=state)


def show_interrupt(
    request: HttpRequest,
    actor: Actor,
    view: InterruptPage,
    *,
    state: ListState = ListState.OPEN,
    status: int = 200,
) -> HttpResponse:
    """Render an interrupt beside the list that it was opened from."""
    list_request = parse_list_request(request, state=state)
    is_open = view.interrupt.status == InterruptStatus.OPEN
    context = {
        "page": view,
        "similar": bounded(similar_count(view.interrupt)) if is_open else "0",
        **_list(request, actor, list_request, view.interrupt.pk),
    }
    return show(
        request,
        actor,
        "decisions/interrupt.html",
        context,
        section=list_request.section,
        status=status,
    )


def page_of(
    actor: Actor, interrupt_id: UUID, submission: Submission | None = None
) -> InterruptPage:
    """Return the interrupt's page for the actor, with their rejected answer or draft."""
    detail = detail_for(actor, interrupt_id)
    return InterruptPage(detail=detail, me=actor.user_id, now=clock.now(), submission=submission)


def _list(
    request: HttpRequest, actor: Actor, list_request: ListRequest, current: UUID | None = None
) -> dict[str, Any]:
    """Return the context of a list: one page of rows, and recent decisions below."""
    now = clock.now()
    filters = list_request.filter
    matches = list_for(actor, filters, now=now, limit=_PAGE, after=_cursor(list_request, actor))
    recent: Sequence[Interrupt] = ()
    if filters == InterruptFilter():
        recent = list_for(
            actor, InterruptFilter(state=ListState.DECIDED), now=now, limit=_RECENT
        ).rows
    rows = rows_of(
        matches.rows,
        progress=progress_of([row for row in matches.rows if row.status == InterruptStatus.OPEN]),
        me=actor.user_id,
        now=now,
        current=current,
        suffix=list_request.suffix,
        query=filters.to_query(),
        may_pick=may_decide_anywhere(actor),
        page="decided_interrupt" if filters.is_closed else "interrupt",
    )
    return {
        "list_request": list_request,
        "list_title": list_request.title,
        "list_url": list_request.page_after(list_request.after),
        "list_suffix": list_request.suffix,
        **({} if is_fragment(request) else _tools(actor, filters)),
        "rows": rows,
        "recent": rows_of(recent, progress={}, me=actor.user_id, now=now, current=current),
        "next_url": list_request.page_after(matches.after) if matches.after else "",
        "is_cut": matches.is_cut,
        "next_row": next((row for row in rows if row.is_open and not row.is_current), None),
    }


def _tools(actor: Actor, filters: InterruptFilter) -> dict[str, Any]:
    """Return the choices of the forms above the list; live updates leave them out."""
    choices = choices_for(actor, state=filters.kind)
    return {
        "list_selects": selects_of(choices, filters),
        "shareable_teams": choices.decides_in,
    }


def next_url(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> str:
    """Return the URL of the list's next open interrupt, with a toast about this one."""
    list_request = parse_list_request(request, state=ListState.OPEN)
    filters = list_request.filter if list_request.filter.is_open else InterruptFilter()
    row, now = interrupt_for(actor, interrupt_id), clock.now()
    rows = list_for(actor, filters, now=now, limit=1, after=row).rows
    rows = rows or list_for(actor, filters, now=now, limit=1).rows
    if not rows:
        return url_with_toast(list_request.url, interrupt_id)
    address = reverse("interrupt", args=[rows[0].pk])
    return url_with_toast(f"{address}{list_request.suffix}", interrupt_id)


def _cursor(list_request: ListRequest, actor: Actor) -> Interrupt | None:
    """Return the row that the page starts after; None for the first page or an invalid id."""
    try:
        return interrupt_for(actor, UUID(list_request.after))
    except (ValueError, NotFound):
        return None
