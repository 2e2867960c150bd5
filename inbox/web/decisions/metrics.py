"""The metrics page: interrupts and decisions by day and by tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext

from inbox.platform import clock
from inbox.queries.audit.tool_calls import agents_and_teams
from inbox.queries.decisions.metrics import MAX_PENDING, Metrics, Share, metrics_for
from inbox.rules.decisions.metrics import (
    DEFAULT_DAYS,
    WINDOWS,
    DecisionTimes,
    OutcomeCounts,
    days_ending,
    decision_times,
)
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.durations import duration_text
from inbox.web.base.list_filters import Select
from inbox.web.base.pages import page, show

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
class ShareRow:
    """The decisions of one person or team."""

    name: str
    url: str
    decisions: int
    approved: str
    edited: str
    median: str


@dataclass(frozen=True)
class Tile:
    """A figure of the period, that of today, and how it went day by day."""

    name: str
    value: str
    today: str = ""
    url: str = ""
    line: str = ""  #: points of an SVG polyline, "" without a trend


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
    tools = [_tool_row(name, days[0], *counted) for name, counted in statistics.by_tool.items()]
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
        "tiles": _tiles(statistics, days),
        "people": [
            _share_row(row, f"{reverse('audit')}?{urlencode({'by': row.key, 'since': days[0]})}")
            for row in statistics.by_person
        ],
        "shares": [_share_row(row, _address(count, row.key)) for row in statistics.by_team],
        "is_empty": not (statistics.counts.all or statistics.expired or statistics.pending),
    }
    return show(request, actor, "audit/metrics.html", context, section="metrics")


def _tiles(statistics: Metrics, days: Sequence[date]) -> list[Tile]:
    counts, times = statistics.counts, statistics.times
    by_day = dict(statistics.by_day)
    today, timed = by_day[days[-1]], statistics.seconds_by_day
    timed_today = timed[days[-1]] if days[-1] in timed else decision_times([])
    since = {"since": days[0]}
    oldest = statistics.oldest
    return [
        Tile(
            gettext("Tool calls"),
            _number(counts.all),
            _number(today.all),
            _audit(since),
            _line([by_day[day].all for day in days]),
        ),
        Tile(
            gettext("Approval rate"),
            _percent(counts.approval_rate),
            _percent(today.approval_rate),
            _audit({**since, "decision": "approved"}),
            _line([by_day[day].approval_rate for day in days]),
        ),
        Tile(
            gettext("Edited before approval"),
            _percent(counts.edit_rate),
            _percent(today.edit_rate),
            _audit({**since, "decision": "edited"}),
            _line([by_day[day].edit_rate for day in days]),
        ),
        Tile(
            gettext("Median response time"),
            _duration(times.median),
            _duration(timed_today.median),
            line=_line([timed[day].median if day in timed else None for day in days]),
        ),
        Tile(
            gettext("90th percentile response time"),
            _duration(times.p90),
            _duration(timed_today.p90),
            line=_line([timed[day].p90 if day in timed else None for day in days]),
        ),
        Tile(
            gettext("Expired requests"),
            _number(statistics.expired),
            url=f"{reverse('decided')}?state=expired",
        ),
        Tile(
            gettext("Pending requests"),
            _number(statistics.pending) + ("+" if statistics.pending == MAX_PENDING else ""),
            url=reverse("pending"),
        ),
        Tile(
            gettext("Oldest pending"),
            duration_text(clock.now() - oldest.created_at) if oldest else _NONE,
            url=reverse("interrupt", args=[oldest.pk]) if oldest else "",
        ),
    ]


def _audit(parameters: Mapping[str, Any]) -> str:
    return f"{reverse('audit')}?{urlencode(parameters)}"


def _line(values: Sequence[float | None]) -> str:
    """Return the points of a trend in a box of 100 by 20; days without a value are left out."""
    points = [(day, value) for day, value in enumerate(values) if value is not None]
    top = max((value for _, value in points), default=0)
    if len(points) < 2 or not top:
        return ""
    step = 100 / (len(values) - 1)
    return " ".join(f"{day * step:.1f},{19 - 18 * value / top:.1f}" for day, value in points)


def _share_row(row: Share, url: str) -> ShareRow:
    return ShareRow(
        name=escape_invisible(row.name),
        url=url,
        decisions=row.counts.all,
        approved=_percent(row.counts.approval_rate),
        edited=_percent(row.counts.edit_rate),
        median=_duration(row.times.median),
    )


def _number(count: int) -> str:
    return number_format(count, use_l10n=True, force_grouping=True)


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
    return Select.of("team", gettext("Team"), options, chosen)


def _tool_row(name: str, since: date, counts: OutcomeCounts, times: DecisionTimes) -> ToolRow:
    share = counts.approval_rate
    return ToolRow(
        name=escape_invisible(name),
        url=f"{reverse('audit')}?{urlencode({'tool': name, 'since': since})}",
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
    return _NONE if seconds is None else duration_text(timedelta(seconds=seconds))
