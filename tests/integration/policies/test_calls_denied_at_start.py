"""The policy in force denies approved calls that are about to start."""

import json

import pytest
from django.test.utils import CaptureQueriesContext

from inbox import engine
from inbox.models import AuditEntry, ToolCall
from inbox.platform.clock import database_now
from inbox.queries.policies.policies import denying_rules
from tests.support.policies.published import publish, rule
from tests.support.steps import approve, open_interrupts, resumed_run, start

STOP = rule("stop", "deny")


@pytest.fixture
def approved(world, bob):
    """A run whose only call Bob has approved; its resume is queued."""
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    approve(interrupt, bob)
    return run


def test_a_rule_that_denies_stops_an_approved_call(world, approved):
    publish(world, STOP)

    ended = resumed_run(approved)

    assert (ended.status, ended.error_code) == ("failed", "DENIED_BY_POLICY")
    call = ToolCall.objects.get(thread=approved.thread_id)
    assert (call.state, call.started_at) == ("proposed", None)
    entry = AuditEntry.objects.select_related("payload").get(action="tool.refused")
    assert json.loads(entry.payload.text)["detail"]["refused"].endswith("denies the call: stop.")


def test_a_retry_runs_the_call_when_the_policy_allows_it_again(world, approved, bob):
    publish(world, STOP)
    denied = resumed_run(approved)
    publish(world)

    retry = engine.retry_run(denied.pk, bob).run
    engine.execute_run(retry.pk)

    retry.refresh_from_db()
    assert retry.status == "succeeded"
    assert ToolCall.objects.get(thread=approved.thread_id).state == "settled"


@pytest.mark.parametrize(
    "other",
    [rule("other", "deny", {"path": "/tool", "op": "is", "value": "other"}), rule("ask", "ask")],
    ids=["another tool", "asks"],
)
def test_other_rules_do_not_stop_a_call(world, approved, other):
    publish(world, other)

    assert resumed_run(approved).status == "succeeded"


def test_a_rule_in_doubt_does_not_stop_a_call(world, approved):
    publish(world, rule("doubt", "deny", {"path": "/args/absent", "op": "gt", "value": 1}))

    assert resumed_run(approved).status == "succeeded"


def test_without_a_policy_nothing_is_read(world, approved, connection_queries):
    call = ToolCall.objects.select_related("thread__team").get(thread=approved.thread_id)
    now = database_now()
    with connection_queries() as queries:
        rules = denying_rules(call.thread, approved.pk, [call], now)

    assert (rules, len(queries)) == ({}, 0)


@pytest.fixture
def connection_queries():
    from django.db import connection

    return lambda: CaptureQueriesContext(connection)
