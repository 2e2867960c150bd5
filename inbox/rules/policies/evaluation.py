"""Evaluation of policies for one interrupt: the ruling, and its explanation."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from agents.agui.strict_json import LARGEST_INTEGER
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.policies.conditions import (
    all_of,
    condition_outcome,
    evaluate_condition,
    negate,
)
from inbox.rules.policies.facts import Doubt, FactReader, Facts
from inbox.rules.policies.language.policy import (
    Condition,
    Effect,
    Mode,
    Policy,
    Requirement,
    Rule,
    condition_from_json,
)
from inbox.rules.policies.operators import Truth
from inbox.rules.policies.requirement import (
    MergedRequirement,
    merge_requirements,
    requirement_from_json,
)

MAX_REASON_BYTES = 4 * 1024
MAX_NEAR_MISSES = 5
#: Characters of a value that an explanation has.
MAX_VALUE = 80
#: After so many resumes of a thread without a person, rules and grants approve nothing.
MAX_RESUMES = 50


class Reason(StrEnum):
    """A reason for the effect of a ruling beside its rules."""

    NO_RULE = "no_rule"  #: no rule asks, allows or denies
    NO_CALL = "no_call"  #: only tool calls are approved and denied by rule
    DECEPTIVE = "deceptive"  #: the call has hidden or look-alike characters
    TOO_LARGE = "too_large"  #: the arguments are too large for rules
    CIRCUIT_BREAKER = "circuit_breaker"  #: too many resumes without a person
    UNREADABLE = "unreadable"  #: a version of a policy cannot be read
    DOUBTFUL_DENIAL = "doubtful_denial"  #: a rule that denies may apply
    NO_ANSWER = "no_answer"  #: the agent does not accept the answer, or it would be too late
    NOBODY = "nobody"  #: the rules leave no way in for a decision


@dataclass(frozen=True)
class VersionedPolicy:
    """One version of a policy; `policy` is None if the stored version cannot be read."""

    number: int
    policy: Policy | None
    installation: bool = False


@dataclass(frozen=True)
class ConditionResult:
    """A condition of a rule with the value that it met."""

    condition: Condition
    truth: Truth
    value: Any = None  #: a scalar; long texts are cut, and objects and lists are None
    doubt: Doubt | None = None
    is_exception: bool = False  #: of `unless`

    def to_json(self) -> dict[str, Any]:
        members = {
            **self.condition.to_json(),
            "truth": self.truth.value,
            "fact": self.value,
            "doubt": self.doubt and self.doubt.value,
            "unless": self.is_exception or None,
        }
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True)
class Match:
    """A rule that took part in a ruling, or nearly did."""

    installation: bool
    version: int
    rule: str
    name: str
    effect: Effect
    truth: Truth
    applied: bool
    conditions: tuple[ConditionResult, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "installation": self.installation,
            "version": self.version,
            "rule": self.rule,
            "name": self.name,
            "effect": self.effect.value,
            "truth": self.truth.value,
            "applied": self.applied,
            "conditions": [result.to_json() for result in self.conditions],
        }


@dataclass(frozen=True)
class ShadowChange:
    """The ruling that one shadow rule would have changed, had it been enforced."""

    installation: bool
    version: int
    rule: str
    truth: Truth
    effect: Effect  #: of the ruling with this rule
    grantable: bool
    stricter: bool  #: the same effect with another requirement

    def to_json(self) -> dict[str, Any]:
        return {
            "installation": self.installation,
            "version": self.version,
            "rule": self.rule,
            "truth": self.truth.value,
            "effect": self.effect.value,
            "grantable": self.grantable,
            "stricter": self.stricter,
        }


@dataclass(frozen=True)
class Ruling:
    """
    The outcome of policies for one interrupt.

    `requirement` is None unless people decide. `matches` has the rules that applied, strictest
    first, and the ones that nearly did; some are left out (`omitted`), or their conditions, to stay
    below MAX_REASON_BYTES.
    """

    effect: Effect
    grantable: bool = False
    requirement: MergedRequirement | None = None
    matches: tuple[Match, ...] = ()
    shadow: tuple[ShadowChange, ...] = ()
    reasons: tuple[Reason, ...] = ()
    #: The rules that decided the effect: `id`, or `installation:id`.
    rules: tuple[str, ...] = ()
    omitted: int = 0
    grant: str = ""  #: the id of the grant that approved

    def reasons_json(self) -> dict[str, Any]:
        """Return the explanation; its canonical JSON has at most MAX_REASON_BYTES."""
        return {
            "reasons": [reason.value for reason in self.reasons],
            "matches": [match.to_json() for match in self.matches],
            "omitted": self.omitted,
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "effect": self.effect.value,
            "grantable": self.grantable,
            "requirement": self.requirement and self.requirement.to_json(),
            "shadow": [change.to_json() for change in self.shadow],
            "rules": list(self.rules),
            "grant": self.grant,
            **self.reasons_json(),
        }


def evaluate(
    policies: Sequence[VersionedPolicy], facts: Facts, now: datetime, *, explain: bool = True
) -> Ruling:
    """
    Return the ruling of a team's and the installation's policies; `now` starts the times.

    Deny is stronger than ask, ask than allow, and no rule asks. An unknown condition never allows.
    Without `explain` the ruling has neither matches nor the changes of shadow rules.
    """
    reader = FactReader(facts)
    truths = [
        _RuleTruth(version, rule, *_rule_outcome(rule, version.policy, reader))
        for version in policies
        if version.policy
        for rule in version.policy.rules
        if rule.mode is not Mode.OFF
    ]
    truths.sort(key=_order)
    enforced = [item for item in truths if item.rule.mode is Mode.ENFORCE]
    doubts = _doubts(policies, reader)
    ruling = _combine(enforced, doubts, now)
    if not explain:
        return ruling
    shadow = tuple(
        change
        for item in truths
        if item.rule.mode is Mode.SHADOW and item.effect
        for change in _shadow_changes(ruling, enforced, item, doubts, now)
    )
    matches, omitted = _matches(ruling, enforced, reader)
    return replace(ruling, matches=matches, omitted=omitted, shadow=shadow)


def apply_grant(ruling: Ruling, grant: str) -> Ruling:
    """Return the ruling with a grant's approval; raise ValueError unless a grant may approve."""
    if ruling.effect is not Effect.ASK or not ruling.grantable:
        raise ValueError("A grant cannot approve this ruling.")
    return replace(ruling, effect=Effect.GRANT, requirement=None, grantable=False, grant=grant)


