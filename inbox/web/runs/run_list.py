"""The list of runs: one row for each thread, with its bar on the axis of its day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from inbox.platform import clock
from inbox.queries.agents import agents
from inbox.queries.runs.thread_runs import ThreadRuns, run_counts, threads_with_runs_for
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.run_filters import RunFilter, RunState
from inbox.rules.runs.states import RunStatus
from inbox.rules.text.ids import read_id
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.days import clock_text, day_heading, day_name
from inbox.web.base.durations import duration_text
from inbox.web.base.list_filters import Chip, Select
from inbox.web.base.pages import page, see_other, show
from inbox.web.base.zones import local
from inbox.web.runs.thread_timeline import RUN_STATES
from inbox.web.runs.time_axis import Bar, ThreadTimes, TimeAxis, thread_times

if TYPE_CHECKING:
    from inbox.models import Run

_PAGE = 50
_FIRST_DAY = date(1970, 1, 2)
#: The faces of one row; the names of all are in its text.
_MAX_FACES = 3
_STATES = {
    "": gettext_noop("All"),
    RunState.ACTIVE: gettext_noop("Running"),
    RunState.INTERRUPTED: gettext_noop("Waiting"),
    RunState.SUCCEEDED: gettext_noop("Finished"),
    RunState.FAILED: gettext_noop("Failed"),
    RunState.CANCELLED: gettext_noop("Cancelled"),
}
_LABELS = {
    "q": gettext_noop("Search"),
    "state": gettext_noop("State"),
    "agent": gettext_noop("Agent"),
    "since": gettext_noop("From"),
    "until": gettext_noop("To"),
}


@dataclass(frozen=True)
class RunsRow:
    """The runs of a thread in the list; equal rows have equal HTML."""

    thread_id: UUID
    title: str
    is_identifier: bool  #: the title is one word, such as "rehearse:multi_step"
    agent: str
    icon: str
    tone: str
    word: str  #: the state
    started: str
    bars: tuple[Bar, ...]
    grid: str
    times: str  #: the bars in words
    faces: tuple[tuple[int, str], ...]  #: of those who answered: id and name
    waiting: str  #: how many requests wait, "" if none does
    note: str  #: how long people took, or why it failed
    took: str


@dataclass(frozen=True)
class Day:
    """The rows of one day, which share an axis."""

    day: date
    title: str
    axis: TimeAxis
    rows: Sequence[RunsRow]


@page
def thread_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Redirect from the address of a page that the list of runs has replaced."""
    return see_other("runs")


@page
def run_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    filters, ignored = RunFilter.from_query(request.GET.dict())
    latest, groups = threads_with_runs_for(
        actor,
        filters,
        since=_midnight(filters.since),
        before=_midnight(filters.until, days=1),
        limit=_PAGE,
        after=read_id(request.GET.get("after", "")),
    )
    names = [agent.slug for agent in agents.agents_for(actor)]
    counts, url = run_counts(actor), reverse("runs")
    context = {
        # A thread is missing if its run has changed its state between the two reads.
        "days": _days([run for run in latest.rows if run.thread_id in groups], groups),
        "filters": filters,
        "url": _url(filters),
        "clear_url": url,
        "states": [
            (f"{url}?{filters.to_query(state=name)}", gettext(word), name == filters.state)
            for name, word in _STATES.items()
        ],
        "agents": Select.of(
            "agent",
            gettext("Agent"),
            [
                ("", gettext("Any")),
                *((name, name) for name in sorted({*names, filters.agent}) if name),
            ],
            filters.agent,
        ),
        "chips": [
            Chip(
                gettext(_LABELS[name]),
                _value(name, value),
                f"{url}?{filters.to_query(**{name: ''})}",
            )
            for name, value in filters.parameters.items()
            if name != "state"
        ],
        "ignored": [gettext(_LABELS[name]) for name in ignored],
        "summary": _summary(counts.live, counts.waiting),
        "next_url": _next_url(filters, latest.after),
        "is_cut": latest.is_cut,
        "may_start": bool(agents.agents_for(actor, Permission.RUN)),
    }
    return show(request, actor, "runs/runs.html", context, section="runs")


