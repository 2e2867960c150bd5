"""The audit page: tool calls with filters and search."""

from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext, gettext_noop

from inbox.actions.audit.verification_runs import request_verification
from inbox.queries.audit import tool_calls
from inbox.queries.people.members import teams_with_access
from inbox.rules.audit.audit_filters import UNDECIDED, CallFilter
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import ToolCallOutcome
from inbox.rules.text.ids import read_id
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.audit.audit_rows import VERDICTS, by_day, call_row
from inbox.web.audit.strip import strip_of
from inbox.web.audit.verification_status import badge_for
from inbox.web.base.days import day_name
from inbox.web.base.list_filters import Chip, Option, Select
from inbox.web.base.pages import page, post_page, see_other, show

_PAGE = 50
_LABELS = {
    "team": gettext_noop("Team"),
    "agent": gettext_noop("Agent"),
    "tool": gettext_noop("Tool"),
    "by": gettext_noop("Decided by"),
    "decision": gettext_noop("Decision"),
    "since": gettext_noop("From"),
    "until": gettext_noop("To"),
    "q": gettext_noop("Search"),
}
_SYSTEM = [("system:expiry", gettext_noop("Expiry"))]


@page
def call_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    filters, ignored = CallFilter.from_query(request.GET.dict())
    named = (
        tool_calls.tool_calls_with_id(actor, filters.text, filters.call_id) if filters.text else []
    )
    if len(named) == 1:
        # A search for a call's id opens that call.
        return HttpResponseRedirect(reverse("audit_call", args=named))
    matches = tool_calls.tool_calls_for(
        actor,
        filters,
        limit=_PAGE,
        after=read_id(request.GET.get("after", "")),
        zone=get_current_timezone(),
    )
    names, chosen = _names(actor), filters.to_query()
    strip = None if filters.words else strip_of(actor, filters)
    context = {
        "days": by_day(call_row(call, list(call.interrupts.all())) for call in matches.rows),
        "strip": strip,
        "wanted": filters,
        "selects": _selects(filters, names),
        "chips": _chips(filters, names),
        "ignored": [gettext(_LABELS[name]) for name in ignored],
        "badge": badge_for(actor),
        "export": _exportable(actor, filters),
        "is_first": "after" not in request.GET,
        "first_url": _address(filters),
        "next_url": f"?{chosen}{'&' if chosen else ''}{urlencode({'after': matches.after})}"
        if matches.after
        else "",
        "is_cut": matches.is_cut,
    }
    return show(request, actor, "audit/tool_calls.html", context, section="audit")


@post_page
def verify(request: HttpRequest, actor: Actor) -> HttpResponse:
    request_verification(actor=actor)
    return see_other("audit")


@page
def verification(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Render how far the verification is, or the badge at its end, for a page that waits for it."""
    badge = badge_for(actor)
    context = {"badge": badge, "verify": True}
    if badge.progress is not None:
        return render(request, "audit/verification.html", context)
    response = render(request, "audit/verified.html", context)
    response.headers["HX-Retarget"] = "#badge"
    return response


def _exportable(actor: Actor, filters: CallFilter) -> Mapping[str, Any] | None:
    """Return the teams whose trail the actor may export, and the active filters."""
    mine = [access.team for access in teams_with_access(actor) if access.administers]
    teams = [
        Option(team.slug, escape_invisible(team.name), team.slug == filters.team) for team in mine
    ]
    fields = [(name, value) for name, value in filters.parameters.items() if name != "team"]
    return {"teams": teams, "fields": fields} if teams else None


def _names(actor: Actor) -> Mapping[str, list[tuple[str, str]]]:
    """Return the choices of each drop-down as (value, label)."""
    agents, teams = tool_calls.agents_and_teams(actor)
    deciders = tool_calls.deciders_for(actor) + [(ident, gettext(name)) for ident, name in _SYSTEM]
    return {
        "by": [(ident, escape_invisible(name)) for ident, name in deciders],
        "decision": [
            *((verdict.value, gettext(VERDICTS[verdict][0])) for verdict in ToolCallOutcome),
            (UNDECIDED, gettext("No decision")),
        ],
        "agent": [(slug, slug) for slug in agents],
        "team": [(slug, escape_invisible(name)) for slug, name in teams],
    }


def _selects(filters: CallFilter, names: Mapping[str, list[tuple[str, str]]]) -> list[Select]:
    """Return the drop-downs of the form; each includes the chosen value."""
    selects = []
    for name, choices in names.items():
        value = filters.parameters.get(name, "")
        options = [("", gettext("Any")), *choices]
        if value and value not in dict(options):
            options.append((value, escape_invisible(value)))
        if name != "team" or len(choices) > 1:
            selects.append(Select.of(name, gettext(_LABELS[name]), options, value))
    return selects


def _chips(filters: CallFilter, names: Mapping[str, list[tuple[str, str]]]) -> list[Chip]:
    chips = []
    for name, value in filters.parameters.items():
        label = dict(names.get(name, [])).get(value, escape_invisible(value))
        label = day_name(date.fromisoformat(value)) if name in ("since", "until") else label
        chips.append(Chip(gettext(_LABELS[name]), label, _address(filters.without(name))))
    return chips


def _address(filters: CallFilter) -> str:
    query = filters.to_query()
    return f"{reverse('audit')}?{query}" if query else reverse("audit")
