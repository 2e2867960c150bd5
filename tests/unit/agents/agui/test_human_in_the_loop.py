"""LangChain's middleware behind a remote bridge: what it asks, and that it takes our answers."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents.examples import desk
from tests.support.agents import vendor_servers
from tests.support.agents.doubles import cancelled
from tests.support.agents.langgraph_graphs import (
    model,
    refund,
    refund_of,
    wants,
)
from tests.support.agents.vendor_servers import (
    LANGGRAPH_IDS,
    finished,
    interrupted_stage,
    started,
)

ID = LANGGRAPH_IDS[0]
SECOND = {"order": "B2", "amount": 20}


@pytest.fixture(autouse=True)
def no_payments():
    desk.paid.clear()


class Reviewed:
    """An agent of LangChain whose refunds people review, and that has paused."""

    def __init__(self, *calls: Any, allowed: list[str]) -> None:
        self.graph = create_agent(
            model(wants(*calls), "Done."),
            [refund],
            middleware=[HumanInTheLoopMiddleware({"refund": {"allowed_decisions": allowed}})],
            checkpointer=InMemorySaver(),
        )
        self.config: Any = {"configurable": {"thread_id": "t"}}
        result = self.graph.invoke({"messages": [{"role": "user", "content": "go"}]}, self.config)
        (self.interrupt,) = result["__interrupt__"]

    def resume(self, answer: Any) -> list[tuple[str, float]]:
        """What was paid once the graph has this answer."""
        self.graph.invoke(Command(resume=answer), self.config)
        return sorted(desk.paid)


def asks(value: Any, *calls: list[Any], name: str = ID, outcome: bool = False) -> list[Any]:
    """The run of a bridge whose graph paused with this value, after these calls."""
    events = [started(), *(event for call in calls for event in call)]
    if not outcome:
        return [*events, vendor_servers.on_interrupt(value, name), finished()]
    wire = {"id": name, "reason": "langgraph:interrupt", "metadata": {"langgraph": {"raw": value}}}
    return [*events, finished(outcome={"type": "interrupt", "interrupts": [wire]})]


def request(*allowed: str, args: Any = None) -> dict[str, Any]:
    """A review of one call."""
    return {
        "action_requests": [{"name": "issue_refund", "args": args or vendor_servers.ARGS}],
        "review_configs": [{"action_name": "issue_refund", "allowed_decisions": [*allowed]}],
    }


def resume_of(server: Any) -> Any:
    return server.last["forwardedProps"]["command"]["resume"]


@pytest.mark.parametrize("outcome", [False, True], ids=["event", "outcome"])
async def test_middleware_takes_the_decisions_on_all_of_its_calls(outcome):
    calls = refund_of("A1", 10), refund_of("B2", 20), refund_of("C3", 30)
    agent = Reviewed(*calls, allowed=["approve", "edit", "reject"])
    results = [vendor_servers.call("refund", call["id"], call["args"]) for call in calls]
    stage, server = await interrupted_stage(
        asks(agent.interrupt.value, *results, outcome=outcome), [started(), finished()]
    )
    about = [
        (interrupt.id, interrupt.reason, interrupt.tool_call_id) for interrupt in stage.interrupts
    ]

    edited = {"approved": True, "editedArgs": {"order": "B2", "amount": 7}}
    await stage.answer({"approved": True}, edited, {"approved": False, "reason": "Paid already"})

    assert about == [
        (f"{ID}.{number}", "tool_call", call["id"]) for number, call in enumerate(calls, start=1)
    ]
    assert resume_of(server) == {
        ID: {
            "decisions": [
                {"type": "approve"},
                {
                    "type": "edit",
                    "edited_action": {"name": "refund", "args": {"order": "B2", "amount": 7}},
                },
                {"type": "reject", "message": "Paid already"},
            ]
        }
    }
    answer = resume_of(server)[ID]
    assert agent.resume({agent.interrupt.id: answer}) == [("A1", 10), ("B2", 7)]


@pytest.mark.parametrize("outcome", [False, True], ids=["event", "outcome"])
async def test_interrupts_of_a_review_carry_its_expiry(outcome):
    expiry = "2126-01-31T12:00:00.000Z"
    value = {**request("approve", "reject"), "expiresAt": expiry}
    value["action_requests"].append({"name": "issue_refund", "args": SECOND})

    stage, _ = await interrupted_stage(asks(value, outcome=outcome), [started(), finished()])

    assert [interrupt.expires_at for interrupt in stage.interrupts] == [expiry, expiry]


async def test_interrupts_of_a_review_carry_the_expiry_of_its_interrupt():
    expiry = "2126-01-31T12:00:00.000Z"
    events = asks(request("approve", "reject"), outcome=True)
    events[-1]["outcome"]["interrupts"][0]["expiresAt"] = expiry

    stage, _ = await interrupted_stage(events, [started(), finished()])

    assert [interrupt.expires_at for interrupt in stage.interrupts] == [expiry]


async def test_middleware_takes_a_response_in_the_place_of_a_tool():
    agent = Reviewed(refund_of("A1", 10), allowed=["respond"])
    tool_call = vendor_servers.call("refund", "refund-A1", {"order": "A1", "amount": 10})
    stage, server = await interrupted_stage(
        asks(agent.interrupt.value, tool_call), [started(), finished()]
    )
    (question,) = stage.interrupts

    await stage.answer("Done by hand.")

    assert question.response_schema == {"type": "string", "minLength": 1}
    decisions = [{"type": "respond", "message": "Done by hand."}]
    assert resume_of(server) == {ID: {"decisions": decisions}}
    assert agent.resume({agent.interrupt.id: resume_of(server)[ID]}) == []


@pytest.mark.parametrize(
    ("allowed", "approved", "others"),
    [
        (["approve"], {"type": "boolean", "const": True}, set()),
        (["reject"], {"type": "boolean", "const": False}, {"reason"}),
        (["approve", "reject"], {"type": "boolean"}, {"reason"}),
        (["edit", "reject"], {"type": "boolean"}, {"editedArgs", "reason"}),
        (["approve", "respond"], {"type": "boolean"}, {"reason", "response"}),
        ([], {"type": "boolean"}, {"reason"}),
        (["approve", "delete"], {"type": "boolean", "const": True}, set()),
    ],
)
async def test_schema_lets_only_allowed_decisions_pass(allowed, approved, others):
    stage, _ = await interrupted_stage(asks(request(*allowed), vendor_servers.call()))

    (question,) = stage.interrupts

    properties = question.response_schema["properties"]
    assert properties.pop("approved") == approved
    assert properties.keys() == others
    assert question.response_schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("allowed", "answer", "decision"),
    [
        (
            ["edit", "reject"],
            {"approved": True},
            {
                "type": "edit",
                "edited_action": {"name": "issue_refund", "args": vendor_servers.ARGS},
            },
        ),
        (
            ["approve", "respond"],
            {"approved": True, "response": "No."},
            {"type": "respond", "message": "No."},
        ),
        (
            ["approve", "respond"],
            {"approved": False, "reason": "Not today."},
            {"type": "respond", "message": "Not today."},
        ),
        (["approve", "reject"], {"approved": False}, {"type": "reject"}),
    ],
    ids=[
        "approval where only edits are allowed",
        "response",
        "rejection where only a response is allowed",
        "rejection without a note",
    ],
)
async def test_answer_becomes_an_allowed_decision(allowed, answer, decision):
    stage, server = await interrupted_stage(
        asks(request(*allowed), vendor_servers.call()), [started(), finished()]
    )

    await stage.answer(answer)

    assert resume_of(server) == {ID: {"decisions": [decision]}}


async def test_cancelled_request_is_a_rejection_that_says_so():
    stage, server = await interrupted_stage(
        asks(request("approve", "reject"), vendor_servers.call()), [started(), finished()]
    )

    await stage.answer(cancelled(stage.interrupts[0]))

    ((decision,),) = (value["decisions"] for value in resume_of(server).values())
    assert decision["type"] == "reject"
    assert "Nobody decided" in decision["message"]


async def test_agent_that_takes_approvals_only_is_not_called_when_nobody_decided():
    stage, server = await interrupted_stage(asks(request("approve"), vendor_servers.call()))

    await stage.answer(cancelled(stage.interrupts[0]))

    assert stage.outcome == "cancelled"
    assert len(server.requests) == 1


async def test_review_without_an_id_is_answered_by_its_value():
    value = request("approve", "reject")
    value["action_requests"].append({"name": "issue_refund", "args": SECOND})
    stage, server = await interrupted_stage(
        asks(
            value, vendor_servers.call(), vendor_servers.call(call_id="tc-2", args=SECOND), name=""
        ),
        [started(), finished()],
    )

    await stage.answer({"approved": True}, {"approved": False})

    assert resume_of(server) == {"decisions": [{"type": "approve"}, {"type": "reject"}]}


async def test_call_that_no_event_told_of_is_proposed():
    stage, _ = await interrupted_stage(asks(request("approve")))

    (question,) = stage.interrupts

    assert [item.delta for item in stage.events if item.type == "TOOL_CALL_ARGS"] == [
        '{"order":"A1","amount":47.5}'
    ]
    assert question.tool_call_id == f"{ID}.1-call"


async def test_calls_that_are_alike_are_told_apart_by_their_order():
    value = request("approve")
    value["action_requests"] *= 2
    calls = vendor_servers.call(call_id="tc-1"), vendor_servers.call(call_id="tc-2")

    stage, _ = await interrupted_stage(asks(value, *calls))

    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == ["tc-1", "tc-2"]


@pytest.mark.parametrize(
    "value",
    [
        {"action_requests": "refund", "review_configs": []},
        {"action_requests": [{"name": "refund", "args": "A1"}]},
        {"action_requests": [None]},
        {"action_requests": []},
    ],
)
async def test_value_that_only_looks_like_a_review_is_a_question(value):
    stage, server = await interrupted_stage(asks(value), [started(), finished()])
    (question,) = stage.interrupts

    await stage.answer("What?")

    assert question.reason == "langgraph:interrupt"
    assert resume_of(server) == {ID: "What?"}
