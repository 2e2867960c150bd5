"""Metrics of decisions: counts by outcome, rates, and percentiles of decision times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from inbox.rules.runs.states import ToolCallOutcome

#: The choices for the number of days, including today.
WINDOWS = (7, 30, 90)
DEFAULT_DAYS = 30
#: The outcomes of calls that the policy approved or denied, beside those of ToolCallOutcome.
BY_RULE, DENIED_BY_RULE = "rule", "denied by rule"
#: The series of a chart (SERIES) by outcome; "" stands for calls without a decision.
SERIES_OF = {
    BY_RULE: "rule",
    DENIED_BY_RULE: "rule",
    ToolCallOutcome.APPROVED: "approved",
    ToolCallOutcome.ANSWERED: "approved",
    ToolCallOutcome.EDITED: "edited",
    ToolCallOutcome.DENIED: "rejected",
    ToolCallOutcome.SENT_BACK: "rejected",
    ToolCallOutcome.EXPIRED: "expired",
    ToolCallOutcome.CANCELLED: "expired",
    "": "waiting",
}


def by_series(counts: Mapping[str, int]) -> dict[str, int]:
    """Return numbers of calls by series, from those by outcome."""
    series: dict[str, int] = {}
    for outcome, count in counts.items():
        series[SERIES_OF[outcome]] = series.get(SERIES_OF[outcome], 0) + count
    return series


@dataclass(frozen=True)
class OutcomeCounts:
    """Numbers of tool calls by outcome."""

    by_outcome: Mapping[str, int]  #: "" for calls without a decision

    @property
    def all(self) -> int:
        return sum(self.by_outcome.values())

    @property
    def approved(self) -> int:
        """Approved by people, with or without edits."""
        return self._of(ToolCallOutcome.APPROVED, ToolCallOutcome.EDITED)

    @property
    def edited(self) -> int:
        return self._of(ToolCallOutcome.EDITED)

    @property
    def denied(self) -> int:
        """Denied by people."""
        return self._of(ToolCallOutcome.DENIED)

    @property
    def sent_back(self) -> int:
        """Sent back to the agent with a question; no rejection."""
        return self._of(ToolCallOutcome.SENT_BACK)

    @property
    def expired(self) -> int:
        return self._of(ToolCallOutcome.EXPIRED)

    @property
    def by_rule(self) -> int:
        """Approved by the policy; people did not see them."""
        return self.by_outcome.get(BY_RULE, 0)

    @property
    def questions(self) -> int:
        """Put before people, who decided, or let them expire or end."""
        return self.all - self._of_nobody

    @property
    def approval_rate(self) -> float | None:
        """The share of approvals in approvals and denials; None without any."""
        return _share(self.approved, self.approved + self.denied)

    @property
    def edit_rate(self) -> float | None:
        """The share of edited calls in approvals; None without any."""
        return _share(self.edited, self.approved)

    @property
    def _of_nobody(self) -> int:
        return sum(self.by_outcome.get(outcome, 0) for outcome in (BY_RULE, DENIED_BY_RULE, ""))

    def _of(self, *outcomes: ToolCallOutcome) -> int:
        return sum(self.by_outcome.get(outcome, 0) for outcome in outcomes)


@dataclass(frozen=True)
class DecisionTimes:
    """Durations of decisions in seconds; None without any."""

    count: int
    median: float | None
    p90: float | None


def days_ending(today: date, count: int) -> list[date]:
    """Return `count` days in order, the last one is `today`."""
    return [today - timedelta(days=ago) for ago in range(count - 1, -1, -1)]


def decision_times(seconds: Sequence[float]) -> DecisionTimes:
    """Return the percentiles by nearest rank, so each is one of the values."""
    ordered = sorted(seconds)
    return DecisionTimes(len(ordered), _percentile(ordered, 50), _percentile(ordered, 90))


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    return ordered[ceil(len(ordered) * percent / 100) - 1] if ordered else None


def _share(part: int, total: int) -> float | None:
    return part / total if total else None
