"""The effect that one rule would have had on past tool calls, beside what happened to them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from inbox.rules.policies.backtest import CONTRADICTIONS, PastOutcome
from inbox.rules.policies.conditions import all_of, evaluate_condition
from inbox.rules.policies.evaluation import combined_effect, rule_truth
from inbox.rules.policies.facts import FactReader
from inbox.rules.policies.language.policy import Condition, Effect, Op, Policy, Rule
from inbox.rules.policies.operators import OPERATORS, Truth


@dataclass(frozen=True)
class ReadCall:
    """A past call with its facts, and the effect of the other rules, None if none applies."""

    id: str
    at: datetime
    outcome: PastOutcome
    reader: FactReader
    others: Effect | None


@dataclass(frozen=True)
class MetCall:
    """A call that a rule is about; `effect` is None where its limit leaves the call as before."""

    id: str
    at: datetime
    outcome: PastOutcome
    effect: Effect | None
    amount: float | None

    @property
    def is_contradiction(self) -> bool:
        """True if people decided differently from the rule."""
        return (self.effect, self.outcome) in CONTRADICTIONS


@dataclass
class RuleImpact:
    """The calls that a rule is about, the latest first."""

    read: int  #: calls that were read
    is_cut: bool  #: there were more
    calls: list[MetCall] = field(default_factory=list)

    @property
    def effects(self) -> Counter[Effect | None]:
        return Counter(call.effect for call in self.calls)

    @property
    def contradictions(self) -> list[MetCall]:
        return [call for call in self.calls if call.is_contradiction]


def limit_of(rule: Rule) -> Condition | None:
    """Return the condition whose number is the limit of the rule, None without one."""
    return next(
        (
            condition
            for condition in rule.when
            if OPERATORS[condition.op].numbers
            and condition.tokens[0] == "args"
            and not (condition.negated or condition.each)
        ),
        None,
    )


def limit_value(condition: Condition) -> float:
    """Return the number of a limit; of a range its upper end."""
    value = condition.value
    return float(value[1] if condition.op is Op.BETWEEN else value)


def impact_of(
    rule: Rule, policy: Policy, calls: Iterable[ReadCall], *, is_cut: bool = False
) -> RuleImpact:
    """Return the calls that a rule is about, its limit aside; doubt asks, also in shadow."""
    limit = limit_of(rule)
    meeting = {Truth.YES} if rule.effect is Effect.ALLOW else {Truth.YES, Truth.UNKNOWN}
    about = replace(rule, when=tuple(item for item in rule.when if item is not limit))
    impact = RuleImpact(0, is_cut)
    for call in calls:
        impact.read += 1
        truth = rule_truth(about, policy, call.reader)
        if truth not in meeting:
            continue
        amount, effect = None, None
        if limit:
            truth = all_of((truth, evaluate_condition(limit, call.reader, policy.calendars)))
            amount = call.reader.value(limit.path, limit.tokens)
        if truth in meeting:
            own = rule.effect if truth is Truth.YES else Effect.ASK
            effect = combined_effect((call.others, own), call.reader)
        impact.calls.append(MetCall(call.id, call.at, call.outcome, effect, _number(amount)))
    return impact


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def others_than(rule_id: str, policies: Sequence[Policy]) -> list[Policy]:
    """Return the policies without one rule."""
    return [
        replace(policy, rules=tuple(rule for rule in policy.rules if rule.id != rule_id))
        for policy in policies
    ]
