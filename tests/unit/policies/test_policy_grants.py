"""Grants: the calls that they cover, their caps, and what is left of them."""

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest

from inbox.rules.policies.grants import (
    Budget,
    Call,
    GrantInvalid,
    GrantState,
    GrantTerms,
    check_terms,
    covers,
    limits_for,
    spend,
    terms_from_json,
)
from tests.support.policies.documents import NOW

ARGS = {"amount": 40, "to": "a@example.org", "note": {"lines": [1, 2.5]}}


def terms(args=ARGS, thread=None, budget=None, **choices):
    budget = Budget("amount", Decimal(budget)) if budget else None
    return GrantTerms(
        agent="desk", tool="refund", limits=limits_for(args, choices), thread=thread, budget=budget
    )


def call(**args):
    return Call("desk", "t1", "refund", {**ARGS, **args})


def grant(**more):
    return GrantState(terms(amount={"up_to": 50}, **more), NOW + timedelta(hours=2))


def problems(*, args=ARGS, **choices):
    with pytest.raises(GrantInvalid) as error:
        limits_for(args, choices)
    return [problem["pointer"] for problem in error.value.detail["problems"]]


def test_arguments_without_a_choice_stay_the_same():
    assert covers(terms(), call())
    assert covers(terms(), call(note={"lines": [1.0, 2.5]}))
    assert not covers(terms(), call(amount=41))
    assert not covers(terms(), call(amount="40"))
    assert not covers(terms(), call(note={"lines": [2.5, 1]}))


@pytest.mark.parametrize("value", [0, 40, 50, 50.0, 49.99])
def test_numbers_up_to_the_limit_are_covered(value):
    assert covers(terms(amount={"up_to": 50}), call(amount=value))


@pytest.mark.parametrize(
    "value", [50.01, 51, -1, True, "40", None, [40], 10**400, float("nan"), float("-inf"), -0.5]
)
def test_other_values_are_not_up_to_the_limit(value):
    assert not covers(terms(amount={"up_to": 50}), call(amount=value))


def test_any_value_is_also_none():
    without_to = {name: value for name, value in ARGS.items() if name != "to"}

    assert covers(terms(to="any"), call(to=["whatever"]))
    assert covers(terms(to="any"), Call("desk", "t1", "refund", without_to))
    assert not covers(terms(), Call("desk", "t1", "refund", without_to))


def test_a_new_argument_is_not_covered():
    assert not covers(terms(), call(force=True))


def test_agent_tool_and_thread_are_part_of_a_grant():
    assert covers(terms(thread="t1"), call())
    assert not covers(terms(thread="t2"), call())
    assert not covers(terms(), replace(call(), tool="delete"))
    assert not covers(terms(), replace(call(), agent="other"))
    assert not covers(terms(), replace(call(), args=[1]))


def test_problems_of_choices():
    assert problems(other="any") == ["/other"]
    assert problems(amount={"up_to": 10}) == ["/amount"]
    assert problems(to="up_to") == ["/to"]
    assert problems(amount={"up_to": True}) == ["/amount"]
    assert problems(amount="most", to="least") == ["/amount", "/to"]
    assert problems(args={"x": "y" * 20_000}) == [""]
    assert problems(args={"x": float("nan")}) == [""]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"time": timedelta(hours=24, minutes=1)}, "/minutes"),
        ({"time": timedelta()}, "/minutes"),
        ({"most_uses": 101}, "/most_uses"),
        ({"most_uses": 0}, "/most_uses"),
        ({"budget": Budget("to", Decimal(5))}, "/budget/argument"),
        ({"budget": Budget("other", Decimal(5))}, "/budget/argument"),
        ({"budget": Budget("amount", Decimal(0))}, "/budget/amount"),
        ({"budget": Budget("amount", Decimal("NaN"))}, "/budget/amount"),
        ({"budget": Budget("amount", Decimal("Infinity"))}, "/budget/amount"),
    ],
)
def test_above_a_cap_a_grant_is_refused_and_not_reduced(change, place):
    with pytest.raises(GrantInvalid) as error:
        check_terms(replace(terms(), **change))

    assert [problem["pointer"] for problem in error.value.detail["problems"]] == [place]


def test_the_defaults_are_within_the_caps():
    check_terms(terms(amount={"up_to": 50}, budget=500))

    assert (terms().time, terms().most_uses) == (timedelta(hours=2), 20)


def test_a_budget_needs_an_argument_with_a_limit():
    with pytest.raises(GrantInvalid):
        check_terms(terms(amount="any", budget=500))


def test_terms_are_stored_and_read_back():
    stored = terms(amount={"up_to": 50.5}, to="any", thread="t1", budget="99.90")

    assert terms_from_json(json.loads(json.dumps(stored.to_json()))) == stored


def test_uses_are_counted_to_the_last():
    state, approved = grant(), 0
    while isinstance(state, GrantState):
        state = spend(state, call(), NOW)
        approved += isinstance(state, GrantState)

    assert (approved, state) == (20, "used_up")


def test_a_budget_is_exact():
    state = grant(budget="0.3")
    for _ in range(3):
        state = spend(state, call(amount=0.1), NOW)

    assert state.spent == Decimal("0.3")
    assert state.is_exhausted
    assert spend(state, call(amount=0.1), NOW) == "over_budget"
    assert spend(state, call(amount=0), NOW).used == 4


def test_the_moment_of_expiry_is_too_late():
    state = grant()

    assert spend(state, call(), state.expires_at - timedelta(microseconds=1)).used == 1
    assert spend(state, call(), state.expires_at) == "expired"


def test_a_grant_that_was_ended_approves_nothing():
    assert spend(replace(grant(), has_ended=True), call(), NOW) == "ended"


def test_a_call_that_is_not_covered_uses_nothing():
    assert spend(grant(), call(amount=60), NOW) == "not_covered"


def test_no_sequence_of_calls_exceeds_uses_or_budget():
    random = Random(7)
    for _ in range(200):
        budget = Decimal(random.randint(1, 400))
        state = replace(grant(budget=budget), used=random.randint(0, 19))
        before, total = state.used, Decimal(0)
        for _ in range(40):
            value = random.choice([0, 1, 12.5, 49.99, 50, 51, "5", None, True])
            after = spend(state, call(amount=value), NOW)
            if isinstance(after, GrantState):
                total += Decimal(str(value))
                state = after

        assert total == state.spent <= budget
        assert before <= state.used <= 20
