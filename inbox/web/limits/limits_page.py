"""The page of a team's limits, with its use of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext, gettext_noop

from inbox.actions.limits.set_limits import set_team_limits
from inbox.queries.limits.team_limits import limits_in_use, team_to_limit, team_with_limits
from inbox.queries.people.access import is_installation_admin, permissions_in
from inbox.queries.people.members import TeamAccess
from inbox.rules import errors
from inbox.rules.limits.team_limits import Limit, LimitUse
from inbox.rules.people.access import Actor
from inbox.web.base.numbers import number_text
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame

if TYPE_CHECKING:
    from inbox.models import Team

#: The name of each limit, and what happens at it.
LIMITS: Mapping[Limit, tuple[str, str]] = {
    Limit.RUNNING_RUNS: (
        gettext_noop("Running runs"),
        gettext_noop("Further runs stay queued."),
    ),
    Limit.QUEUED_RUNS: (
        gettext_noop("Queued runs"),
        gettext_noop("No new run is accepted. Approved calls continue."),
    ),
    Limit.OPEN_REQUESTS: (
        gettext_noop("Open requests"),
        gettext_noop("No new run is accepted, and a run that asks for more fails."),
    ),
    Limit.AGENT_OPEN_REQUESTS: (
        gettext_noop("Open requests of one agent"),
        gettext_noop("The agent starts nothing new. The use is that of the busiest agent."),
    ),
    Limit.AGENT_REQUESTS_PER_MINUTE: (
        gettext_noop("Requests of one program in a minute"),
        gettext_noop("The program has to wait. The use is that of the busiest one."),
    ),
    Limit.THREADS: (
        gettext_noop("Threads"),
        gettext_noop("No new thread begins; the others continue."),
    ),
    Limit.STREAMS: (
        gettext_noop("Event streams"),
        gettext_noop("No further stream is opened. Counted in each web process."),
    ),
    Limit.SOCKETS: (
        gettext_noop("Open pages"),
        gettext_noop("Further pages have no live updates. Counted in each web process."),
    ),
    Limit.EVENT_BYTES: (
        gettext_noop("Stored events"),
        gettext_noop("No new run is accepted. Counted every five minutes."),
    ),
    Limit.FILE_BYTES: (gettext_noop("Stored files"), gettext_noop("No file is accepted.")),
}
_BYTES = (Limit.EVENT_BYTES, Limit.FILE_BYTES)
#: The percentage from which the page draws attention to a limit.
_NEAR_PERCENT = 80


@page
def limits(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team_with_limits(actor, team))


@page
def change_page(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team_to_limit(actor, team), typed={})


@post_page
def save(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    row = team_to_limit(actor, team)
    typed = {limit.value: request.POST.get(limit.value, "").strip() for limit in Limit}
    values = {
        limit: _parse_number(typed[limit.value]) for limit in Limit if limit.value in request.POST
    }
    try:
        set_team_limits(team_id=row.pk, limits=values, actor=actor)
    except errors.InvalidValue as refusal:
        problems = refusal.detail["problems"]
        return _show(request, actor, row, typed=typed, problems=problems, status=422)
    return see_other("change_limits", row.slug)


def _show(
    request: HttpRequest,
    actor: Actor,
    team: Team,
    *,
    typed: Mapping[str, str] | None = None,
    problems: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the limits; with `typed`, the values of the form, as a form."""
    rows = [_row(use, typed or {}, problems or {}) for use in limits_in_use(team.pk)]
    access = TeamAccess(team, None, permissions_in(actor, team.pk))
    context = {
        "rows": rows,
        "is_form": typed is not None,
        "may_set": is_installation_admin(actor),
        **team_frame(actor, access, "limits"),
    }
    return show(request, actor, "limits/team_limits.html", context, section="teams", status=status)


def _row(use: LimitUse, typed: Mapping[str, str], problems: Mapping[str, Any]) -> dict[str, Any]:
    name, description = LIMITS[use.limit]
    key, own = use.limit.value, "" if use.own is None else str(use.own)
    return {
        "key": key,
        "name": gettext(name),
        "description": gettext(description),
        "used": _amount(use.limit, use.used),
        "most": _amount(use.limit, use.most),
        "default": _amount(use.limit, use.default),
        "is_own": use.own is not None,
        "percent": use.percent,
        "is_near": use.percent >= _NEAR_PERCENT,
        "value": typed.get(key, own),
        "problem": translate(problems[key][0]) if key in problems else "",
        "unit": gettext("bytes") if use.limit in _BYTES else "",
    }


def _amount(limit: Limit, number: int | None) -> str:
    """Return a number for people, "" without a limit."""
    if number is None:
        return ""
    return filesizeformat(number) if limit in _BYTES else number_text(number)


def _parse_number(text: str) -> int | None:
    """Parse a limit, None if it is empty; 0, which is refused, for anything else."""
    if not text:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 16 else 0
