"""Warnings about rules without an effect: implied, never true, or about unknown names."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.policies.conditions import negate, value_truth
from inbox.rules.policies.endorsements import Slots, slot_names
from inbox.rules.policies.language.policy import (
    Condition,
    Effect,
    Mode,
    OnExpiry,
    Op,
    Policy,
    Requirement,
    Rule,
)
from inbox.rules.policies.operators import OPERATORS, Range, Truth
from inbox.rules.policies.slots import Person, assign_slots
from inbox.rules.text.messages import TranslatableMessage

#: Facts that every tool call has, so conditions on them are never unknown.
_ALWAYS_KNOWN: Final = frozenset({"/tool", "/reason"})


class WarningCode(StrEnum):
    IMPLIED = "implied"  #: another rule makes it redundant
    NEVER = "never"  #: its conditions contradict each other
    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_AGENT = "unknown_agent"
    UNKNOWN_ENVIRONMENT = "unknown_environment"
    NOBODY = "nobody"  #: the team has too few people for its slots
    SILENCES = "silences"  #: it asks about every call, so that no rule allows anything


@dataclass(frozen=True)
class KnownNames:
    """The names that a team's requests can have; None for no check."""

    tools: Collection[str] | None = None
    agents: Collection[str] | None = None
    environments: Collection[str] | None = None
    people: Collection[Person] | None = None  #: who may decide


@dataclass(frozen=True)
class RuleWarning:
    """A warning about one rule; `detail` is the id of the other rule, or the unknown name."""

    rule: str
    code: WarningCode
    detail: str = ""


def warnings(policy: Policy, names: KnownNames = KnownNames()) -> list[RuleWarning]:
    """
    Return the warnings about the enforced rules, and about names in any rule.

    Sound, but not complete: a rule that is reported as implied can be removed without changing the
    effect and requirement of any tool call, misleading characters aside.
    """
    rules = [rule for rule in policy.rules if rule.mode is Mode.ENFORCE]
    result = [RuleWarning(rule.id, WarningCode.NEVER) for rule in rules if is_never_true(rule)]
    result += [
        RuleWarning(rule_id, WarningCode.IMPLIED, other) for rule_id, other in implied_rules(rules)
    ]
    if names.people is not None:
        result += [
            RuleWarning(rule.id, WarningCode.NOBODY, slot_names(missing))
            for rule in rules
            if (missing := _unfilled(rule, names.people))
        ]
    if any(rule.effect is Effect.ALLOW for rule in rules):
        result += [
            RuleWarning(rule.id, WarningCode.SILENCES)
            for rule in rules
            if rule.effect is Effect.ASK and not rule.when and not rule.unless
        ]
    for path, code, known_names in (
        ("/tool", WarningCode.UNKNOWN_TOOL, names.tools),
        ("/agent", WarningCode.UNKNOWN_AGENT, names.agents),
        ("/environment", WarningCode.UNKNOWN_ENVIRONMENT, names.environments),
    ):
        if known_names is not None:
            result += [
                RuleWarning(rule.id, code, name)
                for rule in policy.rules
                for name in unknown_names(rule, path, known_names)
            ]
    return result


def _unfilled(rule: Rule, people: Collection[Person]) -> Slots:
    """Return the slots of a rule for which too few people are there now."""
    slots = [frozenset({slot}) for slot in rule.require.slots] if rule.require else []
    return [slots[number] for number in assign_slots(slots, people).missing]


def warning_message(item: RuleWarning, policy: Policy) -> TranslatableMessage:
    """Return a warning as a sentence with the titles of the rules."""
    titles = {rule.id: rule.title for rule in policy.rules}
    rule = titles[item.rule]
    match item.code:
        case WarningCode.NEVER:
            return TranslatableMessage("{rule} can never hold.", rule=rule)
        case WarningCode.UNKNOWN_TOOL | WarningCode.UNKNOWN_AGENT | WarningCode.UNKNOWN_ENVIRONMENT:
            return _unknown_name_message(item, rule)
        case WarningCode.NOBODY:
            return TranslatableMessage(
                "Nobody can fulfil {rule}: too few people of the team are in {slots}.",
                rule=rule,
                slots=item.detail,
            )
        case WarningCode.SILENCES:
            return TranslatableMessage(
                "{rule} asks about every call, so no rule approves anything.", rule=rule
            )
    return TranslatableMessage(
        "{rule} is covered by {other}.", rule=rule, other=titles[item.detail]
    )


