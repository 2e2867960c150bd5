"""Backtests: the table, and contradictions first."""

from datetime import timedelta

from inbox.rules.policies.backtest import PastOutcome, PastRequest, backtest
from inbox.rules.policies.evaluation import VersionedPolicy
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import Effect
from tests.support.policies.documents import IS_REFUND, NOW, amount, document, facts, rule

RULES = [
    rule("allow", IS_REFUND, amount("lte", 50), id="small"),
    rule("deny", IS_REFUND, amount("gt", 500), id="huge"),
    rule("ask", amount("is", -1), id="unused"),
    rule("deny", id="shadow", mode="shadow"),
]


def past(number, outcome, args):
    at = NOW + timedelta(minutes=number)
    return PastRequest(f"r{number}", at, facts(args=args), PastOutcome(outcome))


def run(*requests):
    policy = VersionedPolicy(3, parse_policy(document(*RULES)))
    return backtest([policy], [past(number, *item) for number, item in enumerate(requests)])


def test_requests_are_counted_by_effect_and_outcome():
    result = run(
        *[("approved", {"amount": 10})] * 3,
        ("rejected", {"amount": 10}),
        ("approved", {"amount": 100}),
        ("approved", {"amount": 1000}),
    )

    assert result.total == 6
    assert (result.count(Effect.ALLOW), result.count(Effect.ALLOW, PastOutcome.REJECTED)) == (4, 1)
    assert result.table[Effect.ASK, PastOutcome.APPROVED] == 1
    assert list(result.table)[:2] == [
        (Effect.ALLOW, PastOutcome.REJECTED),
        (Effect.DENY, PastOutcome.APPROVED),
    ]


def test_contradictions_come_with_the_gravest_first():
    result = run(
        ("approved", {"amount": 1000}),
        ("edited", {"amount": 10}),
        ("approved", {"amount": 10}),
        ("rejected", {"amount": 10}),
    )

    assert [(item.request, item.rules) for item in result.contradictions] == [
        ("r3", ("small",)),
        ("r1", ("small",)),
        ("r0", ("huge",)),
    ]


def test_facts_that_were_not_stored_are_unknown():
    result = run(("approved", None), ("approved", {}))

    assert result.count(Effect.ASK) == 2


def test_rules_that_decided_nothing_are_named():
    result = run(("approved", {"amount": 10}), ("approved", {"amount": 1000}))

    assert result.unused == ("unused",)
    assert result.decided == {"small": 1, "huge": 1, "unused": 0}


def test_answers_of_rules_and_open_requests_contradict_nothing():
    assert run(("by_rule", {"amount": 10}), ("open", {"amount": 10})).contradictions == ()
