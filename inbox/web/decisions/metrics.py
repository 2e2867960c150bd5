"""The page on oversight: what came of tool calls, when requests wait, by tool and by team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext, ngettext

from inbox.platform import clock
from inbox.queries.audit.tool_calls import agents_and_teams
from inbox.queries.decisions.metrics import (
    MAX_PENDING,
    EarlierFigures,
    Metrics,
    Share,
    earlier_figures,
    metrics_for,
)
from inbox.rules.decisions.metrics import (
    DEFAULT_DAYS,
    WINDOWS,
    DecisionTimes,
    OutcomeCounts,
    by_series,
    days_ending,
)
from inbox.rules.people.access import POLICY, Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.charts import FEWEST, Bucket, ColumnChart, Slice, bar_of, column_chart
from inbox.web.base.days import day_name, today
from inbox.web.base.durations import duration_text
from inbox.web.base.list_filters import Select
from inbox.web.base.numbers import number_text, percent_text
from inbox.web.base.pages import page, show

if TYPE_CHECKING:
    from inbox.models import Interrupt

#: The most tools in the table; the others are only counted.
_TOOLS = 25
#: The tools whose waits are drawn.
_WAITS = 6
#: The upper bounds of the colours of waiting times, in minutes.
_MINUTES = (5, 10, 20, 40)
_CELL = 20
_TICKS = 7
_NONE = "\N{EN DASH}"


@dataclass(frozen=True)
class Cell:
    """The requests of one hour of a weekday; coordinates are texts, which no language rewrites."""

    day: str
    hour: str
    count: int
    median: str
    level: int  #: of the colour, from 0
    x: str
    y: str


@dataclass(frozen=True)
class ToolRow:
    name: str
    url: str
    calls: int
    bar: Sequence[Slice]  #: the outcomes of the calls
    wait: str  #: the width of the median wait; of the longest one it is 100
    by_rule: int
    approved: str
    edited: str
    expired: int
    median: str
    p90: str


@dataclass(frozen=True)
class ShareRow:
    """The decisions of one team."""

    name: str
    url: str
    decisions: int
    approved: str
    edited: str
    median: str


@dataclass(frozen=True)
class Tile:
    """A figure of the period."""

    name: str
    value: str
    note: str = ""
    url: str = ""
    change: str = ""  #: from the period before, "" if there are no figures of it


@dataclass(frozen=True)
class Window:
    """A selectable number of days."""

    url: str
    name: str
    is_current: bool


@page
def metrics(request: HttpRequest, actor: Actor) -> HttpResponse:
    count, team = _days(request), request.GET.get("team", "")[:200].replace("\0", "")
    zone, days = get_current_timezone(), days_ending(today(), count)
    statistics = metrics_for(actor, days, team=team, zone=zone)
    earlier = _earlier(actor, days, team) if statistics.since <= days[0] else None
    longest = max((times.median or 0 for _, times in statistics.by_tool.values()), default=0)
    tools = [
        _tool_row(name, days[0], *counted, longest=longest)
        for name, counted in statistics.by_tool.items()
    ]
    drawn_days = _drawn_days(statistics, is_first=earlier is None)
    chart = column_chart(
        [
            _bucket(day, counts, team, has_tick=ago % ceil(len(drawn_days) / _TICKS) == 0)
            for ago, (day, counts) in zip(
                range(len(drawn_days) - 1, -1, -1), drawn_days, strict=True
            )
        ]
    )
    cells = _cells(statistics)
    context: dict[str, Any] = {
        "statistics": statistics,
        "windows": [
            Window(_address(length, team), _named(length), length == count) for length in WINDOWS
        ],
        "days": count,
        "team": team,
        "teams": _teams(actor, team),
        "chart": chart if chart.total >= FEWEST else None,
        "chart_title": _chart_title(chart),
        "first_day": day_name(drawn_days[0][0]) if len(drawn_days) < count else "",
        "cells": cells if statistics.times.count >= FEWEST else [],
        "cells_title": _cells_title(cells),
        "weekdays": [(WEEKDAYS_ABBR[day], str(_CELL * day + 14)) for day in range(7)],
        "hours": [(f"{hour:02}:00", str(_CELL * hour)) for hour in range(0, 24, 4)],
        "is_cut": statistics.since > days[0],
        "tools": tools[:_TOOLS],
        "tools_title": _tools_title(statistics),
        "waits": _longest_waits(statistics, tools),
        "has_earlier": earlier is not None,
        "unlisted": len(tools[_TOOLS:]),
        "tiles": _tiles(statistics, days, earlier),
        "since": day_name(statistics.since),
        "shares": [_share_row(row, _address(count, row.key)) for row in statistics.by_team],
        "is_empty": not (statistics.counts.all or statistics.expired or statistics.pending),
    }
    return show(request, actor, "audit/metrics.html", context, section="metrics")


def _earlier(actor: Actor, days: Sequence[date], team: str) -> EarlierFigures | None:
    """Return the figures of as many days before, None without any."""
    before = days_ending(days[0] - timedelta(days=1), len(days))
    figures = earlier_figures(actor, before, team=team, zone=get_current_timezone())
    return None if figures is None or figures.is_empty else figures


def _drawn_days(statistics: Metrics, *, is_first: bool) -> Sequence[tuple[date, OutcomeCounts]]:
    """Return the days to draw: of the first period those since the first call, at least a week."""
    days = statistics.by_day
    empty = next((index for index, (_, counts) in enumerate(days) if counts.all), 0)
    return days[min(empty, len(days) - WINDOWS[0]) :] if is_first else days


def _bucket(day: date, counts: OutcomeCounts, team: str, *, has_tick: bool) -> Bucket:
    query = {"since": day, "until": day, **({"team": team} if team else {})}
    series, name = by_series(counts.by_outcome), day_name(day)
    return Bucket(name, series, tick=name if has_tick else "", url=_audit(query))


def _chart_title(chart: ColumnChart) -> str:
    if chart.busiest is None:
        return ""
    says = ngettext("{count} call, on {day}.", "{count} calls, most on {day}: {most}.", chart.total)
    return says.format(
        count=number_text(chart.total),
        day=chart.busiest.name,
        most=number_text(chart.busiest.total),
    )


def _cells(statistics: Metrics) -> list[Cell]:
    return [
        Cell(
            day=str(WEEKDAYS[weekday]),
            hour=f"{hour:02}:00",
            count=times.count,
            median=_duration(times.median),
            level=sum((times.median or 0) >= 60 * minutes for minutes in _MINUTES),
            x=str(_CELL * hour),
            y=str(_CELL * weekday),
        )
        for (weekday, hour), times in sorted(statistics.by_hour.items())
    ]


def _cells_title(cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    busiest = max(cells, key=lambda cell: cell.count)
    says = gettext("Most requests come on {day} at {hour}: {count}, median wait {median}.")
    return says.format(
        day=busiest.day,
        hour=busiest.hour,
        count=number_text(busiest.count),
        median=busiest.median,
    )


def _tools_title(statistics: Metrics) -> str:
    """Say which tool was put before people most often."""
    questions = {name: counts.questions for name, (counts, _) in statistics.by_tool.items()}
    name = max(questions, key=lambda tool: questions[tool], default="")
    if not questions.get(name):
        return ""
    says = gettext("{tool} causes most: {count} of {total}.")
    return says.format(
        tool=escape_invisible(name),
        count=number_text(questions[name]),
        total=number_text(sum(questions.values())),
    )


def _longest_waits(statistics: Metrics, tools: Sequence[ToolRow]) -> Sequence[ToolRow]:
    """Return the tools whose requests wait longest."""
    medians = [times.median or 0 for _, times in statistics.by_tool.values()]
    waits = [(median, row) for median, row in zip(medians, tools, strict=True) if median]
    return [row for _, row in sorted(waits, key=lambda item: -item[0])[:_WAITS]]


def _tiles(statistics: Metrics, days: Sequence[date], earlier: EarlierFigures | None) -> list[Tile]:
    counts, times, oldest = statistics.counts, statistics.times, statistics.oldest
    before = earlier.counts if earlier else None
    since = {"since": days[0]}
    return [
        Tile(
            gettext("Tool calls"),
            number_text(counts.all),
            url=_audit(since),
            change=_change(counts.all, before.all if before else None),
        ),
        Tile(
            gettext("Ran by rule"),
            number_text(counts.by_rule),
            url=_audit({**since, "by": POLICY.ident}),
            change=_change(counts.by_rule, before.by_rule if before else None),
        ),
        Tile(
            gettext("Approval rate"),
            _percent(counts.approval_rate),
            gettext("{count} approved").format(count=number_text(counts.approved)),
            _audit({**since, "decision": "approved"}),
            _change_of_share(counts.approval_rate, before.approval_rate if before else None),
        ),
        Tile(
            gettext("Edited before approval"),
            _percent(counts.edit_rate),
            gettext("{count} edited").format(count=number_text(counts.edited)),
            _audit({**since, "decision": "edited"}),
            _change_of_share(counts.edit_rate, before.edit_rate if before else None),
        ),
        Tile(
            gettext("Median response time"),
            _duration(times.median),
            gettext("90\N{NO-BREAK SPACE}% within {time}").format(time=_duration(times.p90))
            if times.count
            else "",
            change=gettext("was {time}").format(time=_duration(earlier.times.median))
            if earlier and earlier.times.count
            else "",
        ),
        Tile(
            gettext("Expired requests"),
            number_text(statistics.expired),
            url=f"{reverse('decided')}?state=expired",
            change=_change(statistics.expired, earlier.expired if earlier else None),
        ),
        Tile(
            gettext("Pending requests"),
            number_text(statistics.pending) + ("+" if statistics.pending == MAX_PENDING else ""),
            gettext("oldest: {time}").format(time=_duration(_age(oldest))) if oldest else "",
            reverse("interrupt", args=[oldest.pk]) if oldest else reverse("pending"),
        ),
    ]


def _change(count: int, before: int | None) -> str:
    """Say how a number differs from the one of the period before, "" without one."""
    if before is None:
        return ""
    if count == before:
        return gettext("as many as before")
    more, fewer = gettext("{count} more than before"), gettext("{count} fewer than before")
    says = more if count > before else fewer
    return says.format(count=number_text(abs(count - before)))


def _change_of_share(share: float | None, before: float | None) -> str:
    """Say how a share differs from the one of the period before in points, "" without one."""
    if share is None or before is None:
        return ""
    points = round(100 * share) - round(100 * before)
    if not points:
        return gettext("as before")
    says = ngettext("{count} point more", "{count} points more", points)
    if points < 0:
        says = ngettext("{count} point less", "{count} points less", -points)
    return says.format(count=number_text(abs(points)))


def _age(interrupt: Interrupt) -> float:
    return (clock.now() - interrupt.created_at).total_seconds()


def _audit(parameters: Mapping[str, Any]) -> str:
    return f"{reverse('audit')}?{urlencode(parameters)}"


def _share_row(row: Share, url: str) -> ShareRow:
    return ShareRow(
        name=escape_invisible(row.name),
        url=url,
        decisions=row.counts.all,
        approved=_percent(row.counts.approval_rate),
        edited=_percent(row.counts.edit_rate),
        median=_duration(row.times.median),
    )


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


def _tool_row(
    name: str, since: date, counts: OutcomeCounts, times: DecisionTimes, *, longest: float
) -> ToolRow:
    return ToolRow(
        name=escape_invisible(name),
        url=f"{reverse('audit')}?{urlencode({'tool': name, 'since': since})}",
        calls=counts.all,
        bar=bar_of(by_series(counts.by_outcome)),
        wait=f"{100 * (times.median or 0) / (longest or 1):.1f}",
        by_rule=counts.by_rule,
        approved=_percent(counts.approval_rate),
        edited=_percent(counts.edit_rate),
        expired=counts.expired,
        median=_duration(times.median),
        p90=_duration(times.p90),
    )


def _percent(share: float | None) -> str:
    return _NONE if share is None else percent_text(share)


def _duration(seconds: float | None) -> str:
    return _NONE if seconds is None else duration_text(timedelta(seconds=seconds))