def _unknown_name_message(item: RuleWarning, rule: str) -> TranslatableMessage:
    match item.code:
        case WarningCode.UNKNOWN_TOOL:
            return TranslatableMessage(
                "{rule} names a tool that no agent of the team has called: {tool}.",
                rule=rule,
                tool=item.detail,
            )
        case WarningCode.UNKNOWN_AGENT:
            return TranslatableMessage(
                "{rule} names an agent that the team does not have: {agent}.",
                rule=rule,
                agent=item.detail,
            )
        case _:
            return TranslatableMessage(
                "{rule} names an environment that no agent of the team has: {environment}.",
                rule=rule,
                environment=item.detail,
            )


def implied_rules(rules: Sequence[Rule]) -> list[tuple[str, str]]:
    """Return the ids of rules that another rule makes redundant, with the id of that rule."""
    implied: list[tuple[str, str]] = []
    removed: set[str] = set()
    # From the last: of two equal rules, the later one is redundant.
    for rule in reversed(rules):
        others = (other for other in rules if other is not rule and other.id not in removed)
        other = next((other for other in others if makes_redundant(other, rule)), None)
        if other:
            removed.add(rule.id)
            implied.append((rule.id, other.id))
    return implied[::-1]


def makes_redundant(other: Rule, rule: Rule) -> bool:
    """Return True if `rule` changes no ruling about a tool call as long as `other` exists."""
    if not _implies(rule, other):
        return False
    match rule.effect, other.effect:
        case Effect.ALLOW, _:
            return True  # a doubtful allow does nothing, and a doubtful ask or denial asks
        case Effect.DENY, Effect.DENY:
            return True
        case Effect.ASK, Effect.DENY:
            return _is_certain(other)
        case Effect.ASK, Effect.ASK:
            return _is_as_strict(other.require or Requirement(), rule.require or Requirement())
    return False


def is_never_true(rule: Rule) -> bool:
    """Return True if the conditions of a rule contradict each other."""
    if rule.unless and _keys(rule.unless) <= _keys(rule.when):
        return True
    return any(
        _contradict(left, right)
        for number, left in enumerate(rule.when)
        for right in rule.when[number + 1 :]
        if left.path == right.path
    )


def unknown_names(rule: Rule, path: str, known_names: Collection[str]) -> list[str]:
    """Return the names in a rule's conditions on a fact that are not known, and such patterns."""
    names: list[str] = []
    for condition in rule.when:
        if condition.path != path or condition.negated:
            continue
        operands = _constants(condition)
        if operands is not None:
            names += [
                name for name in operands if isinstance(name, str) and name not in known_names
            ]
        elif not any(value_truth(condition, name) is Truth.YES for name in known_names):
            names.append(str(condition.value))
    return names


# Implication of rules and conditions


def _implies(rule: Rule, other: Rule) -> bool:
    """
    Return True if `other` holds whenever `rule` does, and is at least unknown if `rule` is.

    That is: whenever `other` is NO, so is `rule`; whenever `rule` is YES, so is `other`.
    """
    if other.is_about_calls and not rule.is_about_calls:
        return False  # only `rule` holds for a question
    if other.unless and not (rule.unless and _keys(rule.unless) <= _keys(other.unless)):
        return False
    return all(
        any(_condition_implies(condition, target) for condition in rule.when)
        for target in other.when
    )


def _is_certain(rule: Rule) -> bool:
    """Return True if the rule is never unknown for a tool call."""
    return not rule.unless and all(
        condition.path in _ALWAYS_KNOWN and condition.op is not Op.SCHEMA and _texts_only(condition)
        for condition in rule.when
    )


def _texts_only(condition: Condition) -> bool:
    operands = _constants(condition)
    return condition.op is not Op.DOMAIN_IS and (
        operands is None or any(isinstance(operand, str) for operand in operands)
    )


