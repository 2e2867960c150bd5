"""Servers that pause in their own way: AG2, Agno, Strands and CrewAI, with their real packages."""

import json
from dataclasses import replace

import pytest

from inbox.models import ToolCall
from tests.e2e.frameworks.running import AG2, AGNO, CREWAI, STRANDS
from tests.support import steps
from tests.support.steps import open_interrupts, resumed_run, start

REFUND = {"order": "A1", "amount": 47.5}
REFUNDED = {"tool": "issue_refund", "args": REFUND}
QUESTION = "Refund 47.5 EUR of order A1?"

calls = pytest.mark.parametrize(
    "framework", [AG2, AGNO, STRANDS], ids=lambda framework: framework.name
)
flows = pytest.mark.parametrize(
    "framework",
    [CREWAI, replace(CREWAI, name="crewai-outcome", agui="/outcome")],
    ids=lambda framework: framework.name,
)


@calls
def test_an_approved_call_of_another_server_runs_once(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)
    (interrupt,) = open_interrupts(run)
    assert (interrupt.tool, json.loads(interrupt.args)) == ("issue_refund", REFUND)
    assert desk.ran == []

    steps.approve(interrupt, bob)

    assert resumed_run(run).status == "succeeded"
    assert desk.ran == [REFUNDED]
    row = ToolCall.objects.get()
    assert (row.state, row.verdict) == ("settled", "approved")
    assert "refunded 47.5" in row.result


@calls
def test_a_denied_call_of_another_server_does_not_run(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)

    steps.deny(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "succeeded"
    assert desk.ran == []
    assert ToolCall.objects.get().verdict == "denied"


@calls
def test_a_cancelled_call_of_another_server_does_not_run(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)

    steps.call_off(open_interrupts(run)[0], bob)

    assert resumed_run(run).status in ("succeeded", "cancelled")
    assert desk.ran == []


@flows
@pytest.mark.parametrize(("answer", "ran"), [(True, [REFUNDED]), (False, [])])
def test_one_answer_ends_the_question_of_a_flow(world, bob, desk, refunds, answer, ran):
    run = start(world, "refund", agent=refunds)
    (interrupt,) = open_interrupts(run)
    assert interrupt.message == QUESTION

    steps.answer(interrupt, bob, "yes" if answer else "not without a photo")

    assert resumed_run(run).status == "succeeded"
    assert desk.ran == ran


@flows
def test_a_flow_is_not_resumed_when_nobody_answered(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)

    steps.call_off(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "cancelled"
    assert desk.ran == []
