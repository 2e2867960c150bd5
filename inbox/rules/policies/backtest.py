"""Backtests: the effects that a policy would have had on past requests."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from inbox.rules.policies.evaluation import VersionedPolicy, evaluate
from inbox.rules.policies.facts import Facts
from inbox.rules.policies.language.policy import Effect, Mode
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import InterruptStatus, ToolCallOutcome
from inbox.rules.runs.tool_call_outcome import outcome_of_entry

MAX_REQUESTS = 10_000
#: Contradictions that are listed; all are counted.
MAX_CONTRADICTIONS = 200


class PastOutcome(StrEnum):
    """The outcome of a past request."""

    APPROVED = "approved"  #: by a person, without edits
    EDITED = "edited"
    REJECTED = "rejected"
    ANSWERED = "answered"  #: it asked for something else than an approval
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    BY_RULE = "by_rule"  #: no person decided
    OPEN = "open"


_OUTCOMES = {
    ToolCallOutcome.APPROVED: PastOutcome.APPROVED,
    ToolCallOutcome.EDITED: PastOutcome.EDITED,
    ToolCallOutcome.DENIED: PastOutcome.REJECTED,
    ToolCallOutcome.SENT_BACK: PastOutcome.REJECTED,
    ToolCallOutcome.ANSWERED: PastOutcome.ANSWERED,
}


def past_outcome(
    status: InterruptStatus, entry: ResumeEntry | None, *, by: str = "", is_by_rule: bool = False
) -> PastOutcome:
    """Return the outcome of a request; `entry` is the decision in force, `by` its author's id."""
    if status is InterruptStatus.OPEN:
        return PastOutcome.OPEN
    if status is InterruptStatus.EXPIRED:
        return PastOutcome.EXPIRED
    if is_by_rule:
        return PastOutcome.BY_RULE
    outcome = outcome_of_entry(entry, by=by) if entry else ToolCallOutcome.CANCELLED
    return _OUTCOMES.get(outcome, PastOutcome.CANCELLED)


#: Effects with outcomes that a person would have changed, the gravest first.
CONTRADICTIONS = (
    (Effect.ALLOW, PastOutcome.REJECTED),
    (Effect.ALLOW, PastOutcome.EDITED),
    (Effect.DENY, PastOutcome.APPROVED),
    (Effect.DENY, PastOutcome.EDITED),
)


@dataclass(frozen=True)
class PastRequest:
    """A past request; facts that were not stored are None, and so unknown."""

    id: str
    at: datetime
    facts: Facts
    outcome: PastOutcome


@dataclass(frozen=True)
class Contradiction:
    """A request that a person decided differently."""

    request: str
    effect: Effect
    outcome: PastOutcome
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Backtest:
    """The result: counts by effect and outcome, contradictions first, and matches by rule."""

    total: int
    table: dict[tuple[Effect, PastOutcome], int]
    contradictions: tuple[Contradiction, ...]
    #: The requests for which each enforced rule was among the deciding ones, also 0.
    decided: dict[str, int] = field(default_factory=dict)

    @property
    def unused(self) -> tuple[str, ...]:
        """The rules that decided no request."""
        return tuple(rule for rule, number in self.decided.items() if not number)

    def count(self, effect: Effect, outcome: PastOutcome | None = None) -> int:
        return sum(
            number
            for cell, number in self.table.items()
            if cell[0] is effect and outcome in (None, cell[1])
        )


def backtest(policies: Sequence[VersionedPolicy], requests: Iterable[PastRequest]) -> Backtest:
    """Evaluate policies for past requests; nothing is changed."""
    table: Counter[tuple[Effect, PastOutcome]] = Counter()
    decided = Counter(dict.fromkeys(_rule_keys(policies), 0))
    contradictions = []
    for request in requests:
        ruling = evaluate(policies, request.facts, request.at, explain=False)
        table[ruling.effect, request.outcome] += 1
        decided.update(ruling.rules)
        if (ruling.effect, request.outcome) in CONTRADICTIONS:
            contradictions.append(
                Contradiction(request.id, ruling.effect, request.outcome, ruling.rules)
            )
    contradictions.sort(key=lambda item: CONTRADICTIONS.index((item.effect, item.outcome)))
    return Backtest(
        total=sum(table.values()),
        table=dict(sorted(table.items(), key=lambda item: _rank(item[0]))),
        contradictions=tuple(contradictions[:MAX_CONTRADICTIONS]),
        decided=dict(decided),
    )


def _rank(cell: tuple[Effect, PastOutcome]) -> tuple[int, int, int]:
    """Return the place of a cell: contradictions first, then by effect and outcome."""
    effect, outcome = cell
    rank = CONTRADICTIONS.index(cell) if cell in CONTRADICTIONS else len(CONTRADICTIONS)
    return rank, list(Effect).index(effect), list(PastOutcome).index(outcome)


def _rule_keys(policies: Iterable[VersionedPolicy]) -> list[str]:
    return [
        f"installation:{rule.id}" if version.installation else rule.id
        for version in policies
        if version.policy
        for rule in version.policy.rules
        if rule.mode is Mode.ENFORCE
    ]
