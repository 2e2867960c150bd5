"""The waterfall of a thread: runs, requests, decisions and tool calls on one axis of time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, ngettext

from inbox.queries.decisions.interrupts import listed_decision
from inbox.queries.runs.thread_runs import Wait
from inbox.rules.people.access import SEED
from inbox.rules.runs.headings import call_heading
from inbox.rules.runs.states import RunStatus, ToolCallState
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.days import clock_text, moment_text, near_text
from inbox.web.base.durations import duration_text
from inbox.web.base.numbers import percent_text
from inbox.web.base.zones import local
from inbox.web.decisions.decision_labels import decision_label_of
from inbox.web.runs.thread_timeline import CALL_STATES, RUN_STATES
from inbox.web.runs.time_axis import Bar, Phase, ThreadTimes, TimeAxis, thread_times

if TYPE_CHECKING:
    from inbox.models import Decision, Endorsement, Interrupt, Run, ToolCall

Item = TypeVar("Item")

#: The latest runs that the page shows at first.
_MAX_RUNS = 20
#: Of more requests or calls of one run than these, the first `_UNFOLDED` are shown.
_MAX_LINES, _UNFOLDED = 5, 3
#: The most lines of a fold; the history of the thread has all of them.
_MOST_FOLDED = 200
#: The least share of time without a run that the page mentions.
_LEAST_IDLE = 0.005


@dataclass(frozen=True)
class Line:
    """One thing that happened, with the bar of its time."""

    level: int  #: 0 of runs, 1 of their requests and calls, 2 of decisions
    text: str
    url: str
    icon: str
    tone: str
    took: str  #: or the time of a decision
    started: str
    bar: Bar | None = None
    note: str = ""
    face: tuple[int, str] | None = None
    is_waiting: bool = False


@dataclass(frozen=True)
class Fold:
    """Lines of one kind that are too many to be shown at first."""

    id: str
    title: str
    lines: Sequence[Line]
    left_out: int  #: the number of those that are left out


@dataclass(frozen=True)
class RunLines:
    """A run with what happened in it."""

    run: Line
    lines: Sequence[Line]
    folds: Sequence[Fold]


@dataclass(frozen=True)
class Share:
    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Waterfall:
    axis: TimeAxis
    groups: Sequence[RunLines]
    hidden_count: int  #: earlier runs that are left out
    shares: Sequence[Share]


@dataclass(frozen=True)
class ThreadRows:
    """The rows of a thread."""

    runs: Sequence[Run]
    calls: Sequence[ToolCall]
    interrupts: Sequence[Interrupt]
    endorsements: Sequence[Endorsement]
    waits: Mapping[UUID, Wait]


def waterfall_of(
    rows: ThreadRows, *, start: datetime, now: datetime, me: int | None, show_all: bool
) -> Waterfall | None:
    """Return the waterfall of a thread that began at `start`; None without runs."""
    if not rows.runs:
        return None
    times = thread_times(rows.runs, rows.waits, start=start, now=now)
    numbered = list(enumerate(rows.runs, start=1))
    displayed = numbered if show_all else numbered[-_MAX_RUNS:]
    axis = TimeAxis.around(displayed[0][1].queued_at, times.end)
    builder = _Builder(rows, axis, now, me)
    return Waterfall(
        axis=axis,
        groups=[builder.run(number, run) for number, run in displayed],
        hidden_count=len(numbered) - len(displayed),
        shares=_shares(times, rows.interrupts),
    )


def _shares(times: ThreadTimes, interrupts: Sequence[Interrupt]) -> list[Share]:
    parts = [
        (gettext("the agent worked"), times.worked),
        (gettext("waited for people"), times.waited),
        (gettext("nothing ran"), times.took - times.worked - times.waited),
    ]
    if parts[-1][1] < _LEAST_IDLE * times.took:
        parts.pop()
    shares = [Share(gettext("since the start"), duration_text(times.took), near_text(times.start))]
    shares += [
        Share(name, duration_text(part), percent_text(part / times.took))
        for name, part in parts
        if part
    ]
    if interrupts:
        open_count = sum(row.closed_at is None for row in interrupts)
        text = gettext("{count} open").format(count=open_count) if open_count else ""
        shares.append(Share(gettext("requests"), str(len(interrupts)), text))
    return shares


class _Builder:
    def __init__(self, rows: ThreadRows, axis: TimeAxis, now: datetime, me: int | None) -> None:
        self._axis, self._now, self._me = axis, now, me
        self._requests: dict[UUID, list[Interrupt]] = defaultdict(list)
        self._of_call: dict[UUID, list[Interrupt]] = defaultdict(list)
        for interrupt in rows.interrupts:
            self._requests[interrupt.run_id].append(interrupt)
            if interrupt.tool_call_id:
                self._of_call[interrupt.tool_call_id].append(interrupt)
        self._endorsements: dict[UUID, list[Endorsement]] = defaultdict(list)
        for endorsement in rows.endorsements:
            self._endorsements[endorsement.interrupt_id].append(endorsement)
        self._calls: dict[UUID, list[ToolCall]] = defaultdict(list)
        for call in rows.calls:
            # A call that people decide is displayed as their request until it starts.
            if call.started_at or call.pk not in self._of_call:
                self._calls[_run_of(call, rows.runs)].append(call)

    def run(self, number: int, run: Run) -> RunLines:
        word, icon, tone = RUN_STATES[RunStatus(run.status)]
        phase = Phase.FAILED if run.status == RunStatus.FAILED else Phase.RAN
        line = Line(
            level=0,
            text=gettext("Run {number}").format(number=number),
            note=_beginning_of(run),
            url=f"#run-{run.pk}",
            icon="play" if run.status == RunStatus.INTERRUPTED else icon,
            tone="me" if run.status == RunStatus.INTERRUPTED else tone,
            took=self._took(run.started_at, run.finished_at) or gettext(word),
            started=near_text(run.started_at or run.queued_at),
            bar=self._bar(phase, run.started_at, run.finished_at),
        )
        requests = sorted(self._requests[run.pk], key=lambda row: row.closed_at is not None)
        calls = self._calls[run.pk]
        folds = []
        if len(calls) > _MAX_LINES:
            count = len(calls) - _UNFOLDED
            text = ngettext("{count} more tool call", "{count} more tool calls", count)
            folds.append(_fold(f"calls-{run.pk}", text, calls, self._call))
            calls = calls[:_UNFOLDED]
        if len(requests) > _MAX_LINES:
            count = len(requests) - _UNFOLDED
            text = ngettext("{count} more request", "{count} more requests", count)
            folds.append(_fold(f"requests-{run.pk}", text, requests, self._request))
            requests = requests[:_UNFOLDED]
        lines = [self._call(call) for call in calls]
        for request in requests:
            lines += [self._request(request), *self._answers(request)]
        return RunLines(line, lines, folds)

    def _call(self, call: ToolCall) -> Line:
        word, icon, tone = CALL_STATES[ToolCallState(call.state)]
        interrupts = self._of_call[call.pk]
        secrets = secrets_of_arguments(*(row.body for row in interrupts))
        args = secrets.masked(json.loads(call.approved_args if call.verdict else call.args))
        return Line(
            level=1,
            text=escape_invisible(
                interrupts[-1].title if interrupts else call_heading(call.name, args)
            ),
            note=gettext(word),
            url=reverse("audit_call", args=[call.pk]),
            icon="wrench" if tone == "ok" else icon,
            tone="quiet" if tone == "ok" else tone,
            took=self._took(call.started_at, call.settled_at, is_open=False),
            started=near_text(call.started_at or call.proposed_at),
            bar=self._bar(Phase.RAN, call.started_at, call.settled_at or call.started_at),
        )

    def _request(self, row: Interrupt) -> Line:
        label = decision_label_of(row, listed_decision(row), self._me)
        is_waiting = row.closed_at is None
        took = self._took(row.created_at, row.closed_at)
        return Line(
            level=1,
            text=escape_invisible(row.title),
            note="" if label is None else escape_invisible(label.word),
            url=reverse("interrupt", args=[row.pk]),
            icon=label.icon if label else "circle-dashed",
            tone=label.tone if label else "warn",
            took=gettext("{time}, waits").format(time=took) if is_waiting else took,
            started=near_text(row.created_at),
            bar=self._bar(
                Phase.OPEN if is_waiting else Phase.WAITED, row.created_at, row.closed_at
            ),
            is_waiting=is_waiting,
        )

    def _answers(self, row: Interrupt) -> list[Line]:
        decision, url = listed_decision(row), reverse("interrupt", args=[row.pk])
        endorsements = self._endorsements[row.pk]
        lines = [
            self._answer(
                gettext("You approved")
                if endorsement.user_id == self._me
                else gettext("{who} approved").format(who=endorsement.user.display_name),
                url,
                endorsement,
                "approved",
                (endorsement.user_id, endorsement.user.display_name),
            )
            for endorsement in endorsements
        ]
        label = decision_label_of(row, decision, self._me)
        if decision is None or label is None:
            return lines
        if decision.user_id is not None and decision.user_id in {
            row.user_id for row in endorsements
        }:
            return lines
        is_edited = label.is_approval and row.tool_call and row.tool_call.edited_args is not None
        outcome = "edited" if is_edited else _OUTCOMES.get(label.tone, "expired")
        face = (decision.user_id, decision.actor_label) if decision.user_id else None
        return [*lines, self._answer(label.short, url, decision, outcome, face)]

    def _answer(
        self,
        text: str,
        url: str,
        answer: Decision | Endorsement,
        outcome: str,
        face: tuple[int, str] | None,
    ) -> Line:
        return Line(
            level=2,
            text=escape_invisible(text),
            url=url,
            icon="scale",
            tone="quiet",
            took=self._at(answer.created_at),
            started=near_text(answer.created_at),
            bar=self._axis.bar(outcome, answer.created_at, answer.created_at),
            face=face,
        )

    def _at(self, at: datetime) -> str:
        """Return the time of a decision, with its day if the waterfall began on another one."""
        is_same_day = local(at).date() == local(self._axis.start).date()
        return clock_text(at) if is_same_day else moment_text(at)

    def _bar(self, phase: str, start: datetime | None, end: datetime | None) -> Bar | None:
        return self._axis.bar(phase, start, end or max(start, self._now)) if start else None

    def _took(self, start: datetime | None, end: datetime | None, *, is_open: bool = True) -> str:
        if start is None or (end is None and not is_open):
            return ""
        return duration_text((end or max(start, self._now)) - start)


#: The series of charts by the tone of an outcome.
_OUTCOMES = {"ok": "approved", "bad": "rejected"}


def _run_of(call: ToolCall, runs: Sequence[Run]) -> UUID:
    """Return the run that started the call, else the one that proposed it."""
    at = call.started_at
    started = [run.pk for run in runs if at and run.started_at and run.started_at <= at]
    return started[-1] if started else call.run_id


def _beginning_of(run: Run) -> str:
    """Return why the run began."""
    if run.resumes_id:
        return gettext("resumed after the decision")
    if run.retries_id:
        return gettext("retried")
    if run.started_by == SEED.label:
        return gettext("demo data")
    return gettext("started by {name}").format(name=escape_invisible(run.started_by))


def _fold(fold_id: str, title: str, items: Sequence[Item], line: Callable[[Item], Line]) -> Fold:
    """Return the lines of the items after the first ones; `title` has a place for their number."""
    folded = items[_UNFOLDED:]
    lines = [line(item) for item in folded[:_MOST_FOLDED]]
    left_out = len(folded) - len(lines)
    return Fold(fold_id, title.format(count=len(folded)), lines, left_out)
