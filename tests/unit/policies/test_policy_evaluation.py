"""Rulings: the strongest rule, doubts, shadow rules, and explanations."""

import json
import sys

import pytest

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.policies.evaluation import (
    MAX_REASON_BYTES,
    VersionedPolicy,
    apply_grant,
    evaluate,
    ruling_from_json,
)
from inbox.rules.policies.language.document import parse_policy
from tests.support.policies.documents import (
    IS_REFUND,
    NOW,
    amount,
    condition,
    document,
    effect,
    facts,
    rule,
    ruling,
)

ALLOW = rule("allow", IS_REFUND)
ASK = rule("ask", IS_REFUND)
ASK_PERSON = rule("ask", IS_REFUND, id="ask-person", require={"grantable": False})
DENY = rule("deny", IS_REFUND)
DOUBTFUL = condition("/args/missing", "is", 1)


def reasons(*rules, **more):
    return [reason.value for reason in ruling(*rules, **more).reasons]


def test_without_a_rule_people_are_asked_as_before():
    outcome = ruling()

    assert (outcome.effect, outcome.grantable) == ("ask", True)
    assert [slot.slot.key for slot in outcome.requirement.slots] == ["role:reviewer"]
    assert reasons() == ["no_rule"]


@pytest.mark.parametrize(
    ("rules", "strongest"),
    [
        ([ALLOW], "allow"),
        ([ASK, ALLOW], "ask"),
        ([ALLOW, ASK_PERSON, DENY], "deny"),
        ([DENY, ALLOW], "deny"),
    ],
)
def test_the_strongest_effect_wins_in_any_order(rules, strongest):
    assert effect(*rules) == strongest
    assert effect(*reversed(rules)) == strongest


def test_one_rule_that_is_not_grantable_excludes_grants():
    assert ruling(ASK).grantable
    assert not ruling(ASK, ASK_PERSON).grantable


def test_a_grant_approves_only_what_one_person_may():
    assert apply_grant(ruling(ASK), "g1").effect == "grant"
    for outcome in (ruling(ASK_PERSON), ruling(DENY), ruling(ALLOW)):
        with pytest.raises(ValueError, match="grant"):
            apply_grant(outcome, "g1")


def test_an_unknown_rule_never_allows():
    outcome = ruling(rule("allow", IS_REFUND, DOUBTFUL))

    assert (outcome.effect, outcome.grantable) == ("ask", True)
    assert outcome.rules == ()
    assert effect(ALLOW, rule("allow", IS_REFUND, DOUBTFUL, id="doubtful")) == "allow"


def test_an_unknown_rule_that_asks_asks():
    two = {"slots": [{"group": "finance"}, {"group": "leads"}]}

    outcome = ruling(ALLOW, rule("ask", DOUBTFUL, require=two))

    assert [slot.slot.name for slot in outcome.requirement.slots] == ["finance", "leads"]


def test_an_unknown_denial_asks_and_is_not_grantable():
    outcome = ruling(ALLOW, ASK, rule("deny", DOUBTFUL))

    assert (outcome.effect, outcome.grantable) == ("ask", False)
    assert reasons(rule("deny", DOUBTFUL)) == ["doubtful_denial"]


def test_one_condition_that_does_not_hold_outweighs_doubt():
    assert effect(ALLOW, rule("deny", DOUBTFUL, amount("gt", 50))) == "allow"


def test_exceptions_must_hold_together():
    exceptions = [amount("lte", 50), condition("/agent", "is", "desk")]

    assert effect(rule("deny", unless=exceptions), ALLOW) == "allow"
    assert effect(rule("deny", unless=[*exceptions, amount("lte", 1)]), ALLOW) == "deny"
    assert effect(rule("deny", unless=[*exceptions, DOUBTFUL]), ALLOW) == "ask"
    assert effect(rule("allow", IS_REFUND, unless=[DOUBTFUL])) == "ask"


def test_modes_other_than_enforce_have_no_effect():
    assert effect(ALLOW, {**DENY, "mode": "off"}) == "allow"
    assert effect(ALLOW, {**DENY, "mode": "shadow"}) == "allow"


def test_shadow_rules_tell_what_they_would_have_changed():
    shadow = [
        {**DENY, "mode": "shadow"},
        {**ASK, "mode": "shadow"},
        rule("allow", IS_REFUND, id="same", mode="shadow"),
        rule("deny", amount("gt", 50), id="other", mode="shadow"),
    ]

    changes = ruling(ALLOW, *shadow).shadow

    assert [(change.rule, change.effect.value) for change in changes] == [
        ("deny-it", "deny"),
        ("ask-it", "ask"),
    ]


def test_a_shadow_rule_that_asks_for_more_people_is_a_change():
    two = {"slots": [{"role": "reviewer"}, {"role": "admin"}]}
    strict = rule("ask", IS_REFUND, id="strict", require=two, mode="shadow")

    change = ruling(ASK, strict).shadow[0]

    assert (change.effect, change.stricter, change.grantable) == ("ask", True, False)


def test_the_installation_is_stricter_than_the_team():
    assert effect(ALLOW, installation=[rule("ask", IS_REFUND)]) == "ask"
    assert effect(ALLOW, installation=[rule("deny", IS_REFUND)]) == "deny"
    assert ruling(DENY, installation=[rule("ask")]).rules == ("deny-it",)
    assert ruling(installation=[DENY]).rules == ("installation:deny-it",)


