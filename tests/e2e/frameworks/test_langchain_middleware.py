"""LangChain's middleware behind LangGraph's bridge: each call is one row of the trail."""

import json
from dataclasses import replace

import pytest

from inbox.models import Thread, ToolCall
from inbox.queries.runs.threads import current_conversation
from tests.e2e.frameworks.running import LANGGRAPH, OUTCOME
from tests.support import steps
from tests.support.steps import open_interrupts, resumed_run, start

REFUND = {"order": "A1", "amount": 47.5}
EMAIL = {"to": "a@example.com"}
EDITED = {"order": "A1", "amount": 5}
capability = pytest.mark.capability
REVIEWED = replace(LANGGRAPH, name="langchain-middleware", settings={"DESK_REVIEW": "1"})


@pytest.fixture(
    params=[
        REVIEWED,
        replace(
            REVIEWED, name="langchain-middleware-outcome", settings={**REVIEWED.settings, **OUTCOME}
        ),
    ],
    ids=lambda framework: framework.name,
)
def framework(request):
    return request.param


def rows():
    return [
        (row.name, json.loads(row.args), row.state, row.interrupts.count())
        for row in ToolCall.objects.order_by("pk")
    ]


@capability("approve")
def test_an_approved_call_is_one_row(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "succeeded"

    assert desk.ran == [{"tool": "issue_refund", "args": REFUND}]
    assert rows() == [("issue_refund", REFUND, "settled", 1)]


@capability("edit")
def test_an_edited_call_is_one_row(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob, editedArgs=EDITED)

    assert resumed_run(run).status == "succeeded"

    assert desk.ran == [{"tool": "issue_refund", "args": EDITED}]
    assert rows() == [("issue_refund", REFUND, "settled", 1)]
    assert ToolCall.objects.get().approved_args == json.dumps(
        EDITED, separators=(",", ":"), sort_keys=True
    )


@capability("several")
@capability("deny")
def test_two_calls_of_one_chunk_are_two_rows(world, bob, dora, desk, refunds):
    run = start(world, "parallel", agent=refunds)
    refund, mail = open_interrupts(run)
    steps.deny(refund, bob)
    steps.approve(mail, dora)

    assert resumed_run(run).status == "succeeded"

    assert desk.ran == [{"tool": "send_email", "args": EMAIL}]
    assert [(name, args, count) for name, args, _, count in rows()] == [
        ("issue_refund", REFUND, 1),
        ("send_email", EMAIL, 1),
    ]


def test_the_result_stands_before_the_final_text(world, bob, desk, refunds):
    run = start(world, "refund", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)
    resumed_run(run)

    thread = Thread.objects.get(pk=run.thread_id)
    messages = current_conversation(thread).messages

    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert [len(message.get("toolCalls") or ()) for message in messages] == [0, 1, 0, 0]
