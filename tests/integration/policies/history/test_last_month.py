"""The figures of a policy: what happened to the calls of the last 30 days, and by which rule."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.queries.policies.history.last_month import MAX_CALLS, last_month
from inbox.rules.errors import NotFound
from inbox.rules.policies.language.policy import Effect
from inbox.rules.policies.past_calls import CallEnd, percentages
from tests.support.policies.past_calls import copy_requests
from tests.support.policies.published import approve_with_grant, publish, rule
from tests.support.steps import answer, approve, deny, start

IS_MAIL = {"path": "/tool", "op": "is", "value": "send_email"}


ANY_MAIL = {"to": "any", "subject": "any"}


def ask(world):
    """Let the agent propose a mail, and return the request, which a rule may have closed."""
    return start(world, "rehearse:tool_call").interrupts.get()


def month_of(world):
    return last_month(world.actor(world.bob), world.team.pk)


def test_calls_are_counted_by_what_happened(world, bob):
    for act in (approve, approve, deny):
        act(ask(world), bob)
    edited = {"approved": True, "editedArgs": {"to": "a@example.org", "subject": "s", "body": "b"}}
    answer(ask(world), bob, edited)
    publish(world, rule("never", "deny", IS_MAIL))
    ask(world)
    publish(world, rule("always", "allow", IS_MAIL))
    ask(world)
    publish(world, rule("asks", "ask", IS_MAIL))
    ask(world)

    month = month_of(world)

    assert month.ends == {
        CallEnd.APPROVED: 2,
        CallEnd.REJECTED: 1,
        CallEnd.EDITED: 1,
        CallEnd.DENIED: 1,
        CallEnd.RULE: 1,
    }
    assert (month.total, month.waiting, month.without_rule.total) == (7, 1, 4)
    assert month.rules["never"].by_effect[Effect.DENY] == 1
    assert month.rules["always"].by_effect[Effect.ALLOW] == 1
    assert month.rules["asks"].by_effect[Effect.ASK] == 1


def test_questions_are_no_calls_of_a_policy(world):
    start(world, "rehearse:input_required")

    assert month_of(world).total == 0


def test_calls_before_30_days_are_not_counted(world, bob):
    row = ask(world)
    approve(row, bob)
    row.refresh_from_db()

    copy_requests([row], 3, days=60)

    assert month_of(world).total == 1 + 2


def test_a_call_from_a_clock_that_is_ahead_counts_for_the_last_day(world, bob):
    row = ask(world)
    approve(row, bob)
    row.refresh_from_db()

    copy_requests([row], 2, days=-0.01)

    assert month_of(world).without_rule.by_day[-1] == 1 + 2


def test_a_call_that_a_grant_approved_is_named(world, bob):
    publish(world, rule("asks", "ask", IS_MAIL))
    approve_with_grant(ask(world), bob, is_for_agent=True, choices=ANY_MAIL)
    ask(world)

    month = month_of(world)

    assert month.by_grant == 1
    assert month.rules["asks"].by_effect == {
        Effect.ASK: 1,
        Effect.GRANT: 1,
        Effect.ALLOW: 0,
        Effect.DENY: 0,
    }


def test_a_shadow_rule_counts_what_it_would_have_done(world, bob):
    publish(world, rule("tried", "allow", IS_MAIL, mode="shadow"))
    approve(ask(world), bob)
    deny(ask(world), bob)

    figures = month_of(world).shadow["tried"]

    assert figures.by_effect[Effect.ALLOW] == 2
    assert figures.contradictions == 1
    assert figures.by_day[-1] == 2


def test_the_figures_take_as_many_queries_for_many_calls(world, bob):
    publish(world, rule("asks", "ask", IS_MAIL))
    row = ask(world)
    approve(row, bob)
    row.refresh_from_db()
    with CaptureQueriesContext(connection) as few:
        month_of(world)
    copy_requests([row], 400)

    with CaptureQueriesContext(connection) as many:
        month = month_of(world)

    assert (month.rules["asks"].total, month.is_cut) == (401, False)
    assert sum(month.rules["asks"].by_day) == 401
    assert len(many) == len(few)


def test_only_the_latest_calls_are_counted(world, bob, monkeypatch):
    row = ask(world)
    approve(row, bob)
    row.refresh_from_db()
    copy_requests([row], 12)
    monkeypatch.setattr("inbox.queries.policies.history.last_month.MAX_CALLS", 10)

    month = month_of(world)

    assert (month.total, month.is_cut) == (10, True)
    assert MAX_CALLS == 10_000


def test_strangers_read_no_figures(world):
    with pytest.raises(NotFound):
        last_month(world.actor(world.carol), world.team.pk)


@pytest.mark.parametrize(
    "numbers",
    [(1, 1, 1), (19, 101, 8, 14, 3, 13), (9999, 1), (1,), (0, 7), (33, 33, 33, 1)],
)
def test_percentages_add_up_to_100(numbers):
    counts = dict(zip(CallEnd, numbers, strict=False))

    assert sum(percentages(counts).values()) == 100


def test_nothing_has_no_percentages():
    assert percentages({}) == percentages({CallEnd.RULE: 0}) == {}