def is_same_outcome(ruling: Ruling, other: Ruling) -> bool:
    """Return whether two rulings require the same, whatever rules are the reason."""
    return (ruling.effect, ruling.grantable, ruling.requirement) == (
        other.effect,
        other.grantable,
        other.requirement,
    )


def rule_truth(rule: Rule, policy: Policy, reader: FactReader) -> Truth:
    """Return whether all of `when` hold, and not all of `unless`."""
    return _rule_outcome(rule, policy, reader)[0]


def strongest_effect(policies: Iterable[Policy], reader: FactReader) -> Effect | None:
    """Return the effect of the rules that are enforced, None if none applies; doubt asks."""
    effects = [
        _RuleTruth(VersionedPolicy(0, policy), rule, *_rule_outcome(rule, policy, reader)).effect
        for policy in policies
        for rule in policy.rules
        if rule.mode is Mode.ENFORCE
    ]
    return next((effect for effect in _STRENGTH if effect in effects), None)


def combined_effect(effects: Iterable[Effect | None], reader: FactReader) -> Effect:
    """Return the effect of a ruling in which rules have these effects, as `evaluate` combines."""
    present = set(effects)
    if Effect.DENY in present and reader.is_call:
        return Effect.DENY
    is_plain = Effect.ALLOW in present and not present & {Effect.ASK, Effect.DENY}
    return Effect.ALLOW if is_plain and not has_doubt(reader) else Effect.ASK


def has_doubt(reader: FactReader) -> bool:
    """Return whether people decide about a call, whatever a rule allows."""
    return any(_doubts_of(reader).values())


def _rule_outcome(rule: Rule, policy: Policy, reader: FactReader) -> tuple[Truth, str]:
    """Return the truth of a rule, and the path of the condition that fails."""
    if not reader.names_call and rule.is_about_calls:
        return Truth.NO, "/tool"
    calendars, truth = policy.calendars, Truth.YES
    for condition in rule.when:
        result = evaluate_condition(condition, reader, calendars)
        if result is Truth.NO:
            return result, condition.path
        if result is Truth.UNKNOWN:
            truth = result
    if not rule.unless:
        return truth, ""
    exceptions = [evaluate_condition(condition, reader, calendars) for condition in rule.unless]
    return all_of((truth, negate(all_of(exceptions)))), ""