def _days(latest: Iterable[Run], groups: Mapping[UUID, ThreadRuns]) -> list[Day]:
    now = clock.now()
    days = []
    for day, runs in groupby(latest, key=lambda run: local(run.queued_at).date()):
        threads = [
            (run, group, _times(run, group, now))
            for run in runs
            for group in [groups[run.thread_id]]
        ]
        start = max(min(times.start for _, _, times in threads), _midnight(day) or now)
        end = min(max(times.end for _, _, times in threads), _midnight(day, days=1) or now)
        axis = TimeAxis.around(start, end)
        rows = [_row(run, group, times, axis, day) for run, group, times in threads]
        days.append(Day(day, day_heading(day), axis, rows))
    return days


def _times(run: Run, group: ThreadRuns, now: datetime) -> ThreadTimes:
    return thread_times(group.runs, group.waits, start=run.thread.created_at, now=now)


def _row(latest: Run, group: ThreadRuns, times: ThreadTimes, axis: TimeAxis, day: date) -> RunsRow:
    last = group.runs[0]
    word, icon, tone = state_of(last, group)
    started = local(times.start)
    waits = [group.waits[run.pk] for run in group.runs if run.pk in group.waits]
    open_count = sum(wait.open_count for wait in waits)
    return RunsRow(
        thread_id=latest.thread_id,
        title=latest.thread.title,
        is_identifier=" " not in latest.thread.title,
        agent=latest.thread.agent.slug,
        icon=icon,
        tone=tone,
        word=word,
        started=clock_text(started) if started.date() == day else day_name(started.date()),
        bars=axis.bars(times.spans),
        grid=axis.grid,
        times=gettext("Worked {worked}, waited {waited} for people").format(
            worked=duration_text(times.worked), waited=duration_text(times.waited)
        ),
        faces=tuple((pk, escape_invisible(name)) for pk, name in group.people.items())[:_MAX_FACES],
        waiting=ngettext("{count} request waits", "{count} requests wait", open_count).format(
            count=open_count
        )
        if open_count
        else "",
        note=_note(last, group, times, is_expired=any(wait.expired_count for wait in waits)),
        took=duration_text(times.took),
    )


def _note(last: Run, group: ThreadRuns, times: ThreadTimes, *, is_expired: bool) -> str:
    hidden_count = group.count - len(group.runs)
    if last.error_code:
        return str(last.error_code)
    if hidden_count:
        text = ngettext("{count} earlier run", "{count} earlier runs", hidden_count)
        return text.format(count=hidden_count)
    if is_expired and not group.people:
        return gettext("nobody in time")
    if group.people:
        return gettext("waited {time}").format(time=duration_text(times.waited))
    return ""


def state_of(run: Run, group: ThreadRuns) -> tuple[str, str, str]:
    """Return the word, icon and tone of a thread's state by its latest run."""
    if run.status == RunStatus.INTERRUPTED and not _is_waiting(run, group):
        return gettext("Asked for a decision"), "circle-pause", "quiet"
    word, icon, tone = RUN_STATES[RunStatus(run.status)]
    return gettext(word), icon, tone


def _is_waiting(run: Run, group: ThreadRuns) -> bool:
    return run.pk in group.waits and group.waits[run.pk].open_count > 0


def _summary(live: int, waiting: int) -> str:
    texts = []
    if live:
        texts.append(ngettext("{count} running", "{count} running", live).format(count=live))
    if waiting:
        text = ngettext("{count} waits for people", "{count} wait for people", waiting)
        texts.append(text.format(count=waiting))
    return ", ".join(texts)


def _value(name: str, value: str) -> str:
    if name in ("since", "until"):
        return day_name(date.fromisoformat(value))
    return escape_invisible(value)


def _url(filters: RunFilter) -> str:
    query = filters.to_query()
    return f"{reverse('runs')}?{query}" if query else reverse("runs")


def _next_url(filters: RunFilter, after: UUID | None) -> str:
    return f"?{filters.to_query(after=str(after))}" if after else ""


def _midnight(day: date | None, *, days: int = 0) -> datetime | None:
    """Return the start of the day that many days later, in the reader's zone; None without one."""
    if day is None or day > date.max - timedelta(days=days):
        return None
    # Ids have no times before 1970.
    day = max(day, _FIRST_DAY) + timedelta(days=days)
    return datetime.combine(day, time.min, timezone.get_current_timezone())
