"""Metrics of decisions: counts by outcome, day and tool, and decision times."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import F, QuerySet

from inbox.models import Interrupt, Team, ToolCall
from inbox.queries.audit.call_counts import count_calls, counted_since
from inbox.queries.people.access import access_scope
from inbox.rules.decisions.metrics import DecisionTimes, OutcomeCounts, decision_times
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus

#: The number of the latest calls that are counted in each team, and of decisions that are timed.
MAX_CALLS = 200_000
MAX_ANSWERS = 5_000
#: Open requests are counted up to this number in each team.
MAX_PENDING = 10_000
MAX_SHARES = 25

Key = TypeVar("Key")


@dataclass(frozen=True)
class Metrics:
    """Metrics of some days in some teams."""

    by_day: Sequence[tuple[date, OutcomeCounts]]
    by_tool: Mapping[str, tuple[OutcomeCounts, DecisionTimes]]  #: the most called tool first
    counts: OutcomeCounts
    times: DecisionTimes
    since: date  #: the first day that is counted
    is_sampled: bool  #: there were more decisions than are timed
    expired: int  #: expired requests
    pending: int  #: open requests, up to MAX_PENDING
    oldest: Interrupt | None  #: the open request that has waited longest
    by_hour: Mapping[tuple[int, int], DecisionTimes]  #: opened then: weekday from 0, hour
    by_team: Sequence["Share"]


@dataclass(frozen=True)
class EarlierFigures:
    """The same figures of the days before a period, to compare it with."""

    counts: OutcomeCounts
    times: DecisionTimes
    expired: int

    @property
    def is_empty(self) -> bool:
        return not (self.counts.all or self.times.count or self.expired)


@dataclass(frozen=True)
class Share:
    """The part that one team has in the timed decisions."""

    key: str  #: the slug of the team
    name: str
    counts: OutcomeCounts
    times: DecisionTimes


@dataclass(frozen=True)
class _Timed:
    closed_at: datetime
    seconds: float
    tool: str
    verdict: str
    team: UUID

    def opened_in(self, zone: tzinfo) -> tuple[int, int]:
        opened_at = (self.closed_at - timedelta(seconds=self.seconds)).astimezone(zone)
        return opened_at.weekday(), opened_at.hour


def metrics_for(
    actor: Actor, days: Sequence[date], *, team: str = "", zone: tzinfo = UTC
) -> Metrics:
    """
    Return metrics of the actor's teams, or of one team; a call counts on the day proposed.

    `zone` is that of the days and hours.
    """
    teams = _teams_in(actor, team)
    calls = [ToolCall.objects.filter(team=pk) for pk in teams]
    since = max((counted_since(part, days, MAX_CALLS, zone) for part in calls), default=days[0])
    counted_days = [day for day in days if day >= since]
    by_day, by_tool = _counts(calls, counted_days, zone)
    decisions = _timed_decisions(teams, _start_of(counted_days[0], zone)) if counted_days else []
    is_sampled, decisions = len(decisions) > MAX_ANSWERS, decisions[:MAX_ANSWERS]
    seconds = _seconds_by(decisions, lambda row: row.tool)
    seconds_by_hour = _seconds_by(decisions, lambda row: row.opened_in(zone))
    start = _start_of(days[0], zone)
    oldest = [_pending(pk).order_by("pk").first() for pk in teams]
    return Metrics(
        by_day=[(day, OutcomeCounts(by_day[day])) for day in days],
        by_tool={
            tool: (OutcomeCounts(counts), decision_times(seconds.get(tool, [])))
            for tool, counts in sorted(
                by_tool.items(), key=lambda item: (-item[1].total(), item[0])
            )
        },
        counts=OutcomeCounts(sum(by_tool.values(), Counter())),
        times=decision_times([row.seconds for row in decisions]),
        since=since,
        is_sampled=is_sampled,
        expired=sum(_closed(pk, InterruptStatus.EXPIRED, start).count() for pk in teams),
        pending=min(MAX_PENDING, sum(_pending(pk)[:MAX_PENDING].count() for pk in teams)),
        oldest=min(filter(None, oldest), key=lambda row: row.pk, default=None),
        by_hour={hour: decision_times(times) for hour, times in seconds_by_hour.items()},
        by_team=_by_team(decisions) if len(teams) > 1 else [],
    )


def earlier_figures(
    actor: Actor, days: Sequence[date], *, team: str = "", zone: tzinfo = UTC
) -> EarlierFigures | None:
    """Return the figures of these days; None if there are too many calls to count."""
    teams = _teams_in(actor, team)
    calls = [ToolCall.objects.filter(team=pk) for pk in teams]
    if any(counted_since(part, days, MAX_CALLS, zone) > days[0] for part in calls):
        return None
    _, by_tool = _counts(calls, days, zone)
    start, end = _start_of(days[0], zone), _start_of(days[-1] + timedelta(days=1), zone)
    decisions = _timed_decisions(teams, start, end)[:MAX_ANSWERS]
    expired = [_closed(pk, InterruptStatus.EXPIRED, start, end).count() for pk in teams]
    return EarlierFigures(
        OutcomeCounts(sum(by_tool.values(), Counter())),
        decision_times([row.seconds for row in decisions]),
        sum(expired),
    )


def _teams_in(actor: Actor, team: str) -> Sequence[UUID]:
    """Return the ids of the actor's teams, or of the one with this slug."""
    teams, _ = access_scope(actor)
    if not team:
        return teams
    return list(Team.objects.filter(pk__in=teams, slug=team).values_list("pk", flat=True))


