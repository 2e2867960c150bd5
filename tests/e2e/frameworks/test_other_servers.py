"""Servers that pause in their own way: AG2, Agno, Strands, Mastra, CrewAI; their real packages."""

import json
from dataclasses import replace
from functools import partial

import pytest

from inbox.engine import event_pipeline
from inbox.models import ToolCall
from inbox.rules.errors import InvalidPayload
from tests.e2e.frameworks.running import CREWAI, OTHERS, each_of, text_parts
from tests.support import steps
from tests.support.steps import open_interrupts, resumed_run, start

REFUND = {"order": "A1", "amount": 47.5}
REFUNDED = {"tool": "issue_refund", "args": REFUND}
MAILED = {"tool": "send_email", "args": {"to": "a@example.com"}}
QUESTION = "Refund 47.5 EUR of order A1?"

capability = pytest.mark.capability


these = partial(each_of, OTHERS)
calls = these(lambda framework: True)
flows = pytest.mark.parametrize(
    "framework",
    [CREWAI, replace(CREWAI, name="crewai-outcome", agui="/outcome")],
    ids=lambda framework: framework.name,
)


@capability("approve")
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


@capability("deny")
@capability("reason", by="tells_why")
@calls
def test_a_denied_call_of_another_server_does_not_run(world, bob, desk, refunds, framework):
    run = start(world, "refund", agent=refunds)

    steps.deny(open_interrupts(run)[0], bob)
    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert desk.ran == []
    assert ("not today" in "".join(text_parts(resumed))) is framework.tells_why
    assert ToolCall.objects.get().verdict == "denied"


@capability("cancel")
@calls
def test_a_cancelled_call_of_another_server_does_not_run(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)

    steps.call_off(open_interrupts(run)[0], bob)

    assert resumed_run(run).status in ("succeeded", "cancelled")
    assert desk.ran == []


@capability("edit", by="may_edit")
@these(lambda framework: not framework.may_edit)
def test_another_server_is_asked_for_no_edits(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)
    (interrupt,) = open_interrupts(run)

    with pytest.raises(InvalidPayload):
        steps.approve(interrupt, bob, editedArgs={"order": "A1", "amount": 5})

    assert open_interrupts(run) == [interrupt]
    assert desk.ran == []


@capability("edit")
@these(lambda framework: framework.may_edit)
def test_another_server_runs_the_arguments_that_a_reviewer_edited(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)

    steps.approve(open_interrupts(run)[0], bob, editedArgs={"order": "A1", "amount": 5})

    assert resumed_run(run).status == "succeeded"
    assert desk.ran == [{"tool": "issue_refund", "args": {"order": "A1", "amount": 5}}]


@capability("question")
@these(lambda framework: framework.environment == "mastra")
def test_another_server_files_the_answer_to_its_question(world, bob, desk, refunds):
    run = start(world, "form", agent=refunds)
    (interrupt,) = open_interrupts(run)
    assert interrupt.message == "Which quarter?"

    steps.answer(interrupt, bob, {"quarter": "Q1"})

    assert resumed_run(run).status == "succeeded"
    assert desk.ran == [{"tool": "file_report", "args": {"quarter": "Q1"}}]


@capability("several")
@calls
def test_another_server_takes_two_decisions(world, bob, dora, desk, refunds):
    run = start(world, "parallel", agent=refunds)

    def decide(interrupt):
        if interrupt.tool == "issue_refund":
            steps.deny(interrupt, bob)
        else:
            steps.approve(interrupt, dora)

    # AG2 and Mastra ask about a call when the other one is decided, in either order.
    first, *others = open_interrupts(run)
    decide(first)
    later = resumed_run(run) or run
    (second,) = others or open_interrupts(later)
    decide(second)

    assert resumed_run(later).status == "succeeded"
    assert desk.ran == [MAILED]


@capability("streaming")
@calls
def test_text_of_another_server_arrives_in_parts(world, bob, desk, refunds, monkeypatch):
    monkeypatch.setattr(event_pipeline, "coalesce", list)  # which joins what came at once
    run = start(world, "refund", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)

    assert len(text_parts(resumed_run(run))) > 1


@capability("question")
@flows
@pytest.mark.parametrize(("answer", "ran"), [(True, [REFUNDED]), (False, [])])
def test_one_answer_ends_the_question_of_a_flow(world, bob, desk, refunds, answer, ran):
    run = start(world, "refund", agent=refunds)
    (interrupt,) = open_interrupts(run)
    assert interrupt.message == QUESTION

    steps.answer(interrupt, bob, "yes" if answer else "not without a photo")

    assert resumed_run(run).status == "succeeded"
    assert desk.ran == ran


@capability("cancel")
@flows
def test_a_flow_is_not_resumed_when_nobody_answered(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)

    steps.call_off(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "cancelled"
    assert desk.ran == []
