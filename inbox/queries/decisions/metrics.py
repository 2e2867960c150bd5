"""How much is asked, how it is decided, and how fast."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, IntegerField, QuerySet, Value, When

from inbox.models import Interrupt, Team, ToolCall
from inbox.queries.decisions.inbox_lists import COUNT_UP_TO
from inbox.queries.people.access import access_scope
from inbox.rules.audit.audit_filters import first_id_after, first_id_of
from inbox.rules.decisions.metrics import DecisionTimes, OutcomeCounts, decision_times
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus

#: So many calls are counted, the latest, and so many answers timed, whatever the days hold.
MAX_CALLS = 200_000
MAX_ANSWERS = 5_000


@dataclass(frozen=True)
class Metrics:
    """What happened in some days, in some teams."""

    by_day: Sequence[tuple[date, OutcomeCounts]]
    by_tool: Mapping[str, tuple[OutcomeCounts, DecisionTimes]]  #: the tool with most calls first
    counts: OutcomeCounts
    times: DecisionTimes
    since: date  #: the first day that is counted
    is_sampled: bool  #: whether more answers were given than are timed
    expired: int  #: requests that nobody answered in time
    pending: int  #: requests that wait, up to COUNT_UP_TO
    oldest: Interrupt | None  #: the one that has waited longest


def metrics_for(actor: Actor, days: Sequence[date], *, team: str = "") -> Metrics:
    """Those of the actor's teams, or of one of them by its slug; calls count when proposed."""
    teams, _ = access_scope(actor)
    if team:
        teams = list(Team.objects.filter(pk__in=teams, slug=team).values_list("pk", flat=True))
    since = max((_counted_since(pk, days[0]) for pk in teams), default=days[0])
    counted = [day for day in days if day >= since]
    by_day, by_tool = _counted(teams, counted)
    answered = _answers(teams, counted[0]) if counted else []
    seconds: dict[str, list[float]] = defaultdict(list)
    for tool, took in answered[:MAX_ANSWERS]:
        seconds[tool].append(took)
    oldest = [_waiting(pk).order_by("pk").first() for pk in teams]
    return Metrics(
        by_day=[(day, OutcomeCounts(by_day[day])) for day in days],
        by_tool={
            tool: (OutcomeCounts(found), decision_times(seconds[tool]))
            for tool, found in sorted(by_tool.items(), key=lambda one: (-one[1].total(), one[0]))
        },
        counts=OutcomeCounts(sum(by_tool.values(), Counter())),
        times=decision_times([took for _, took in answered[:MAX_ANSWERS]]),
        since=since,
        is_sampled=len(answered) > MAX_ANSWERS,
        expired=sum(_closed(pk, InterruptStatus.EXPIRED, days[0]).count() for pk in teams),
        pending=min(COUNT_UP_TO, sum(_waiting(pk)[:COUNT_UP_TO].count() for pk in teams)),
        oldest=min(filter(None, oldest), key=lambda row: row.pk, default=None),
    )


def _counted_since(team: UUID, first: date) -> date:
    """The first day all of whose calls are among the latest MAX_CALLS of the team."""
    rows = ToolCall.objects.filter(team=team, pk__gte=first_id_of(first)).order_by("-pk")
    for pk in rows.values_list("pk", flat=True)[MAX_CALLS : MAX_CALLS + 1]:
        made = datetime.fromtimestamp((pk.int >> 80) / 1000, UTC).date()
        return date.fromordinal(made.toordinal() + 1)
    return first


def _counted(
    teams: Sequence[UUID], days: Sequence[date]
) -> tuple[Mapping[date, Counter[str]], Mapping[str, Counter[str]]]:
    """The calls by the day on which they were proposed and by tool, each by verdict."""
    by_day: dict[date, Counter[str]] = defaultdict(Counter)
    by_tool: dict[str, Counter[str]] = defaultdict(Counter)
    for team in teams if days else ():
        rows = ToolCall.objects.filter(team=team, pk__gte=first_id_of(days[0]))
        end = first_id_after(days[-1])
        rows = rows if end is None else rows.filter(pk__lt=end)
        found = rows.annotate(day=_day_of(days)).values_list("day", "name", "verdict")
        for day, name, verdict, count in found.annotate(count=Count("pk")).order_by():
            by_day[days[day]][verdict] += count
            by_tool[name][verdict] += count
    return by_day, by_tool


def _day_of(days: Sequence[date], first: int = 0) -> Any:
    """The place of a call's day among these, by its key, which is in the order of time."""
    if len(days) == 1:
        return Value(first, output_field=IntegerField())
    # By halves: seven comparisons instead of ninety for each row.
    half = len(days) // 2
    return Case(
        When(pk__lt=first_id_of(days[half]), then=_day_of(days[:half], first)),
        default=_day_of(days[half:], first + half),
    )


def _answers(teams: Sequence[UUID], first: date) -> list[tuple[str, float]]:
    """The tool and the seconds of the latest answers, one more than is timed."""
    found: list[tuple[Any, datetime, str]] = []
    for team in teams:
        rows = _closed(team, InterruptStatus.RESOLVED, first).order_by("-closed_at")
        found += rows.values_list("closed_at", "created_at", "tool")[: MAX_ANSWERS + 1]
    latest = sorted(found, reverse=True)[: MAX_ANSWERS + 1]
    return [(tool, (closed - asked).total_seconds()) for closed, asked, tool in latest]


def _closed(team: UUID, status: InterruptStatus, first: date) -> "QuerySet[Interrupt]":
    begun = datetime(first.year, first.month, first.day, tzinfo=UTC)
    # Said twice: only so it is known to be within the partial index of what is closed.
    closed = Interrupt.objects.exclude(status=InterruptStatus.OPEN)
    return closed.filter(team=team, status=status, closed_at__gte=begun)


def _waiting(team: UUID) -> "QuerySet[Interrupt]":
    return Interrupt.objects.filter(team=team, status=InterruptStatus.OPEN)
