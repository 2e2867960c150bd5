"""The effect that a rule would have had on the calls of the last 30 days."""

from datetime import UTC, datetime
from random import Random

import pytest

from inbox.actions.policies.installation import publish_installation_policy
from inbox.queries.policies.history import rule_impact as impact_module
from inbox.queries.policies.history.rule_impact import rule_impact
from inbox.rules.errors import Forbidden
from inbox.rules.people.access import SEED
from inbox.rules.policies.backtest import PastOutcome
from inbox.rules.policies.evaluation import (
    VersionedPolicy,
    combined_effect,
    evaluate,
    strongest_effect,
)
from inbox.rules.policies.facts import FactReader, facts_from_json
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import Effect
from tests.support.policies.generator import document, subject
from tests.support.policies.past_calls import copy_requests
from tests.support.policies.published import administrator, rule, tool_is, up_to
from tests.support.steps import approve, deny, start

MAIL = tool_is("send_email")
NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def nothing_in_memory():
    impact_module._memories.clear()


@pytest.fixture
def admin(world):
    return administrator(world)


def ask(world, act=None):
    row = start(world, "rehearse:tool_call").interrupts.get()
    if act:
        act(row, world.actor(world.bob))
        row.refresh_from_db()
    return row


def ask_about(world, *amounts, act=approve):
    """Store a decided request for each amount."""
    row = ask(world, act)
    copy_requests(
        [row], len(amounts), args_of=lambda number, args: {**args, "amount": amounts[number]}
    )


def impact(world, actor, changed, *others):
    policy = parse_policy({"rules": [changed, *others]})
    return rule_impact(actor, world.team, policy, policy.rules[0])


def test_a_limit_divides_the_matching_calls(world, admin):
    ask_about(world, 10, 50, 51, 90)

    result = impact(world, admin, rule("small", "allow", MAIL, up_to(50)))

    assert result.effects == {Effect.ALLOW: 2, None: 3}
    assert sorted(call.amount for call in result.calls if call.effect) == [10, 50]


def test_other_rules_of_the_draft_take_part(world, admin):
    ask_about(world, 10, 20, 90)
    small = rule("small", "allow", MAIL, up_to(50))
    asks = rule("asks", "ask", {"path": "/args/amount", "op": "gte", "value": 20})
    never = rule("never", "deny", {"path": "/args/amount", "op": "is", "value": 10})

    assert impact(world, admin, small, asks).effects[Effect.ASK] == 1
    assert impact(world, admin, small, asks, never).effects == {
        Effect.DENY: 1,
        Effect.ASK: 1,
        None: 2,
    }
    assert impact(world, admin, small).effects[Effect.ALLOW] == 2


def test_the_policy_of_the_installation_takes_part(world, admin):
    ask_about(world, 10)
    body = {"rules": [rule("no", "deny", MAIL)]}
    publish_installation_policy(body=body, actor=SEED, comment="", seen_version=0)
    world.team.refresh_from_db()

    assert impact(world, admin, rule("all", "allow", MAIL)).effects == {Effect.DENY: 2}


@pytest.mark.parametrize(
    ("effect", "act", "outcome"),
    [("allow", deny, PastOutcome.REJECTED), ("deny", approve, PastOutcome.APPROVED)],
)
def test_decisions_against_a_rule_are_contradictions(world, admin, effect, act, outcome):
    row = ask(world, act)

    (call,) = impact(world, admin, rule("r", effect, MAIL)).contradictions

    assert (call.id, call.outcome) == (str(row.pk), outcome)
    assert not impact(world, admin, rule("r", "ask", MAIL)).contradictions


def test_a_decision_after_the_first_look_counts(world, admin):
    row = ask(world)
    changed = rule("r", "allow", MAIL)
    assert not impact(world, admin, changed).contradictions

    deny(row, world.actor(world.bob))

    assert len(impact(world, admin, changed).contradictions) == 1


def test_questions_never_match(world, admin):
    for scenario in ("input_required", "confirmation", "tool_call"):
        start(world, f"rehearse:{scenario}")

    for changed in (
        rule("r", "ask", MAIL),
        rule("r", "ask", {**MAIL, "not": True}),
        rule("r", "ask"),
    ):
        assert impact(world, admin, changed).read == 1


def test_a_rule_in_shadow_counts_as_if_in_force(world, admin):
    ask(world, approve)

    shadow = impact(world, admin, rule("r", "allow", MAIL, mode="shadow"))

    assert shadow.effects == {Effect.ALLOW: 1}


def test_calls_with_long_arguments_are_left_out_and_told(world, admin):
    row = ask(world, approve)
    copy_requests([row], 1, args_of=lambda _number, args: {**args, "body": "x" * 5_000})

    result = impact(world, admin, rule("r", "allow", MAIL))

    assert (result.read, result.is_cut) == (1, True)


def test_many_calls_are_read_in_several_looks(world, admin, monkeypatch):
    monkeypatch.setattr(impact_module, "_READ_AT_ONCE", 4)
    copy_requests([ask(world, approve)], 9)
    changed = rule("r", "allow", MAIL)

    looks = [impact(world, admin, changed) for _ in range(4)]

    assert [look.read for look in looks] == [4, 8, 10, 10]
    assert [look.is_cut for look in looks] == [True, True, False, False]


def test_only_administrators_try_rules_on_calls(world, admin):
    with pytest.raises(Forbidden):
        impact(world, world.actor(world.bob), rule("r", "allow", MAIL))


def test_effects_combine_as_in_a_ruling():
    for seed in range(300):
        random = Random(seed)
        policy = parse_policy(document(random))
        facts = facts_from_json(subject(random))
        reader = FactReader(facts)
        for number in range(len(policy.rules) + 1):
            first = type(policy)(policy.rules[:number], policy.calendars)
            second = type(policy)(policy.rules[number:], policy.calendars)
            effects = [strongest_effect([part], reader) for part in (first, second)]
            ruling = evaluate([VersionedPolicy(1, policy)], facts, NOW, explain=False)
            assert combined_effect(effects, reader) is ruling.effect
