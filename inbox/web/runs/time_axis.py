"""The times in which runs worked and waited for people, as bars on a common axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.utils import timezone

from inbox.queries.runs.thread_runs import Wait
from inbox.rules.runs.states import RunStatus
from inbox.web.base.days import clock_text, day_name
from inbox.web.base.zones import local

if TYPE_CHECKING:
    from inbox.models import Run

#: The units of a chart's width; about one pixel each.
WIDTH = 500
#: The narrowest mark.
MIN_WIDTH = 3
_DAY = 86_400
#: The steps of an axis in seconds. Longer ones are full days.
_STEPS = (1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, _DAY)
_MAX_STEPS = 5


class Phase(StrEnum):
    """The kind of a span of time; each has a colour and a height in charts."""

    RAN = "ran"
    FAILED = "failed"
    WAITED = "waited"
    OPEN = "open"  #: waits still


@dataclass(frozen=True)
class Span:
    phase: Phase
    start: datetime
    end: datetime


@dataclass(frozen=True)
class ThreadTimes:
    """The spans of a thread's runs, in order; they do not overlap."""

    spans: Sequence[Span]
    start: datetime
    end: datetime

    @property
    def worked(self) -> timedelta:
        return self._sum(Phase.RAN, Phase.FAILED)

    @property
    def waited(self) -> timedelta:
        return self._sum(Phase.WAITED, Phase.OPEN)

    @property
    def took(self) -> timedelta:
        return self.end - self.start

    def _sum(self, *phases: Phase) -> timedelta:
        spans = (span for span in self.spans if span.phase in phases)
        return sum((span.end - span.start for span in spans), timedelta())


def thread_times(
    runs: Iterable[Run], waits: Mapping[UUID, Wait], *, start: datetime, now: datetime
) -> ThreadTimes:
    """Return when these runs worked and waited; `waits` are by run, `start` is the thread's."""
    spans = []
    for run in runs:
        if run.started_at is not None:
            phase = Phase.FAILED if run.status == RunStatus.FAILED else Phase.RAN
            spans.append(Span(phase, run.started_at, run.finished_at or max(now, run.started_at)))
        if run.pk in waits:
            wait = waits[run.pk]
            phase = Phase.WAITED if wait.end else Phase.OPEN
            spans.append(Span(phase, wait.start, wait.end or max(now, wait.start)))
    spans.sort(key=lambda span: span.start)
    is_queued = any(run.finished_at is None for run in runs)
    end = max([start, *(span.end for span in spans), *([now] if is_queued else [])])
    return ThreadTimes(spans, start, end)


@dataclass(frozen=True)
class Tick:
    label: str
    x: str


@dataclass(frozen=True)
class Bar:
    """A rectangle of a chart, in its units."""

    phase: str
    x: str
    width: str


@dataclass(frozen=True)
class TimeAxis:
    """An axis from one full step to another, with at most five steps between."""

    start: datetime
    end: datetime
    ticks: tuple[Tick, ...]  #: the start of each step

    @classmethod
    def around(cls, start: datetime, end: datetime) -> Self:
        """Return the axis of the reader's zone that covers the times in the fewest steps."""
        seconds = (end - start).total_seconds()
        steps = [*_STEPS, _DAY * (1 + int(seconds / _DAY / (_MAX_STEPS - 1)))]
        for step in steps:
            places = _places(start, max(end, start + timedelta(seconds=1)), step)
            if len(places) <= _MAX_STEPS + 1:
                break
        axis = cls(places[0], places[-1], ())
        ticks = tuple(Tick(_label(at, step), f"{axis.x(at):.1f}") for at in places[:-1])
        return cls(axis.start, axis.end, ticks)

    @property
    def grid(self) -> str:
        """Return the path of a line at each step, in the height of a bar."""
        return "".join(f"M{tick.x} 0v12" for tick in self.ticks)

    def x(self, at: datetime) -> float:
        return WIDTH * ((at - self.start) / (self.end - self.start))

    def bar(self, phase: str, start: datetime, end: datetime) -> Bar | None:
        """Return the part of a span that is on the axis, None if there is none."""
        if end < self.start or start > self.end:
            return None
        x, right = max(0.0, self.x(start)), min(float(WIDTH), self.x(end))
        width = max(float(MIN_WIDTH), right - x)
        return Bar(phase, f"{min(x, WIDTH - width):.1f}", f"{width:.1f}")

    def bars(self, spans: Iterable[Span]) -> tuple[Bar, ...]:
        bars = (self.bar(span.phase, span.start, span.end) for span in spans)
        return tuple(bar for bar in bars if bar)


def _places(start: datetime, end: datetime, step: int) -> list[datetime]:
    """Return the borders of the steps around two times, counted from midnight of the reader."""
    day, zone = local(start).date(), timezone.get_current_timezone()
    midnight = datetime.combine(day, time.min, zone).astimezone(UTC)
    first = 0 if step >= _DAY else int((start - midnight).total_seconds()) // step
    places: list[datetime] = []
    while not places or (places[-1] < end and len(places) <= _MAX_STEPS + 1):
        offset = step * (first + len(places))
        if step < _DAY:
            places.append(midnight + timedelta(seconds=offset))
        else:
            # Days with a change of the clock have other lengths.
            later = datetime.combine(day + timedelta(seconds=offset), time.min, zone)
            places.append(later.astimezone(UTC))
    return places


def _label(at: datetime, step: int) -> str:
    if step >= _DAY or (step >= 3600 and local(at).time() == time.min):
        return day_name(local(at).date())
    return clock_text(at, seconds=step < 60)
