"""Rules about tools and arguments say nothing about what is no tool call."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.policies.evaluation import VersionedPolicy, evaluate
from inbox.rules.policies.facts import facts_from_json
from inbox.rules.policies.implication import WarningCode, warnings
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.sentences import explanation, rule_sentence
from tests.support.policies import generator
from tests.support.policies.documents import (
    IS_REFUND,
    NOW,
    amount,
    condition,
    document,
    rule,
    ruling,
)
from tests.support.properties.json_values import generated

QUESTION = {"tool": None, "args": None, "reason": "input_required"}
TWO = {"slots": [{"role": "reviewer"}, {"role": "admin"}]}
LARGE = {"type": "object", "properties": {"amount": {"minimum": 50}}}
ABOUT_CALLS = [
    IS_REFUND,
    condition("/tool", "is", "refund", not_=True),
    condition("/tool", "is_one_of", ["refund", "pay"], not_=True),
    condition("/tool", "matches", "*"),
    condition("/tool", "present"),
    condition("/tool", "present", not_=True),
    amount("gt", 50),
    amount("lte", 50),
    condition("/args/amount", "gt", 50, not_=True),
    condition("/args/amount", "present", not_=True),
    condition("/args/items", "is", "a", each="every"),
    condition("/args/items", "is", "a", each="any", not_=True),
    condition("/args", "present", not_=True),
    condition("/args", "schema", LARGE),
    condition("/args", "schema", LARGE, not_=True),
]


def needed(outcome):
    return sorted(slot.slot.key for slot in outcome.requirement.slots)


@pytest.mark.parametrize("about_calls", ABOUT_CALLS, ids=str)
@pytest.mark.parametrize("effect", ["ask", "deny"])
@pytest.mark.parametrize("reason", ["input_required", "confirmation", "acme:question"])
def test_a_rule_about_calls_does_not_bind_a_question(about_calls, effect, reason):
    require = {"require": TWO} if effect == "ask" else {}

    outcome = ruling(rule(effect, about_calls, **require), **{**QUESTION, "reason": reason})

    assert needed(outcome) == ["role:reviewer"]
    assert outcome.rules == ()
    assert "doubtful_denial" not in outcome.reasons


@pytest.mark.parametrize("about_calls", ABOUT_CALLS, ids=str)
def test_an_exception_about_calls_does_not_bind_a_question(about_calls):
    always = rule("ask", unless=[about_calls], require=TWO)
    of_agent = rule("ask", condition("/agent", "is", "desk"), unless=[about_calls], require=TWO)

    assert needed(ruling(always, **QUESTION)) == ["role:reviewer"]
    assert needed(ruling(of_agent, **QUESTION)) == ["role:reviewer"]


@pytest.mark.parametrize("about_calls", ABOUT_CALLS, ids=str)
def test_a_rule_that_names_the_reason_binds_its_questions(about_calls):
    is_question = condition("/reason", "is", "input_required")

    outcome = ruling(rule("ask", is_question, unless=[about_calls], require=TWO), **QUESTION)

    assert needed(outcome) == ["role:admin", "role:reviewer"]


def test_a_rule_about_an_agent_still_binds_its_questions():
    outcome = ruling(rule("ask", condition("/agent", "is", "desk"), require=TWO), **QUESTION)

    assert needed(outcome) == ["role:admin", "role:reviewer"]
    assert explanation(outcome)[:2] == [
        "Rules approve and deny tool calls only, so a person decides.",
        "ask-it (version 1) asked: agent = desk.",
    ]


@pytest.mark.parametrize("reason", ["tool_approval", "acme:approval", "input_required"])
def test_a_named_tool_call_is_one_whatever_its_reason(reason):
    assert ruling(rule("deny", IS_REFUND), reason=reason).effect == "deny"
    assert ruling(rule("allow", IS_REFUND), reason=reason).effect == "allow"
    assert needed(ruling(rule("ask", IS_REFUND, require=TWO), reason=reason)) == [
        "role:admin",
        "role:reviewer",
    ]


def test_a_missing_argument_of_a_tool_call_stays_in_doubt():
    for facts in ({"args": {}}, {"tool": None, "args": {"amount": 60}}, {"args": None}):
        outcome = ruling(rule("deny", IS_REFUND, amount("gt", 50)), **facts)
        assert (outcome.effect, outcome.rules) == ("ask", ("deny-it",)), facts


def test_an_unnamed_tool_does_not_evade_rules_about_arguments():
    outcome = ruling(rule("deny", amount("gt", 30)), tool="", reason="acme:approval")

    assert outcome.rules == ("deny-it",)


@generated(200)
@given(st.integers(0, 2**32))
def test_a_question_is_ruled_on_as_if_no_rule_named_a_call(seed):
    random = Random(seed)
    body = generator.document(random)
    for item in body["rules"]:
        for name in ("when", "unless"):
            for part in item.get(name, []):
                if part["path"] == "/requester/groups":
                    part.setdefault("each", "any")
    paths = {
        item["id"]: [part["path"] for part in [*item["when"], *item.get("unless", [])]]
        for item in body["rules"]
    }
    others = [
        item
        for item in body["rules"]
        if not any(path.startswith(("/tool", "/args")) for path in paths[item["id"]])
    ]
    facts = facts_from_json({**generator.subject(random), **QUESTION})

    outcome, without = (
        evaluate([VersionedPolicy(1, parse_policy(document))], facts, NOW)
        for document in (body, {**body, "rules": others})
    )

    assert outcome == without


def test_a_rule_for_questions_is_not_implied_by_one_for_calls():
    of_desk = condition("/agent", "is", "desk")
    at_night = condition("/local_time", "in_hours", "berlin")
    wide = rule("ask", of_desk, id="wide", unless=[at_night], require=TWO)
    calls = rule("ask", of_desk, id="calls", unless=[at_night, IS_REFUND], require=TWO)

    codes = warnings(parse_policy(document(wide, calls)))

    assert [item.rule for item in codes if item.code is WarningCode.IMPLIED] != ["wide"]


def test_a_tool_in_an_exception_makes_a_sentence_about_tool_calls():
    always, of_desk, of_questions = parse_policy(
        document(
            rule("ask", id="a", unless=[IS_REFUND]),
            rule("ask", condition("/agent", "is", "desk"), id="b", unless=[IS_REFUND]),
            rule("ask", condition("/reason", "is", "confirmation"), id="c", unless=[IS_REFUND]),
        )
    ).rules

    assert rule_sentence(always) == (
        "When any agent calls any tool, ask one reviewer, unless tool is refund."
    )
    assert rule_sentence(of_desk) == (
        "When desk calls any tool, ask one reviewer, unless tool is refund."
    )
    assert rule_sentence(of_questions) == (
        "When any agent makes a request and reason is confirmation, ask one reviewer, "
        "unless tool is refund."
    )