@pytest.mark.parametrize("reason", ["confirmation", "input_required", "signoff:outcome_unknown"])
def test_only_tool_calls_are_answered_by_rule(reason):
    allow = rule("allow", condition("/agent", "is", "desk"))
    deny = rule("deny", condition("/agent", "is", "desk"))

    for rules in ([allow], [deny]):
        call = {} if reason == "signoff:outcome_unknown" else {"tool": None, "args": None}
        outcome = ruling(*rules, reason=reason, **call)
        assert (outcome.effect, outcome.grantable) == ("ask", False)


def test_an_interrupt_without_a_call_is_not_answered_by_rule():
    allow = rule("allow", condition("/agent", "is", "desk"))

    assert reasons(allow, tool=None) == ["no_call"]
    assert reasons(allow, args=None) == ["no_call"]


@pytest.mark.parametrize(
    "change",
    [
        {"args": {"amount": 40, "note": "harm\u202eless"}},
        {"args": {"amount": 40, "am\u043eunt": 4000}},
        {"agent": "d\u0435sk"},
    ],
)
def test_misleading_characters_anywhere_in_a_call_ask(change):
    outcome = ruling(ALLOW, **change)

    assert (outcome.effect, outcome.grantable) == ("ask", False)
    assert outcome.reasons == ("deceptive",)


def test_a_lookalike_tool_has_the_requirements_of_the_real_one():
    two = {"slots": [{"group": "finance"}, {"group": "leads"}]}

    outcome = ruling(rule("ask", IS_REFUND, require=two), tool="r\u0435fund")

    assert len(outcome.requirement.slots) == 2


def test_misleading_characters_do_not_lift_a_denial():
    assert effect(DENY, args={"note": "harm\u202eless"}) == "deny"


def test_arguments_that_are_too_large_ask_whatever_a_rule_allows():
    outcome = ruling(ALLOW, args={"items": [0] * 20_000})

    assert (outcome.effect, outcome.grantable) == ("ask", False)
    assert outcome.reasons == ("too_large",)


def test_after_50_resumes_without_a_person_people_are_asked():
    assert effect(ALLOW, resumes_without_person=49) == "allow"
    assert effect(ALLOW, resumes_without_person=50) == "ask"
    assert not ruling(ASK, resumes_without_person=50).grantable
    assert effect(DENY, resumes_without_person=50) == "deny"


def test_an_unreadable_version_asks_for_everything():
    allow = VersionedPolicy(1, parse_policy(document(ALLOW)))

    outcome = evaluate([allow, VersionedPolicy(3, None, installation=True)], facts(), NOW)

    assert (outcome.effect, outcome.grantable) == ("ask", False)
    assert outcome.reasons == ("unreadable",)


def test_rules_without_a_common_way_in_leave_nobody():
    outcome = ruling(
        rule("ask", IS_REFUND, id="web", require={"via": ["web", "link"]}),
        rule("ask", IS_REFUND, id="rest", require={"via": ["rest"]}),
    )

    assert outcome.requirement.via == ()
    assert outcome.reasons == ("nobody",)


def test_matches_have_the_values_and_the_rules_that_nearly_applied():
    outcome = ruling(
        rule("allow", IS_REFUND, amount("lte", 50), id="small"),
        rule("ask", IS_REFUND, amount("gt", 50), id="large"),
        rule("deny", condition("/tool", "is", "delete"), id="other-tool"),
        args={"amount": 860.5},
    )

    assert [(match.rule, match.applied) for match in outcome.matches] == [
        ("large", True),
        ("small", False),
    ]
    results = [(result.value, result.truth) for result in outcome.matches[1].conditions]
    assert results == [("refund", "yes"), (860.5, "no")]


def test_explanations_are_small_whatever_matched():
    long = condition("/args/note", "is_one_of", ["\u20ac" * 900] * 2)
    rules = [rule("ask", long, id=f"r{number}", name="\u20ac" * 100) for number in range(3)]
    rules += [rule("ask", id=f"s{number}", name="\u20ac" * 100) for number in range(97)]

    outcome = ruling(*rules, args={"note": "\u20ac" * 100_000})

    assert len(canonical_json(outcome.reasons_json()).encode()) <= MAX_REASON_BYTES
    assert outcome.omitted + len(outcome.matches) == 97
    assert len(outcome.rules) == 97


@pytest.mark.parametrize("value", [1e20, 2**60, "\ud800", [1], {"a": 1}, True, None])
def test_any_value_can_be_stored_with_its_ruling(value):
    outcome = ruling(rule("ask", condition("/args/x", "is", 1), id="r"), args={"x": value})

    stored = json.loads(canonical_json(outcome.to_json()))

    assert ruling_from_json(stored) == outcome


def test_times_count_from_the_ruling_in_open_hours():
    require = {"expires_after": "PT4H", "hours": "berlin", "remind": ["PT1H", "PT3H"]}

    outcome = ruling(rule("ask", IS_REFUND, require=require))

    # 13:00 on Monday in Berlin; the day ends at 17:00.
    assert outcome.requirement.expires_at == NOW.replace(hour=16)
    assert [at.hour for at in outcome.requirement.remind_at] == [13, 15]


def python_calls(function):
    """Return the number of Python calls that a function makes."""
    count = 0

    def profile(_frame, event, _arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_a_rule_about_another_tool_costs_few_calls():
    other = condition("/tool", "is", "delete")
    rules = [rule("deny", other, amount("gt", n), id=f"r{n}") for n in range(100)]
    policies = [VersionedPolicy(1, parse_policy(document(*rules)))]
    evaluate(policies, facts(), NOW)

    assert python_calls(lambda: evaluate(policies, facts(), NOW)) < 100 * 15 + 200