def _counts(
    parts: "Sequence[QuerySet[ToolCall]]", days: Sequence[date], zone: tzinfo
) -> tuple[Mapping[date, Counter[str]], Mapping[str, Counter[str]]]:
    """Return the numbers of calls by day and outcome, and by tool and outcome."""
    by_day: dict[date, Counter[str]] = defaultdict(Counter)
    by_tool: dict[str, Counter[str]] = defaultdict(Counter)
    for day, kind, name, count in count_calls(parts, days, "name", zone=zone):
        by_day[day][kind] += count
        by_tool[name][kind] += count
    return by_day, by_tool


def _timed_decisions(
    teams: Sequence[UUID], start: datetime, end: datetime | None = None
) -> list[_Timed]:
    """Return the latest decisions: MAX_ANSWERS + 1."""
    values: list[tuple[Any, ...]] = []
    for team in teams:
        rows = _closed(team, InterruptStatus.RESOLVED, start, end).order_by("-closed_at")
        rows = rows.exclude(closed_at=F("created_at"))  # answered by policy: nobody waited
        columns = ("closed_at", "created_at", "tool", "tool_call__verdict", "team")
        values += rows.values_list(*columns)[: MAX_ANSWERS + 1]
    latest = sorted(values, key=lambda row: row[0], reverse=True)[: MAX_ANSWERS + 1]
    return [
        _Timed(closed_at, (closed_at - opened_at).total_seconds(), tool, verdict or "", pk)
        for closed_at, opened_at, tool, verdict, pk in latest
    ]


def _seconds_by(rows: Iterable[_Timed], key: Callable[[_Timed], Key]) -> dict[Key, list[float]]:
    seconds: dict[Key, list[float]] = defaultdict(list)
    for row in rows:
        seconds[key(row)].append(row.seconds)
    return seconds


def _by_team(rows: Sequence[_Timed]) -> list[Share]:
    groups = _grouped(rows, lambda row: row.team)
    teams = Team.objects.in_bulk(list(groups))
    return _shares({(teams[pk].slug, teams[pk].name): groups[pk] for pk in groups})


def _grouped(rows: Iterable[_Timed], key: Callable[[_Timed], Key]) -> dict[Key, list[_Timed]]:
    groups: dict[Key, list[_Timed]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def _shares(groups: Mapping[tuple[str, str], Sequence[_Timed]]) -> list[Share]:
    """Return the first MAX_SHARES, who decided most first."""
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0][1]))
    return [
        Share(
            key,
            name,
            OutcomeCounts(Counter(row.verdict for row in rows)),
            decision_times([row.seconds for row in rows]),
        )
        for (key, name), rows in ordered[:MAX_SHARES]
    ]


def _start_of(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _closed(
    team: UUID, status: InterruptStatus, start: datetime, end: datetime | None = None
) -> "QuerySet[Interrupt]":
    # The redundant condition lets the planner use the partial index on closed interrupts.
    closed = Interrupt.objects.exclude(status=InterruptStatus.OPEN)
    rows = closed.filter(team=team, status=status, closed_at__gte=start)
    return rows if end is None else rows.filter(closed_at__lt=end)


def _pending(team: UUID) -> "QuerySet[Interrupt]":
    return Interrupt.objects.filter(team=team, status=InterruptStatus.OPEN)