def _condition_implies(left: Condition, right: Condition) -> bool:
    """Return True if YES of `left` means YES of `right`, and NO of `right` means NO of `left`."""
    if _key(left) == _key(right):
        return True
    if left.path != right.path or left.each is not right.each:
        return False
    if left.each and (left.negated or right.negated):
        return False
    constants = None if left.negated else _constants(left)
    if constants is not None:
        # The types for which `right` can be NO must be types for which `left` is not unknown.
        all_fit = all(_single_truth(right, constant) is Truth.YES for constant in constants)
        return all_fit and _types(right) <= _types(left)
    return _set_implies(left, right)


def _set_implies(left: Condition, right: Condition) -> bool:
    ranges = _range(left), _range(right)
    if ranges[0] and ranges[1]:
        return ranges[0].is_inside(ranges[1])
    if left.negated or right.negated or left.op is not right.op:
        return False
    return OPERATORS[left.op].implies(left.value, right.value)


def _contradict(left: Condition, right: Condition) -> bool:
    """Return True if no value is YES for both conditions, which have the same path."""
    if left.each or right.each:
        return False
    if _key(left, negated=not left.negated) == _key(right):
        return True
    for one_of, other in ((left, right), (right, left)):
        constants = None if one_of.negated else _constants(one_of)
        if constants is not None:
            return not any(value_truth(other, constant) is Truth.YES for constant in constants)
    ranges = _range(left), _range(right)
    return bool(ranges[0] and ranges[1] and ranges[0].is_disjoint(ranges[1]))


def _constants(condition: Condition) -> tuple[Any, ...] | None:
    """Return the only values that fulfil an unnegated condition; None if there are others."""
    if condition.op is Op.IS:
        return (condition.value,)
    return condition.value if condition.op is Op.IS_ONE_OF else None


def _single_truth(condition: Condition, value: Any) -> Truth:
    """Return the truth for one item of a list, or for a value."""
    if not condition.each:
        return value_truth(condition, value)
    item = Condition(condition.path, condition.op, condition.value)
    truth = value_truth(item, value)
    return negate(truth) if condition.negated else truth


def _types(condition: Condition) -> frozenset[str]:
    """Return the types of values for which a condition may be NO."""
    operands = _constants(condition)
    if operands is not None:
        return frozenset(map(_type, operands))
    return OPERATORS[condition.op].types


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _range(condition: Condition) -> Range | None:
    """Return the numbers that fulfil a condition; None if it is no such condition."""
    numbers = OPERATORS[condition.op].numbers
    if numbers is None:
        return None
    return numbers(condition.value).opposite if condition.negated else numbers(condition.value)


def _is_as_strict(other: Requirement, rule: Requirement) -> bool:
    """Return True if merging `rule` with `other` gives `other`, whatever else is merged."""
    checks = (
        Counter(rule.slots) <= Counter(other.slots),
        _approval_rank(other) <= _approval_rank(rule),
        _is_no_more(other.fresh_sign_in_minutes, rule.fresh_sign_in_minutes),
        rule.keys or not other.keys,
        rule.via is None or (other.via is not None and set(other.via) <= set(rule.via)),
        rule.grantable or not other.grantable,
        other.urgent or not rule.urgent,
        rule.on_expiry is OnExpiry.CANCEL or other.on_expiry is OnExpiry.DENY,
        _are_times_covered(other, rule),
    )
    return all(checks)


def _are_times_covered(other: Requirement, rule: Requirement) -> bool:
    same_hours = rule.hours == other.hours
    expiry = rule.expires_after is None or (
        same_hours and _is_no_more(other.expires_after, rule.expires_after)
    )
    reminders = not rule.remind or (same_hours and set(rule.remind) <= set(other.remind))
    # A rule that escalates no slot of its own forbids other rules to escalate it.
    escalations = rule.escalate == other.escalate and (same_hours or not rule.escalate)
    return expiry and reminders and (escalations or (not rule.slots and bool(other.slots)))


def _is_no_more(other: Any, limit: Any) -> bool:
    return limit is None or (other is not None and other <= limit)


def _approval_rank(requirement: Requirement) -> int:
    return {False: 0, None: 1, True: 2}[requirement.self_approval]


def _key(condition: Condition, *, negated: bool | None = None) -> str:
    """Return a text that is equal for equal conditions; in Python, true equals 1."""
    body = condition.to_json()
    body["not"] = condition.negated if negated is None else negated
    return canonical_json(body)


def _keys(conditions: Iterable[Condition]) -> set[str]:
    return set(map(_key, conditions))
