"""Sentences: rules and rulings as people read them, in English and German."""

import pytest
from django.utils import translation

from inbox.rules.policies.evaluation import apply_grant
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.sentences import (
    condition_text,
    effect_sentence,
    explanation,
    rule_sentence,
)
from inbox.web.base.translate import translate
from tests.support.policies.documents import (
    IS_REFUND,
    amount,
    condition,
    document,
    rule,
    ruling,
)

RULES = [
    rule("allow", IS_REFUND, amount("lte", 50), id="small", name="Small refunds"),
    rule(
        "ask",
        IS_REFUND,
        amount("gt", 50),
        id="large",
        name="Large refunds",
        require={"slots": [{"group": "finance"}, {"role": "reviewer"}]},
    ),
]


def sentence(body, **more):
    return rule_sentence(parse_policy(document(body)).rules[0], **more)


def text(test, **more):
    return condition_text(parse_policy(document(rule("ask", test))).rules[0].when[0], **more)


def test_a_ruling_is_explained_with_its_values():
    assert explanation(ruling(*RULES, args={"amount": 860.5})) == [
        "Large refunds (version 1) asked: tool = refund and amount 860.5 > 50.",
        "Needs one of finance and one reviewer.",
        "Small refunds (version 1) did not apply: amount 860.5 > 50.",
    ]


def test_a_doubt_is_explained():
    assert explanation(ruling(RULES[0], args={"amount": "40"})) == [
        "No rule decides this request.",
        "Small refunds (version 1) did not apply: amount has another type.",
    ]
    assert explanation(ruling(rule("deny", amount("gt", 50)), args={}))[:2] == [
        "A rule that denies may apply, so a person decides.",
        "deny-it (version 1) may deny: amount is missing.",
    ]


def test_masked_values_stay_masked():
    secret = rule("ask", condition("/args/card", "starts_with", "4"), id="card")

    sentences = explanation(
        ruling(secret, args={"card": "4111"}),
        mask=lambda tokens, value: "\u2022\u2022" if tokens[-1] == "card" else value,
    )

    assert sentences[0] == "card (version 1) asked: card \u2022\u2022 starts with 4."
    assert "4111" not in " ".join(sentences)


def test_a_grant_and_an_overruled_rule_are_explained():
    question = ruling(RULES[0], rule("ask", IS_REFUND, id="all"))

    assert explanation(apply_grant(question, "g1")) == [
        "all (version 1) asked: tool = refund.",
        "A grant approved the call.",
        "Small refunds (version 1) is overruled.",
    ]


def test_a_rule_is_a_sentence():
    assert sentence(RULES[0]) == (
        "When any agent calls refund and amount is at most 50, run without asking."
    )
    assert sentence(rule("deny", unless=[condition("/agent", "is", "desk")], mode="shadow")) == (
        "When any agent makes a request, deny, unless agent is desk. "
        "The rule is tried out without an effect."
    )


def test_the_requirements_of_a_rule_are_sentences():
    require = {
        "slots": [{"group": "finance"}] * 2,
        "self_approval": False,
        "fresh_sign_in_minutes": 5,
        "keys": False,
        "via": ["web", "link"],
        "grantable": False,
        "expires_after": "PT4H",
        "on_expiry": "deny",
        "hours": "berlin",
        "remind": ["PT90M"],
        "escalate": [{"after": "PT2H", "to": "group:leads"}],
    }

    assert sentence(rule("ask", require=require)) == (
        "When any agent makes a request, ask 2 of finance. "
        "Requesters may not approve their own requests. "
        "Needs a sign-in in the last 5 minutes. API keys may not decide. "
        "Decisions are possible through: the inbox, links in e-mails. Grants are not possible. "
        "After 4 h the request is denied. A reminder after 1 h 30 min. "
        "After 2 h, leads may decide in their place. Times count in the hours berlin."
    )


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (amount("between", [1, 2.5]), "amount is between 1 and 2.5"),
        ({**amount("lt", 5), "not": True}, "amount \u2265 5"),
        (condition("/args/a/b", "is_one_of", ["x", 1, True]), "a.b is one of: x, 1, true"),
        (condition("/args/to", "domain_is", "a.org", not_=True), "to is not an address at a.org"),
        (
            condition("/args/to", "ends_with", "x", each="any"),
            "any item of to ends with x",
        ),
        (
            condition("/args/to", "is", "x", each="any", not_=True),
            "no item of to = x",
        ),
        (condition("/args/force", "present", not_=True), "force has no value"),
        (condition("/local_time", "in_hours", "berlin"), "time is in the hours berlin"),
        (
            condition("/args", "schema", {"type": "object"}),
            'arguments fits the schema {"type":"object"}',
        ),
        (condition("/args/x", "is_one_of", list(range(9))), "x is one of: 0, 1, 2, 3, 4, \u2026"),
    ],
)
def test_conditions_are_words(test, words):
    assert text(test) == words


def test_braces_in_names_and_values_are_text():
    assert text(condition("/args/{0.x}", "is", "{value}")) == "{0.x} = {value}"
    assert text(condition("/args/{x}", "contains", "{y}")) == "{x} contains {y}"


def test_sentences_are_translated():
    with translation.override("de"):
        assert sentence(RULES[0], translate=translate) == (
            "Wenn ein beliebiger Agent refund aufruft und gilt: amount ist höchstens 50, "
            "dann ohne Rückfrage ausführen."
        )
        assert explanation(ruling(*RULES, args={"amount": 860.5}), translate)[2] == (
            "Small refunds (Version 1) traf nicht zu: amount 860.5 > 50."
        )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            rule("ask", condition("/agent", "is", "desk"), IS_REFUND, amount("gt", 100)),
            "When desk calls refund and amount is above 100, ask one reviewer.",
        ),
        (
            rule("deny", condition("/tool", "is_one_of", ["a", "b", "c"])),
            "When any agent calls a, b or c, deny.",
        ),
        (
            rule("deny", condition("/tool", "is", "a", not_=True)),
            "When any agent calls any tool and tool is not a, deny.",
        ),
        (
            rule("ask", IS_REFUND, require={"slots": [{"role": "admin"}] * 2 + [{"group": "x"}]}),
            "When any agent calls refund, ask 2 administrators and one of x.",
        ),
        (
            rule("allow", IS_REFUND, amount("between", [0, 5]), {**amount("lt", 2), "not": True}),
            (
                "When any agent calls refund and amount is between 0 and 5 and amount is at least "
                "2, run without asking."
            ),
        ),
    ],
)
def test_a_sentence_names_agent_tool_conditions_and_people(body, words):
    assert sentence(body) == words


def test_the_parts_that_can_be_chosen_are_marked():
    policy = parse_policy(document(RULES[1]))

    assert effect_sentence(policy.rules[0], mark=lambda text: f"[{text}]") == (
        "When [any agent] calls [refund] and [amount] is above [50], "
        "ask [one of finance] and [one reviewer]."
    )
