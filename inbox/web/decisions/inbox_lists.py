"""The pages of the interrupt lists, and of one interrupt beside its list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from inbox.platform import clock
from inbox.queries.agents.agents import agents_for
from inbox.queries.audit.team_position import position_of
from inbox.queries.decisions.inbox_lists import choices_for, list_for, similar_count
from inbox.queries.decisions.interrupts import detail_for, interrupt_for, progress_of
from inbox.queries.people.access import may_decide_anywhere, memberships_of
from inbox.rules.decisions.list_filters import InterruptFilter, ListState, Sort
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
from inbox.web.base.pages import is_fragment, page, show
from inbox.web.base.toasts import url_with_toast
from inbox.web.decisions.decision_form import Submission
from inbox.web.decisions.interrupt_page import InterruptPage
from inbox.web.decisions.list_rows import Entry, Row, by_day, by_deadline, folded, rows_of
from inbox.web.navigation import first_steps
from inbox.web.navigation.rail import bounded
from inbox.web.requests.program_panel import program_panel

if TYPE_CHECKING:
    from inbox.models import Interrupt


_PAGE = 50
#: The most rows of a page that has loaded more of them.
_MOST_ROWS = 500
_RECENT = 5
#: Sent by a page that has loaded more rows: their number.
_ROWS_HEADER = "X-Signoff-Rows"
#: Sent by a page that has the list already, and shows another request of it.
_PART_HEADER = "X-Signoff-Part"


@page
def interrupt_list(request: HttpRequest, actor: Actor, state: ListState) -> HttpResponse:
    position = _position(request, actor)
    list_request = parse_list_request(request, state=state)
    if has_redundant_parameters(request, list_request) and not is_fragment(request):
        return HttpResponseRedirect(list_request.page_after(list_request.after))
    context = {"position": position, **_list(request, actor, list_request)}
    if not context["rows"] and list_request.filter == InterruptFilter():
        context |= _first_run(request, actor)
    template = "pending" if state is ListState.OPEN else "decided"
    section = list_request.section
    return show(request, actor, f"decisions/{template}.html", context, section=section)


@page
def interrupt(
    request: HttpRequest, actor: Actor, interrupt_id: UUID, state: ListState
) -> HttpResponse:
    position = _position(request, actor)
    view = page_of(actor, interrupt_id)
    first_steps.note_request(request, actor, view.interrupt)
    if asks_for_part(request):
        return _show_part(request, actor, view, state)
    return show_interrupt(request, actor, view, state=state, position=position)


def show_interrupt(
    request: HttpRequest,
    actor: Actor,
    view: InterruptPage,
    *,
    state: ListState = ListState.OPEN,
    status: int = 200,
    position: str = "",
) -> HttpResponse:
    """Render an interrupt beside the list that it was opened from."""
    list_request = parse_list_request(request, state=state)
    context = {
        "page": view,
        "position": position,
        "similar": _similar(view),
        **_list(request, actor, list_request, view.interrupt.pk),
    }
    if request.method == "POST":  # which cannot be read again
        address = reverse("interrupt", args=[view.interrupt.pk])
        context["live_url"] = f"{address}{list_request.suffix}"
    return show(
        request,
        actor,
        "decisions/interrupt.html",
        context,
        section=list_request.section,
        status=status,
    )


def asks_for_part(request: HttpRequest) -> bool:
    """Return True for a page that shows the list already."""
    return is_fragment(request) and _PART_HEADER in request.headers


def _show_part(
    request: HttpRequest, actor: Actor, view: InterruptPage, state: ListState
) -> HttpResponse:
    """Render an interrupt for a page that keeps the list beside it."""
    list_request = parse_list_request(request, state=state)
    if view.mode == "closed":  # its bar leads to the next open one of the list
        context = _list(request, actor, list_request, view.interrupt.pk)
    else:
        context = {"list_request": list_request, "list_suffix": list_request.suffix}
    context |= {"page": view, "similar": _similar(view)}
    return render(request, "decisions/request/part.html", context)


def _similar(view: InterruptPage) -> str:
    is_open = view.interrupt.status == InterruptStatus.OPEN
    return bounded(similar_count(view.interrupt)) if is_open else ""


def _position(request: HttpRequest, actor: Actor) -> str:
    """
    Return what the page is compared with once its socket is open; "" for fragments.

    Read it before the rows: what is committed meanwhile makes the page read again.
    """
    return "" if is_fragment(request) else position_of(actor)


def _row_count(request: HttpRequest) -> int:
    text = request.headers.get(_ROWS_HEADER, "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else _PAGE
    return max(_PAGE, min(_MOST_ROWS, number))


def page_of(
    actor: Actor, interrupt_id: UUID, submission: Submission | None = None
) -> InterruptPage:
    """Return the interrupt's page for the actor, with their rejected answer or draft."""
    detail = detail_for(actor, interrupt_id)
    return InterruptPage(
        detail=detail,
        me=actor.user_id,
        now=clock.now(),
        submission=submission,
        program=program_panel(detail.interrupt, actor),
    )


