"""The differences between two policies, rule by rule."""

from dataclasses import dataclass

from inbox.rules.policies.language.policy import Policy, Rule


@dataclass(frozen=True)
class RuleChange:
    """A rule that was added (`before` is None), removed (`after` is None) or changed."""

    before: Rule | None
    after: Rule | None


def rule_changes(before: Policy, after: Policy) -> list[RuleChange]:
    """Return the rules that differ, by id: removed ones first; the order of rules never counts."""
    old = {rule.id: rule for rule in before.rules}
    new = {rule.id: rule for rule in after.rules}
    removed = [RuleChange(rule, None) for rule in before.rules if rule.id not in new]
    others = [
        RuleChange(old.get(rule.id), rule)
        for rule in after.rules
        if rule.id not in old or old[rule.id].to_json() != rule.to_json()
    ]
    return removed + others


def have_calendars_changed(before: Policy, after: Policy) -> bool:
    return before.to_json().get("calendars") != after.to_json().get("calendars")