@dataclass
class _RuleTruth:
    version: VersionedPolicy
    rule: Rule
    truth: Truth
    failed: str  #: the path of the condition of `when` that is NO

    @property
    def effect(self) -> Effect | None:
        """The effect that the rule contributes; doubt asks."""
        if self.truth is Truth.YES:
            return self.rule.effect
        if self.truth is Truth.UNKNOWN and self.rule.effect is not Effect.ALLOW:
            return Effect.ASK
        return None

    @property
    def is_doubtful_denial(self) -> bool:
        return self.rule.effect is Effect.DENY and self.truth is Truth.UNKNOWN

    @property
    def key(self) -> str:
        return f"installation:{self.rule.id}" if self.version.installation else self.rule.id


_STRENGTH: Final = {Effect.DENY: 0, Effect.ASK: 1, Effect.ALLOW: 2}


def _order(item: _RuleTruth) -> tuple[int, bool, str]:
    """Return the place of a rule: the strictest first, whatever its place in the document."""
    return _STRENGTH[item.rule.effect], not item.version.installation, item.rule.id


def _doubts(policies: Iterable[VersionedPolicy], reader: FactReader) -> tuple[Reason, ...]:
    """Return the reasons for which a person decides, whatever a rule allows."""
    doubts = {
        Reason.UNREADABLE: any(version.policy is None for version in policies),
        **_doubts_of(reader),
    }
    return tuple(reason for reason, applies in doubts.items() if applies)


def _doubts_of(reader: FactReader) -> dict[Reason, bool]:
    return {
        Reason.NO_CALL: not reader.is_call,
        Reason.TOO_LARGE: not reader.is_bounded,
        Reason.DECEPTIVE: reader.is_deceptive,
        Reason.CIRCUIT_BREAKER: reader.resumes_without_person >= MAX_RESUMES,
    }


def _combine(items: Sequence[_RuleTruth], doubts: tuple[Reason, ...], now: datetime) -> Ruling:
    by_effect: dict[Effect, list[_RuleTruth]] = {effect: [] for effect in _STRENGTH}
    for item in items:
        if item.effect:
            by_effect[item.effect].append(item)
    denials, asks, allowances = (by_effect[effect] for effect in _STRENGTH)
    if denials and Reason.NO_CALL not in doubts:
        return Ruling(Effect.DENY, rules=_keys(denials))
    if allowances and not asks and not denials and not doubts:
        return Ruling(Effect.ALLOW, rules=_keys(allowances))
    requirement = merge_requirements(
        [
            (item.rule.require or Requirement(), item.version.policy.calendars)
            for item in asks
            if item.version.policy and not item.is_doubtful_denial
        ],
        now.astimezone(UTC),
    )
    is_doubtful = any(item.is_doubtful_denial for item in asks)
    grantable = requirement.grantable and not (denials or doubts or is_doubtful)
    return Ruling(
        Effect.ASK,
        grantable=grantable,
        requirement=replace(requirement, grantable=grantable),
        rules=_keys([*denials, *asks]),
        reasons=_reasons(doubts, is_doubtful, requirement, bool(asks or denials or allowances)),
    )


def _reasons(
    doubts: tuple[Reason, ...], is_doubtful: bool, requirement: MergedRequirement, has_rule: bool
) -> tuple[Reason, ...]:
    others = {
        Reason.DOUBTFUL_DENIAL: is_doubtful,
        Reason.NOBODY: not requirement.is_possible,
        Reason.NO_RULE: not has_rule,
    }
    return (*doubts, *(reason for reason, applies in others.items() if applies))


def _keys(items: Iterable[_RuleTruth]) -> tuple[str, ...]:
    return tuple(item.key for item in items)


def _shadow_changes(
    ruling: Ruling,
    enforced: Sequence[_RuleTruth],
    item: _RuleTruth,
    doubts: tuple[Reason, ...],
    now: datetime,
) -> Iterable[ShadowChange]:
    other = _combine(sorted([*enforced, item], key=_order), doubts, now)
    differs = (other.effect, other.grantable) != (ruling.effect, ruling.grantable)
    is_stricter = other.effect is ruling.effect and other.requirement != ruling.requirement
    if differs or is_stricter:
        yield ShadowChange(
            item.version.installation,
            item.version.number,
            item.rule.id,
            item.truth,
            other.effect,
            other.grantable,
            is_stricter,
        )


# Explanation


def rule_matches(
    policies: Sequence[VersionedPolicy], facts: Facts, ruling: Ruling
) -> list[tuple[Rule, Match]]:
    """Return how each rule that is not off took part in a ruling, with all its conditions."""
    reader = FactReader(facts)
    items = [
        _RuleTruth(version, rule, *_rule_outcome(rule, version.policy, reader))
        for version in policies
        if version.policy
        for rule in version.policy.rules
        if rule.mode is not Mode.OFF
    ]
    return [
        (
            item.rule,
            _match(
                item,
                reader,
                applied=item.rule.mode is Mode.ENFORCE and item.key in ruling.rules,
            ),
        )
        for item in items
    ]


