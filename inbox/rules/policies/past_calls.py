"""Past tool calls by what happened to them: counts, shares, and the figures of each rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from inbox.rules.policies.backtest import PastOutcome
from inbox.rules.policies.language.policy import Effect

#: Days that figures of rules are based on, each of 24 hours.
DAYS = 30


class CallEnd(StrEnum):
    """The end of a call, in the order of charts."""

    RULE = "rule"  #: ran without asking, by a rule or a grant
    APPROVED = "approved"
    EDITED = "edited"
    REJECTED = "rejected"
    EXPIRED = "expired"
    DENIED = "denied"  #: by a rule


_ENDS = {
    PastOutcome.APPROVED: CallEnd.APPROVED,
    PastOutcome.EDITED: CallEnd.EDITED,
    PastOutcome.REJECTED: CallEnd.REJECTED,
    PastOutcome.EXPIRED: CallEnd.EXPIRED,
}


def call_end(outcome: PastOutcome, effect: Effect | None) -> CallEnd | None:
    """Return what happened to a call; None while it is open, and if it was cancelled."""
    if outcome is PastOutcome.BY_RULE:
        return CallEnd.DENIED if effect is Effect.DENY else CallEnd.RULE
    return _ENDS.get(outcome)


@dataclass
class RuleFigures:
    """The calls that one rule decided, or would have; `by_day` begins with the oldest day."""

    by_day: list[int] = field(default_factory=lambda: [0] * DAYS)
    by_effect: dict[Effect, int] = field(default_factory=lambda: dict.fromkeys(Effect, 0))
    rejected: int = 0  #: by people
    contradictions: int = 0  #: of a shadow rule: people decided differently

    @property
    def total(self) -> int:
        return sum(self.by_effect.values())


def percentages(counts: Mapping[CallEnd, int]) -> dict[CallEnd, int]:
    """Return whole percentages that add up to 100, by the largest remainder; none of nothing."""
    total = sum(counts.values())
    if not total:
        return {}
    shares = {end: divmod(100 * number, total) for end, number in counts.items()}
    missing = 100 - sum(percent for percent, _ in shares.values())
    by_remainder = sorted(shares, key=lambda end: -shares[end][1])
    return {end: shares[end][0] + (end in by_remainder[:missing]) for end in shares}
