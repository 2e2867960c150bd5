"""One row for each call of a remote agent, with its decision, its arguments and its result."""

import json

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.models import ToolCall
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import vendor_servers
from tests.support.agents.remote_agent_server import elsewhere
from tests.support.agents.vendor_servers import ARGS, LANGGRAPH_IDS, finished, started
from tests.support.steps import open_interrupts, resumed_run, start

__all__ = ["elsewhere"]

TEXT = json.dumps(ARGS)
START = {"type": "TOOL_CALL_START", "toolCallId": "tc-1", "toolCallName": "issue_refund"}
END = {"type": "TOOL_CALL_END", "toolCallId": "tc-1"}
MODEL = {"rawEvent": {"event": "on_chat_model_stream"}}
TOOL = {"rawEvent": {"event": "on_tool_end"}}
USER = {"id": "u-1", "role": "user", "content": "Refund it."}
PROPOSAL = {
    "id": "m-1",
    "role": "assistant",
    "toolCalls": [
        {"id": "tc-1", "type": "function", "function": {"name": "issue_refund", "arguments": TEXT}}
    ],
}
SNAPSHOT = {"type": "MESSAGES_SNAPSHOT", "messages": [USER, PROPOSAL]}
REVIEW = vendor_servers.on_interrupt(
    {
        "action_requests": [{"name": "issue_refund", "args": ARGS}],
        "review_configs": [{"action_name": "issue_refund", "allowed_decisions": ["approve"]}],
    },
    LANGGRAPH_IDS[0],
)
#: LangGraph's bridge repeats a call when its tool ends.
EXECUTED = [
    *({**event, **TOOL} for event in vendor_servers.call()),
    *vendor_servers.done(),
]


@pytest.fixture
def refunds(world, elsewhere):
    agent = set_remote_agent(
        team_id=world.team.pk, slug="refunds", url=elsewhere.url, headers={}, actor=SEED
    )
    return agent.agent


@pytest.mark.parametrize(
    "stream", [[START | MODEL, END | MODEL], []], ids=["without-arguments", "not-streamed"]
)
def test_a_reviewed_call_is_one_row(world, bob, elsewhere, refunds, stream):
    first = [started(), *stream, SNAPSHOT, REVIEW, finished()]
    elsewhere.runs = [first, [started(), *EXECUTED, finished()]]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)
    steps.approve(interrupt, bob)

    assert resumed_run(run).status == "succeeded"

    row = ToolCall.objects.get()
    assert (row.tool_call_id, json.loads(row.args)) == ("tc-1", ARGS)
    assert (row.state, row.result) == ("settled", "refunded 47.5")
    assert row.interrupts.get().decisions.get().payload == '{"approved":true}'


def test_a_call_of_chunks_is_the_call_of_the_draft(world, bob, elsewhere, refunds):
    first = {"toolCallId": "tc-1", "toolCallName": "issue_refund", "delta": TEXT[:7]}
    chunks = [{"type": "TOOL_CALL_CHUNK", **part} for part in (first, {"delta": TEXT[7:]})]
    draft = {"payload": {"functionName": "issue_refund", "functionArguments": ARGS}, "id": "i-1"}
    end = finished(outcome="interrupt", interrupt=draft)
    elsewhere.runs = [
        [started(), *chunks, end],
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "succeeded"

    row = ToolCall.objects.get()
    assert (row.tool_call_id, json.loads(row.args)) == ("tc-1", ARGS)
    assert (row.state, row.result) == ("settled", "refunded 47.5")


def test_a_repeated_call_with_other_arguments_is_not_settled(world, bob, elsewhere, refunds):
    other = json.dumps({**ARGS, "amount": 9999})
    args = {"type": "TOOL_CALL_ARGS", "toolCallId": "tc-1", "delta": other}
    echo = [{**event, **TOOL} for event in (START, args, END)]
    first = [started(), SNAPSHOT, REVIEW, finished()]
    elsewhere.runs = [first, [started(), *echo, *vendor_servers.done(), finished()]]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert (resumed.status, resumed.error_code) == ("failed", "ARGUMENTS_NOT_APPROVED")
    assert json.loads(ToolCall.objects.get().args) == ARGS
