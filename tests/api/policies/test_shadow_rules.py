"""Requests that shadow rules would have changed, over REST and on their page."""

import ag_ui.core as agui
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.queries.policies import backtests
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import approve, deny, start

PATH = "/api/teams/tests/policy/shadow"
PAGE = "/teams/tests/policy/shadow/"
LARGE = rule("large", "deny", tool_is("refund"), {"path": "/args/amount", "op": "gt", "value": 50})
SHADOW = {**LARGE, "mode": "shadow", "name": "Large refunds"}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


@pytest.fixture
def refund(world, as_agent):
    """Start a run that proposes a refund; return its interrupt."""

    def start_run(amount):
        async def play(run_input, ctx):
            if not ctx.answers:
                yield agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="refund")
                yield agui.ToolCallArgsEvent(tool_call_id="c", delta=f'{{"amount": {amount}}}')
                yield agui.ToolCallEndEvent(tool_call_id="c")
                interrupt = agui.Interrupt(id="i", reason="tool_call", tool_call_id="c")
                outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
                yield agui.RunFinishedEvent(thread_id="t", run_id="r", outcome=outcome)
                return
            yield agui.RunFinishedEvent(thread_id="t", run_id="r")

        return start(world, "go", agent=as_agent(play)).interrupts.get()

    return start_run


def shadow_rules(client, query=""):
    response = client.get(f"{PATH}{query}")
    assert response.status_code == 200
    return response.json()["rules"]


def test_requests_that_a_shadow_rule_would_change_are_listed(admin, world, bob, refund):
    refund(70)
    publish(world, SHADOW, rule("small", "allow", up_to(1)))
    approved, rejected, small = refund(60), refund(80), refund(10)
    approve(approved, bob)
    deny(rejected, bob)

    (row,) = shadow_rules(admin)
    assert (row["rule"], row["requests"], row["changed"], row["contradictions"]) == (
        ("large", 3, 2, 1)
    )
    assert {flip["tool"] for flip in row["flips"]} == {"refund"}
    assert [{**flip, "tool": "", "at": ""} for flip in row["flips"]] == [
        {
            "request": str(interrupt.pk),
            "tool": "",
            "at": "",
            "ruled": "ask",
            "effect": "deny",
            "stricter": False,
            "outcome": outcome,
        }
        for interrupt, outcome in ((rejected, "rejected"), (approved, "approved"))
    ]
    assert shadow_rules(admin, "?requests=1")[0]["requests"] == 1
    text = admin.get(PAGE).content.decode()
    assert "It would have changed 2 of 3 requests. People decided 1 of them differently." in text
    assert text.index(str(approved.pk)) < text.index(str(rejected.pk))
    assert str(small.pk) not in text
    assert f"{PAGE}#rule-large" in admin.get("/teams/tests/policy/").content.decode()


def test_rulings_of_versions_with_the_same_rule_count(admin, world, refund):
    publish(world, SHADOW)
    refund(60)
    publish(world, SHADOW, rule("other", "ask"))
    refund(60)
    assert shadow_rules(admin)[0]["changed"] == 2

    publish(world, {**SHADOW, "effect": "ask"})
    refund(60)
    assert shadow_rules(admin)[0]["requests"] == 1


def test_a_rule_that_would_need_other_people_is_a_flip(admin, world, refund):
    require = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
    publish(world, rule("two", "ask", tool_is("refund"), mode="shadow", require=require))
    refund(60)

    (flip,) = shadow_rules(admin)[0]["flips"]
    assert (flip["ruled"], flip["effect"], flip["outcome"]) == ("ask", "ask", "open")
    assert admin.get(PAGE).status_code == 200


def test_a_call_that_a_rule_allowed_is_a_flip(admin, world, refund):
    publish(world, SHADOW, rule("all", "allow", tool_is("refund")))
    refund(60)

    (flip,) = shadow_rules(admin)[0]["flips"]
    assert (flip["ruled"], flip["effect"], flip["outcome"]) == ("allow", "deny", "by_rule")


def test_a_policy_without_shadow_rules_lists_none(admin, world):
    assert shadow_rules(admin) == []
    publish(world, LARGE, {**SHADOW, "id": "off", "mode": "off"})

    assert shadow_rules(admin) == []
    assert "The policy in force has no rules in shadow." in admin.get(PAGE).content.decode()


def test_wrong_numbers_of_requests_are_refused(admin):
    for number in ("0", "10001", "x", "", "-1", "999999999999"):
        assert admin.get(f"{PATH}?requests={number}").status_code == 400


def test_another_backtest_delays_the_count(admin, world):
    publish(world, SHADOW)
    with backtests.backtest_slot():
        assert admin.get(PATH).status_code == 429
        assert "Another backtest is running" in admin.get(PAGE).content.decode()


def test_reviewers_do_not_see_shadow_rules(client, world):
    publish(world, SHADOW)
    client.force_login(world.bob)

    assert client.get(PATH).status_code == 403
    assert client.get(PAGE).status_code == 403
    assert PAGE not in client.get("/teams/tests/policy/").content.decode()


def test_more_requests_take_no_more_queries(admin, world, refund):
    publish(world, SHADOW)
    refund(60)
    shadow_rules(admin)
    with CaptureQueriesContext(connection) as before:
        shadow_rules(admin)
    for amount in (60, 70, 10):
        refund(amount)

    with CaptureQueriesContext(connection) as after:
        shadow_rules(admin)
    assert len(after) == len(before)
