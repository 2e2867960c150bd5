"""The audit trail: a row for each tool call, and the search for them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_safe

from inbox.queries.audit import tool_calls
from inbox.queries.people.members import teams_with_access
from inbox.rules.audit.audit_filters import UNDECIDED, CallFilter
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import ToolCallOutcome
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.audit.audit_rows import VERDICTS, call_row
from inbox.web.audit.verification_status import badge_for
from inbox.web.base.list_filters import Chip, Option, Select
from inbox.web.base.pages import page, show

_PAGE = 50
_LABELS = {
    "team": gettext_noop("Team"),
    "agent": gettext_noop("Agent"),
    "tool": gettext_noop("Tool"),
    "by": gettext_noop("Decided by"),
    "decision": gettext_noop("Decision"),
    "since": gettext_noop("From"),
    "until": gettext_noop("Until"),
    "q": gettext_noop("Search"),
}
_SYSTEM = [("system:expiry", gettext_noop("Expiry"))]


@require_safe
@page
def call_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    wanted, ignored = CallFilter.from_query(request.GET.dict())
    named = tool_calls.tool_calls_with_id(actor, wanted.text, wanted.call_id) if wanted.text else []
    if len(named) == 1:
        # Whoever has the id of a call wants that call.
        return HttpResponseRedirect(reverse("audit_call", args=named))
    found = tool_calls.tool_calls_for(actor, wanted, limit=_PAGE, after=_cursor(request))
    names, chosen = _names(actor), wanted.to_query()
    context = {
        "rows": [call_row(call, list(call.interrupts.all())) for call in found.rows],
        "wanted": wanted,
        "selects": _selects(wanted, names),
        "chips": _chips(wanted, names),
        "ignored": [gettext(_LABELS[name]) for name in ignored],
        "badge": badge_for(actor),
        "export": _exportable(actor, wanted),
        "is_first": "after" not in request.GET,
        "first_url": _address(wanted),
        "next_url": f"?{chosen}{'&' if chosen else ''}{urlencode({'after': found.after})}"
        if found.after
        else "",
        "is_cut": found.is_cut,
    }
    return show(request, actor, "audit/tool_calls.html", context, section="audit")


def _exportable(actor: Actor, wanted: CallFilter) -> Mapping[str, Any] | None:
    """The teams whose trail the actor may export, and what the search narrows it to."""
    mine = [one.team for one in teams_with_access(actor) if one.administers]
    teams = [Option(one.slug, escape_invisible(one.name), one.slug == wanted.team) for one in mine]
    kept = [(name, value) for name, value in wanted.asked.items() if name != "team"]
    return {"teams": teams, "fields": kept} if teams else None


def _names(actor: Actor) -> Mapping[str, list[tuple[str, str]]]:
    """What can be chosen: values with their names."""
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


def _selects(wanted: CallFilter, names: Mapping[str, list[tuple[str, str]]]) -> list[Select]:
    """The drop-downs of the form; whom nobody lists is listed where they are asked for."""
    selects = []
    for name, known in names.items():
        value = wanted.asked.get(name, "")
        options = [("", gettext("Any")), *known]
        if value and value not in dict(options):
            options.append((value, escape_invisible(value)))
        if name != "team" or len(known) > 1:
            shown = [Option(one, label, one == value) for one, label in options]
            selects.append(Select(name, gettext(_LABELS[name]), shown))
    return selects


def _chips(wanted: CallFilter, names: Mapping[str, list[tuple[str, str]]]) -> list[Chip]:
    chips = []
    for name, value in wanted.asked.items():
        label = dict(names.get(name, [])).get(value, escape_invisible(value))
        chips.append(Chip(gettext(_LABELS[name]), label, _address(wanted.without(name))))
    return chips


def _address(wanted: CallFilter) -> str:
    query = wanted.to_query()
    return f"{reverse('audit')}?{query}" if query else reverse("audit")


def _cursor(request: HttpRequest) -> UUID | None:
    """Where the page begins; what is no id is no place, and the first page is shown."""
    try:
        return UUID(request.GET["after"]) if "after" in request.GET else None
    except ValueError:
        return None