def _list(
    request: HttpRequest, actor: Actor, list_request: ListRequest, current: UUID | None = None
) -> dict[str, Any]:
    """Return the context of a list: one page of rows, and recent decisions below."""
    now = clock.now()
    filters = list_request.filter
    limit, after = _row_count(request), _cursor(list_request, actor)
    matches = list_for(actor, filters, now=now, limit=limit, after=after)
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
    # Nobody of their teams was ever asked for anything, or for the first time now.
    is_new = filters == InterruptFilter() and not recent and not list_request.after
    return {
        "is_first_run": is_new and not rows,
        "is_first_request": is_new and len(rows) == 1,
        "first_steps": None if filters.narrows else first_steps.guide_for(request, actor),
        "list_request": list_request,
        "list_title": list_request.title,
        "list_url": list_request.page_after(list_request.after),
        "list_suffix": list_request.suffix,
        **({} if is_fragment(request) else _tools(actor, filters)),
        "rows": rows,
        "entries": _entries(rows, filters, now),
        "list_count": _count(list_request, rows, is_last=matches.after is None),
        "recent": rows_of(recent, progress={}, me=actor.user_id, now=now, current=current),
        "next_url": list_request.page_after(matches.after) if matches.after else "",
        "is_cut": matches.is_cut,
        "next_due": min((row.at for row in rows if row.time_format == "left"), default=None),
        "next_row": next((row for row in rows if row.is_open and not row.is_current), None),
    }


def _first_run(request: HttpRequest, actor: Actor) -> dict[str, Any]:
    """Return what the empty list of all requests offers to somebody who begins."""
    agents = agents_for(actor, Permission.RUN)
    teams = [team.slug for team, may in memberships_of(actor) if Permission.ADMIN in may]
    return {
        "example_agent": agents[0].slug if agents else DEMO_AGENT,
        "may_start_demo": DEMO_AGENT in [agent.slug for agent in agents],
        "demo_key": str(uuid4()),
        "example_url": request.build_absolute_uri("/api/runs"),
        "team_to_set_up": teams[0] if teams else "",
    }


def _entries(rows: Sequence[Row], filters: InterruptFilter, now: datetime) -> list[Entry]:
    if filters.is_closed:
        return by_day(rows, now)
    entries = folded(rows)
    return by_deadline(entries, now) if filters.sort is Sort.DUE else entries


def _count(list_request: ListRequest, rows: Sequence[Row], *, is_last: bool) -> str:
    """Return the number of requests in the list, "" if it is not known."""
    if list_request.after or (list_request.filter.is_closed and not list_request.filter.narrows):
        return ""
    return str(len(rows)) if is_last else f"{len(rows)}+"


def _tools(actor: Actor, filters: InterruptFilter) -> dict[str, Any]:
    """Return the choices of the forms above the list; live updates leave them out."""
    choices = choices_for(actor, state=filters.kind)
    return {
        "list_selects": selects_of(choices, filters),
        "shareable_teams": choices.decides_in,
        "administered_teams": choices.administers,
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
