"""Runs with many interrupts, and policies of many rules."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.models import Decision, Ruling, Run
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.policies.replay import replay_all
from tests.support.steps import open_interrupts

SMALL = rule("small", "allow", tool_is("refund"), up_to(50))
#: The most rules, of which the last one applies.
MANY = [
    *(rule(f"other{number}", "deny", tool_is(f"tool{number}")) for number in range(98)),
    rule("asks", "ask", tool_is("refund"), {"path": "/args/amount", "op": "gt", "value": 50}),
    SMALL,
]


@pytest.fixture
def statements(run_paying):
    """Return a function that counts the statements of a run with so many calls."""

    def count(number):
        with CaptureQueriesContext(connection) as queries:
            run_paying(*({"amount": 1} for _ in range(number)))
        return len(queries)

    return count


def test_an_interrupt_by_rule_needs_few_more_statements(world, statements):
    publish(world, *MANY)
    statements(1)

    few, many = statements(10), statements(100)

    assert many - few < 90 / 2


def test_a_thousand_interrupts_by_rule_have_one_resume(world, run_paying):
    publish(world, *MANY)

    run = run_paying(*({"amount": 1} for _ in range(1000)))

    (resume,) = Run.objects.filter(resumes=run)
    assert len(json.loads(resume.resume)) == 1000
    decisions = Decision.objects.filter(interrupt__run=run, actor_label="system:policy")
    assert decisions.count() == Ruling.objects.filter(interrupt__run=run).count() == 1000


def test_one_question_among_a_thousand_waits_for_a_person(world, run_paying):
    publish(world, *MANY)

    run = run_paying(*({"amount": 1 if number != 500 else 51} for number in range(1000)))

    assert [row.position for row in open_interrupts(run)] == [500]
    assert not Run.objects.filter(resumes=run).exists()


def test_a_hundred_rules_are_evaluated_again_to_the_same(world, run_paying):
    publish(world, *MANY)
    run_paying({"amount": 1}, {"amount": 51}, {})

    assert replay_all() == {"number": 3, "differences": []}
