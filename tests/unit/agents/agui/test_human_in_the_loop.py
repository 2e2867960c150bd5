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


# The older agent inbox, and CopilotKit's wrapper

NOTE = {"title": "Opening hours", "body": "We open at nine."}
EVERYTHING = ("accept", "edit", "respond", "ignore")


def inbox_request(*allowed: str) -> dict[str, Any]:
    return {
        "action_request": {"action": "publish_note", "args": NOTE},
        "config": {f"allow_{name}": name in allowed for name in EVERYTHING},
        "description": "Publish this note?",
    }


ACCEPTED = {"type": "accept", "args": None}
IGNORED = {"type": "ignore", "args": None}
NEW_NOTE = {**NOTE, "title": "Hours"}


@pytest.mark.parametrize("outcome", [False, True], ids=["event", "outcome"])
@pytest.mark.parametrize(
    ("payload", "answer"),
    [
        ({"approved": True}, ACCEPTED),
        (
            {"approved": True, "editedArgs": NEW_NOTE},
            {"type": "edit", "args": {"action": "publish_note", "args": NEW_NOTE}},
        ),
        ({"approved": False, "response": "Later"}, {"type": "response", "args": "Later"}),
        ({"approved": False, "reason": "No"}, IGNORED),
    ],
    ids=["accept", "edit", "respond", "ignore"],
)
@pytest.mark.parametrize("is_list", [True, False], ids=["list", "object"])
async def test_the_older_inbox_gets_its_answer(is_list, payload, answer, outcome):
    value: Any = [inbox_request(*EVERYTHING)] if is_list else inbox_request(*EVERYTHING)
    stage, server = await interrupted_stage(asks(value, outcome=outcome), [started(), finished()])
    (interrupt,) = stage.interrupts

    await stage.answer(payload)

    assert (interrupt.reason, interrupt.message) == ("tool_call", "Publish this note?")
    (proposed,) = stage.conversation.messages[1].tool_calls
    assert proposed.id == interrupt.tool_call_id
    assert proposed.function.name == "publish_note"
    assert resume_of(server) == {ID: [answer] if is_list else answer}


@pytest.mark.parametrize(
    ("allowed", "members"),
    [
        (("accept", "ignore"), {"approved", "reason"}),
        (("accept", "edit"), {"approved", "editedArgs"}),
        (("accept", "respond"), {"approved", "reason", "response"}),
        ((), {"approved", "reason"}),
    ],
)
async def test_the_older_inbox_allows_what_its_config_says(allowed, members):
    stage, _ = await interrupted_stage(asks([inbox_request(*allowed)]), [])

    schema = stage.interrupts[0].response_schema

    assert set(schema["properties"]) == members
    if not allowed:
        assert schema["properties"]["approved"]["const"] is False


async def test_the_call_of_an_older_inbox_is_the_one_that_was_streamed():
    streamed = vendor_servers.call("publish_note", "tc-1", NOTE)

    stage, _ = await interrupted_stage(asks([inbox_request(*EVERYTHING)], streamed), [])

    assert stage.interrupts[0].tool_call_id == "tc-1"


async def test_an_older_inbox_that_was_called_off_is_ignored():
    stage, server = await interrupted_stage(
        asks([inbox_request(*EVERYTHING)]), [started(), finished()]
    )

    await stage.answer(cancelled(stage.interrupts[0]))

    assert resume_of(server) == {ID: [IGNORED]}


@pytest.mark.parametrize("allowed", [("accept",), ("respond",), ("accept", "edit", "respond")])
async def test_what_cannot_be_ignored_is_not_resumed_when_called_off(allowed):
    stage, server = await interrupted_stage(asks(inbox_request(*allowed)), [started(), finished()])

    await stage.answer(cancelled(stage.interrupts[0]))

    assert stage.outcome == "cancelled"
    assert not server.last.get("forwardedProps")


def wrapped(inner: Any) -> dict[str, Any]:
    return {"__copilotkit_interrupt_value__": inner, "__copilotkit_messages__": []}


@pytest.mark.parametrize("outcome", [False, True], ids=["event", "outcome"])
async def test_a_wrapped_text_is_the_question(outcome):
    stage, server = await interrupted_stage(
        asks(wrapped("Which plan?"), outcome=outcome), [started(), finished()]
    )
    (interrupt,) = stage.interrupts

    await stage.answer("The small one")

    assert interrupt.message == "Which plan?"
    assert interrupt.response_schema is None
    assert resume_of(server) == {ID: "The small one"}


@pytest.mark.parametrize("outcome", [False, True], ids=["event", "outcome"])
@pytest.mark.parametrize("answer", ["pro", {"plan": "pro"}, 4])
async def test_a_wrapped_action_is_a_call_with_any_answer(answer, outcome):
    action = {"action": "pick_plan", "args": {"seats": 4}}
    stage, server = await interrupted_stage(
        asks(wrapped(action), outcome=outcome), [started(), finished()]
    )
    (interrupt,) = stage.interrupts
    (proposed,) = stage.conversation.messages[1].tool_calls

    await stage.answer(answer)

    assert (interrupt.reason, interrupt.tool_call_id) == ("input_required", proposed.id)
    assert interrupt.response_schema is None
    assert (proposed.function.name, proposed.function.arguments) == ("pick_plan", '{"seats":4}')
    assert resume_of(server) == {ID: answer}


async def test_a_wrapped_action_that_is_called_off_is_not_resumed():
    stage, server = await interrupted_stage(
        asks(wrapped({"action": "pick_plan"})), [started(), finished()]
    )

    await stage.answer(cancelled(stage.interrupts[0]))

    assert stage.outcome == "cancelled"
    assert not server.last.get("forwardedProps")


@pytest.mark.parametrize("type_", ["purchase_approval", "authorize", "confirm_delete"])
async def test_the_type_of_an_approval_is_its_kind(type_):
    value = {"type": type_, "message": "Buy 40 chairs?", "amount": 3600}

    stage, _ = await interrupted_stage(asks(value), [])

    (interrupt,) = stage.interrupts
    assert (interrupt.reason, interrupt.message) == (f"langgraph:{type_}", "Buy 40 chairs?")
    assert interrupt.response_schema["properties"]["approved"] == {"type": "boolean"}


@pytest.mark.parametrize("type_", ["string", "question", 3])
async def test_another_type_is_no_kind(type_):
    stage, _ = await interrupted_stage(asks({"type": type_, "message": "How many?"}), [])

    assert stage.interrupts[0].response_schema is None