def _matches(
    ruling: Ruling, items: Sequence[_RuleTruth], reader: FactReader
) -> tuple[tuple[Match, ...], int]:
    """Return what fits into the explanation, and the number of rules left out."""
    effective = [item for item in items if item.effect]
    effective.sort(key=lambda item: item.key not in ruling.rules)
    others = (item for item in items if not item.effect and _is_near_miss(item, reader))
    explained = [*effective, *islice(others, MAX_NEAR_MISSES)]
    left = MAX_REASON_BYTES - _size(replace(ruling, omitted=len(explained)).reasons_json())
    matches: list[Match] = []
    for item in explained:
        match = _match(item, reader, applied=item.key in ruling.rules)
        size = _size(match.to_json()) + 1
        if size > left:
            match = replace(match, conditions=())
            size = _size(match.to_json()) + 1
        if size > left:
            break
        left -= size
        matches.append(match)
    return tuple(matches), len(explained) - len(matches)


def _is_near_miss(item: _RuleTruth, reader: FactReader) -> bool:
    """Return True for a rule about this tool that fails by another condition, or in doubt."""
    if item.truth is Truth.UNKNOWN or item.failed == "/tool":
        return item.truth is Truth.UNKNOWN
    calendars = item.version.policy.calendars if item.version.policy else {}
    tool = [condition for condition in item.rule.when if condition.path == "/tool"]
    return bool(tool) and all(
        evaluate_condition(condition, reader, calendars) is Truth.YES for condition in tool
    )


def _match(item: _RuleTruth, reader: FactReader, *, applied: bool) -> Match:
    calendars = item.version.policy.calendars if item.version.policy else {}
    conditions = [(condition, False) for condition in item.rule.when]
    conditions += [(condition, True) for condition in item.rule.unless]
    return Match(
        installation=item.version.installation,
        version=item.version.number,
        rule=item.rule.id,
        name=item.rule.name,
        effect=item.rule.effect,
        truth=item.truth,
        applied=applied,
        conditions=tuple(
            _result(condition, reader, calendars, is_exception)
            for condition, is_exception in conditions
        ),
    )


def _result(
    condition: Condition, reader: FactReader, calendars: Mapping[str, Any], is_exception: bool
) -> ConditionResult:
    outcome = condition_outcome(condition, reader, calendars)
    value = reader.value(condition.path, condition.tokens)
    return ConditionResult(condition, outcome.truth, _excerpt(value), outcome.doubt, is_exception)


def _excerpt(value: Any) -> Any:
    """Return a scalar that has a short exact JSON text, otherwise None."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        value = value[:MAX_VALUE]
        return None if _SURROGATE.search(value) else value
    is_small = isinstance(value, bool | int | float) and abs(value) <= LARGEST_INTEGER
    return value if is_small else None


_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _size(value: Any) -> int:
    """Return the bytes of the canonical JSON text; at most some more, for small numbers."""
    text = _COMPACT.encode(value)
    # RFC 8785 writes 1e+20 with all its digits.
    return len((canonical_json(value) if "e+" in text else text).encode(errors="surrogatepass"))


def ruling_from_json(stored: Mapping[str, Any]) -> Ruling:
    """Return the ruling of `Ruling.to_json`."""
    requirement = stored["requirement"]
    return Ruling(
        effect=Effect(stored["effect"]),
        grantable=stored["grantable"],
        requirement=requirement_from_json(requirement) if requirement else None,
        matches=tuple(map(_match_from_json, stored["matches"])),
        shadow=tuple(
            ShadowChange(
                **{**change, "truth": Truth(change["truth"]), "effect": Effect(change["effect"])}
            )
            for change in stored["shadow"]
        ),
        reasons=tuple(map(Reason, stored["reasons"])),
        rules=tuple(stored["rules"]),
        omitted=stored["omitted"],
        grant=stored["grant"],
    )


def _match_from_json(stored: Mapping[str, Any]) -> Match:
    return Match(
        installation=stored["installation"],
        version=stored["version"],
        rule=stored["rule"],
        name=stored["name"],
        effect=Effect(stored["effect"]),
        truth=Truth(stored["truth"]),
        applied=stored["applied"],
        conditions=tuple(
            ConditionResult(
                condition_from_json(result),
                Truth(result["truth"]),
                result.get("fact"),
                Doubt(result["doubt"]) if "doubt" in result else None,
                result.get("unless", False),
            )
            for result in stored["conditions"]
        ),
    )
