"""The metrics page: interrupts and decisions by day and by tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.platform import clock
from inbox.queries.audit.tool_calls import agents_and_teams
from inbox.queries.decisions.inbox_lists import COUNT_UP_TO
from inbox.queries.decisions.metrics import metrics_for
from inbox.rules.decisions.metrics import (
    DEFAULT_DAYS,
    WINDOWS,
    DecisionTimes,
    OutcomeCounts,
    days_ending,
)
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.audit.audit_rows import span
from inbox.web.base.list_filters import Option, Select
from inbox.web.base.pages import bounded, page, show

#: The most tools in the table; the others are only counted.
_TOOLS = 25
#: The parts of a bar from the bottom up: CSS classes and names of counts.
_PARTS = ("approved", "denied", "expired", "others")
_WIDTH, _HEIGHT = 10, 100
_NONE = "\N{EN DASH}"


@dataclass(frozen=True)
class Bar:
    """A part of one day's bar in chart units; strings, so that they are not localized."""

    part: str
    x: str
    y: str
    height: str


@dataclass(frozen=True)
class ToolRow:
    name: str
    url: str
    calls: int
    approved: str
    share: str  #: percent approved; "" without decisions
    edited: str
    expired: int
    median: str
    p90: str


@dataclass(frozen=True)
class Window:
    """A selectable number of days."""

    url: str
    name: str
    is_current: bool


@page
def metrics(request: HttpRequest, actor: Actor) -> HttpResponse:
    count, team = _days(request), request.GET.get("team", "")[:200].replace("\0", "")
    today = clock.now().date()
    days = days_ending(today, count)
    statistics = metrics_for(actor, days, team=team)
    tools = [_tool_row(name, *counted) for name, counted in statistics.by_tool.items()]
    top = max((counts.all for _, counts in statistics.by_day), default=0)
    context: dict[str, Any] = {
        "statistics": statistics,
        "windows": [
            Window(_address(length, team), _named(length), length == count) for length in WINDOWS
        ],
        "days": count,
        "team": team,
        "teams": _teams(actor, team),
        "top": top,
        "bars": _bars([counts for _, counts in statistics.by_day], top),
        "view_box": f"0 0 {_WIDTH * len(days)} {_HEIGHT}",
        "rows": [(day, counts) for day, counts in statistics.by_day if day >= statistics.since][
            ::-1
        ],
        "is_cut": statistics.since > days[0],
        "first": days[0],
        "last": today,
        "tools": tools[:_TOOLS],
        "unlisted": len(tools[_TOOLS:]),
        "approved": _percent(statistics.counts.approval_rate),
        "edited": _percent(statistics.counts.edit_rate),
        "median": _duration(statistics.times.median),
        "p90": _duration(statistics.times.p90),
        "pending": bounded(statistics.pending)
        if statistics.pending >= COUNT_UP_TO
        else statistics.pending,
        "oldest_age": span(clock.now() - statistics.oldest.created_at) if statistics.oldest else "",
        "is_empty": not (statistics.counts.all or statistics.expired or statistics.pending),
    }
    return show(request, actor, "audit/metrics.html", context, section="audit")


def _days(request: HttpRequest) -> int:
    """Return the selected number of days, or the default for an invalid one."""
    text = request.GET.get("days", "")
    return next((days for days in WINDOWS if text == str(days)), DEFAULT_DAYS)


def _address(days: int, team: str) -> str:
    query = {"days": str(days), **({"team": team} if team else {})}
    return f"{reverse('metrics')}?{urlencode(query)}"


def _named(days: int) -> str:
    return gettext("{count} days").format(count=days)


def _teams(actor: Actor, chosen: str) -> Select | None:
    """Return the team drop-down, None for fewer than two teams."""
    _, teams = agents_and_teams(actor)
    if len(teams) < 2:
        return None
    options = [("", gettext("Any")), *((slug, escape_invisible(name)) for slug, name in teams)]
    return Select(
        "team", gettext("Team"), [Option(slug, name, slug == chosen) for slug, name in options]
    )


def _tool_row(name: str, counts: OutcomeCounts, times: DecisionTimes) -> ToolRow:
    share = counts.approval_rate
    return ToolRow(
        name=escape_invisible(name),
        url=f"{reverse('audit')}?{urlencode({'tool': name})}",
        calls=counts.all,
        approved=_percent(share),
        share="" if share is None else str(round(100 * share)),
        edited=_percent(counts.edit_rate),
        expired=counts.expired,
        median=_duration(times.median),
        p90=_duration(times.p90),
    )


def _bars(days: Sequence[OutcomeCounts], top: int) -> list[Bar]:
    bars = []
    for index, counts in enumerate(days):
        top_edge = float(_HEIGHT)
        for part in _PARTS:
            height = _HEIGHT * getattr(counts, part) / top if top else 0.0
            if height:
                top_edge -= height
                x = _WIDTH * index + _WIDTH * 0.1
                bars.append(Bar(part, f"{x:.1f}", f"{top_edge:.2f}", f"{height:.2f}"))
    return bars


def _percent(share: float | None) -> str:
    return _NONE if share is None else f"{round(100 * share)}\N{NO-BREAK SPACE}%"


def _duration(seconds: float | None) -> str:
    return _NONE if seconds is None else span(timedelta(seconds=seconds))
