"""What is counted of decisions, over which days, and what the counts come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from inbox.rules.runs.states import ToolCallOutcome

#: How many days are counted together, today included.
WINDOWS = (7, 30, 90)
DEFAULT_DAYS = 30


@dataclass(frozen=True)
class OutcomeCounts:
    """How many tool calls came to what."""

    by_verdict: Mapping[str, int]  #: by Verdict, "" for those without an answer

    @property
    def all(self) -> int:
        return sum(self.by_verdict.values())

    @property
    def approved(self) -> int:
        """As they were, or with changes."""
        return self._of(ToolCallOutcome.APPROVED, ToolCallOutcome.EDITED)

    @property
    def edited(self) -> int:
        return self._of(ToolCallOutcome.EDITED)

    @property
    def denied(self) -> int:
        return self._of(ToolCallOutcome.DENIED)

    @property
    def expired(self) -> int:
        return self._of(ToolCallOutcome.EXPIRED)

    @property
    def others(self) -> int:
        """Those that nobody approved, rejected or let expire: most were not asked about."""
        return self.all - self.approved - self.denied - self.expired

    @property
    def approval_rate(self) -> float | None:
        """The share of the approved ones in what was approved or rejected; None without any."""
        return _share(self.approved, self.approved + self.denied)

    @property
    def edit_rate(self) -> float | None:
        """The share of those with changes in what was approved; None without any."""
        return _share(self.edited, self.approved)

    def _of(self, *verdicts: ToolCallOutcome) -> int:
        return sum(self.by_verdict.get(verdict, 0) for verdict in verdicts)


@dataclass(frozen=True)
class DecisionTimes:
    """How long answers took, in seconds; None without any."""

    count: int
    median: float | None
    p90: float | None


def days_ending(today: date, count: int) -> list[date]:
    """So many days (UTC) in their order, today the last."""
    return [today - timedelta(days=ago) for ago in range(count - 1, -1, -1)]


def decision_times(seconds: Sequence[float]) -> DecisionTimes:
    """By nearest rank: a figure is one that really was."""
    ordered = sorted(seconds)
    return DecisionTimes(len(ordered), _percentile(ordered, 50), _percentile(ordered, 90))


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    return ordered[ceil(len(ordered) * percent / 100) - 1] if ordered else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
