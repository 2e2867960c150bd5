"""Warnings about rules: implied, never true, unknown tools; none of them is false."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.policies.evaluation import VersionedPolicy, evaluate, rule_truth
from inbox.rules.policies.facts import FactReader, facts_from_json
from inbox.rules.policies.implication import KnownNames, implied_rules, is_never_true, warnings
from inbox.rules.policies.language.document import parse_policy
from tests.support.policies import generator
from tests.support.policies.documents import (
    IS_REFUND,
    NOW,
    amount,
    condition,
    document,
    rule,
)
from tests.support.properties.json_values import generated

TOOLS = ["refund", "mail"]
TWO = {"slots": [{"role": "reviewer"}, {"role": "admin"}]}


def codes(*rules, **names):
    results = warnings(parse_policy(document(*rules)), KnownNames(**names))
    return [(item.rule, item.code.value, item.detail) for item in results]


def is_implied(narrow, wide):
    return codes({**wide, "id": "wide"}, {**narrow, "id": "narrow"}) == [
        ("narrow", "implied", "wide")
    ]


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (amount("lte", 50), amount("lte", 100)),
        (amount("lt", 50), amount("lte", 50)),
        (amount("between", [10, 20]), amount("gt", 9)),
        ({**amount("gt", 50), "not": True}, amount("lt", 51)),
        (amount("is", 5), amount("between", [0, 5.0])),
        (IS_REFUND, condition("/tool", "is_one_of", ["refund", "mail"])),
        (IS_REFUND, condition("/tool", "matches", "ref*")),
        (condition("/tool", "starts_with", "refund"), condition("/tool", "starts_with", "ref")),
        (
            condition("/args/to", "domain_is", "a.org"),
            condition("/args/to", "domain_is", ["a.org", "b.org"]),
        ),
    ],
)
def test_a_narrower_rule_is_implied(narrow, wide):
    assert is_implied(rule("ask", narrow), rule("ask", wide))
    assert not is_implied(rule("ask", wide), rule("ask", narrow))


def test_a_rule_under_a_denial_is_implied():
    assert is_implied(rule("allow", IS_REFUND, amount("lte", 50)), rule("deny", IS_REFUND))
    assert is_implied(rule("ask", IS_REFUND, require=TWO), rule("deny", IS_REFUND))


def test_a_denial_in_doubt_leaves_the_requirements_of_a_question():
    assert not is_implied(
        rule("ask", amount("lte", 1), require=TWO), rule("deny", amount("lte", 5))
    )


def test_a_weaker_rule_implies_nothing():
    assert codes(rule("deny", IS_REFUND, amount("gt", 50)), rule("ask", IS_REFUND)) == []
    assert codes(rule("allow", IS_REFUND), rule("ask", IS_REFUND, amount("gt", 50))) == []


def test_a_question_with_more_requirements_is_not_implied():
    strict, plain = rule("ask", IS_REFUND, id="a", require=TWO), rule("ask", IS_REFUND, id="b")

    assert codes(strict, plain) == [("b", "implied", "a")]
    assert codes(plain, strict) == [("b", "implied", "a")]


def test_of_two_equal_rules_the_later_is_implied():
    assert codes(rule("ask", id="a"), rule("ask", id="b")) == [("b", "implied", "a")]


def test_true_does_not_imply_1():
    assert (
        codes(rule("ask", amount("is", True), id="a"), rule("ask", amount("is", 1), id="b")) == []
    )


def test_an_exception_of_the_wider_rule_counts():
    unless = [condition("/agent", "is", "desk")]

    assert not is_implied(rule("ask", IS_REFUND), rule("ask", IS_REFUND, unless=unless))
    assert is_implied(rule("ask", IS_REFUND, unless=unless), rule("ask", IS_REFUND))
    assert is_implied(
        rule("ask", IS_REFUND, amount("lte", 1), unless=unless),
        rule("ask", IS_REFUND, unless=unless),
    )


@pytest.mark.parametrize(
    "conditions",
    [
        [amount("lt", 50), amount("gt", 50)],
        [amount("lte", 50), amount("gt", 50)],
        [IS_REFUND, condition("/tool", "is", "mail")],
        [IS_REFUND, condition("/tool", "starts_with", "m")],
        [IS_REFUND, {**IS_REFUND, "not": True}],
    ],
)
def test_contradictions_never_hold(conditions):
    assert codes(rule("ask", *conditions)) == [("ask-it", "never", "")]


def test_touching_ranges_may_hold():
    assert codes(rule("ask", amount("lte", 50), amount("gte", 50))) == []


def test_a_rule_with_itself_as_exception_never_holds():
    assert codes(rule("ask", IS_REFUND, unless=[IS_REFUND])) == [("ask-it", "never", "")]


def test_unknown_tools_are_named():
    rules = [
        rule("deny", condition("/tool", "is_one_of", ["refund", "refnud"]), id="a"),
        rule("ask", condition("/tool", "matches", "delete_*"), id="b"),
        rule("ask", {**condition("/tool", "is", "gone"), "not": True}, id="c"),
    ]

    assert codes(*rules, tools=TOOLS) == [
        ("a", "unknown_tool", "refnud"),
        ("b", "unknown_tool", "delete_*"),
    ]


def related(random, base):
    """Return a rule near another one, so that one may imply the other."""
    other = generator.rule(random, 2, ["allow", "ask", "deny"])
    shared = [item for item in base["when"] if random.random() < 0.7]
    narrowed = []
    for item in shared:
        value = item.get("value")
        is_number = type(value) in (int, float) and item["op"] != "longest"
        other_value = {"value": random.choice([0, 10, 50, 100])}
        narrowed.append({**item, **(other_value if is_number and random.random() < 0.5 else {})})
    other["when"] = narrowed + (other["when"][:1] if random.random() < 0.3 else [])
    if random.random() < 0.7:
        other.pop("unless", None)
    return other


def pair(random):
    base = generator.rule(random, 1, ["allow", "ask", "deny"])
    rules = [base, related(random, base)]
    for item in rules:
        item.pop("mode", None)
        if item["effect"] == "allow" and not item["when"]:
            item["when"] = [IS_REFUND]
        for test in (*item["when"], *item.get("unless", [])):
            if test["path"] == "/requester/groups":
                test.setdefault("each", "any")
        if item["effect"] != "ask":
            item.pop("require", None)
    random.shuffle(rules)
    return parse_policy(document(*rules))


def outcome(rules, policy, facts):
    version = VersionedPolicy(1, type(policy)(tuple(rules), policy.calendars))
    ruling = evaluate([version], facts, NOW)
    return ruling.effect, ruling.grantable, ruling.requirement


@generated(100)  # of 100 pairs each
@given(st.integers(0, 2**32))
def test_no_warning_about_a_rule_with_an_effect(seed):
    random = Random(seed)
    for _ in range(100):
        policy = pair(random)
        removed = {rule_id for rule_id, _ in implied_rules(policy.rules)}
        left = [item for item in policy.rules if item.id not in removed]
        never = [item for item in policy.rules if is_never_true(item)]
        for _ in range(30 if removed or never else 0):
            facts = facts_from_json(generator.subject(random))

            assert outcome(left, policy, facts) == outcome(policy.rules, policy, facts), policy
            for item in never:
                assert rule_truth(item, policy, FactReader(facts)) != "yes"


def test_unknown_agents_and_environments_are_named():
    rules = [
        rule("ask", condition("/agent", "is", "desk"), id="a"),
        rule("deny", condition("/agent", "is", "dsek"), id="b"),
        rule("ask", condition("/environment", "is", "prod"), id="c"),
        rule("deny", condition("/environment", "matches", "produ*"), id="d"),
    ]

    assert codes(*rules) == []
    assert codes(*rules, agents=["desk"], environments=["production"]) == [
        ("b", "unknown_agent", "dsek"),
        ("c", "unknown_environment", "prod"),
    ]
