"""The parts of a large request that its page loads on demand."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from inbox.rules.people.access import Actor
from inbox.rules.presentations.values import MORE_ROWS
from inbox.web.base.pages import is_fragment, page, show
from inbox.web.decisions.inbox_lists import page_of

_MAX_DIGITS = 6


@page
def more_values(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Return a value, or rows of a table, as a fragment; without JavaScript it is a page."""
    facts = (view := page_of(actor, interrupt_id)).facts
    start = _number(request.GET.get("from", ""))
    value = facts.later(request.GET.get("in", ""), request.GET.get("at", ""), start)
    if value is None:
        raise Http404
    context = {
        "view": value,
        "is_rows": start is not None,
        "is_stale": request.GET.get("of") != facts.version,
        "address": _address(request),
        "next": (start or 0) + MORE_ROWS,
    }
    if is_fragment(request):
        return render(request, "decisions/presentations/more.html", context)
    context["interrupt"] = view.interrupt
    return show(request, actor, "decisions/values.html", context, section="pending")


def _address(request: HttpRequest) -> str:
    """Return the address without `from`, which the next rows get."""
    query = request.GET.copy()
    query.pop("from", None)
    return f"{request.path}?{query.urlencode()}"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None
