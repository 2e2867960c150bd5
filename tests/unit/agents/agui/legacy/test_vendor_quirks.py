"""What single bridges do in their own way, and that no answer of theirs says more than ours."""

import ag_ui.core as agui
import pytest

from agents.agui.legacy.dialects import DialectReader
from tests.support.agents import vendor_servers
from tests.support.agents.doubles import cancelled
from tests.support.agents.vendor_servers import (
    ARGS,
    failure,
    finished,
    interrupted_stage,
    started,
)

APPROVE = {"approved": True}
DENY = {"approved": False, "reason": "no"}


def entries(server):
    return [
        (entry["interruptId"], entry["status"], entry.get("payload"))
        for entry in server.last["resume"]
    ]


# -- Google ---------------------------------------------------------------------------------------

WAITS = {"content": '{"error": "This tool call requires confirmation."}'}


def confirmation(call_id, **fields):
    """A call that stands for another one, and the interrupt that an outcome has for it."""
    name = f"adk-{call_id}"
    original = {"id": call_id, "name": "issue_refund", "args": ARGS}
    adk = {"originalFunctionCall": original, "toolConfirmation": fields}
    ask = {"id": name, "reason": "confirmation", "toolCallId": name, "metadata": {"adk": adk}}
    return vendor_servers.call("adk_request_confirmation", name, adk), ask


def google_asks(*asks, outcome=True):
    calls, interrupts = zip(*asks, strict=True)
    names = [interrupt["toolCallId"].removeprefix("adk-") for interrupt in interrupts]
    result = {"outcome": {"type": "interrupt", "interrupts": list(interrupts)}} if outcome else {}
    return [
        started(),
        *(event for name in names for event in vendor_servers.call(call_id=name)),
        # The starts and arguments first, the ends last, and the results of the calls between.
        *(event for call in calls for event in call[:2]),
        *(vendor_servers.done(name, **WAITS)[0] for name in names),
        *(call[2] for call in calls),
        finished(**result),
    ]


@pytest.mark.parametrize("outcome", [False, True], ids=["by default", "with outcome"])
async def test_a_confirmation_of_google_is_about_the_call_that_it_stands_for(outcome):
    asks = confirmation("tc-1"), confirmation("tc-2", hint="Is the customer right?")
    stage, server = await interrupted_stage(
        google_asks(*asks, outcome=outcome), [started(), *vendor_servers.done(), finished()]
    )
    interrupts = [
        (interrupt.id, interrupt.reason, interrupt.tool_call_id, interrupt.message)
        for interrupt in stage.interrupts
    ]
    assert len(stage.of(agui.ToolCallStartEvent)) == 2
    assert stage.of(agui.ToolCallResultEvent) == []

    await stage.answer(APPROVE, DENY)

    assert interrupts == [
        ("adk-tc-1", "tool_call", "tc-1", "Call issue_refund?"),
        ("adk-tc-2", "tool_call", "tc-2", "Is the customer right?"),
    ]
    assert entries(server) == [
        ("adk-tc-1", "resolved", {"confirmed": True, "payload": None}),
        ("adk-tc-2", "resolved", {"confirmed": False, "payload": {"reason": "no"}}),
    ]


async def test_google_gets_all_confirmations_in_one_message():
    stage, server = await interrupted_stage(
        google_asks(confirmation("tc-1"), confirmation("tc-2")), [started(), finished()]
    )

    await stage.answer(APPROVE, cancelled(stage.interrupts[1]))

    calls = server.last["messages"][-1]["toolCalls"]
    assert [call["id"] for call in calls] == ["adk-tc-1", "adk-tc-2"]
    assert entries(server)[1] == ("adk-tc-2", "cancelled", None)


async def test_an_approval_of_google_is_what_was_recorded_as_one():
    stage, server = await interrupted_stage(
        google_asks(confirmation("tc-1")), [started(), finished()]
    )

    await stage.answer({"approved": False, "confirmed": True})

    assert entries(server)[0][2]["confirmed"] is False


async def test_what_a_tool_of_google_wants_to_be_told_becomes_a_form():
    arguments = {"quarter": "", "copies": 1, "urgent": False, "to": {"name": ""}}
    stage, server = await interrupted_stage(
        google_asks(confirmation("tc-1", hint="Which quarter?", payload=arguments)),
        [started(), finished()],
    )
    schema = stage.interrupts[0].response_schema
    answer = {"quarter": "Q1", "copies": 2, "urgent": True, "to": {"name": "Bea"}}

    await stage.answer({"approved": True, "payload": answer})

    form = schema["properties"]["payload"]
    types = {name: field["type"] for name, field in form["properties"].items()}
    assert types == {"quarter": "string", "copies": "integer", "urgent": "boolean", "to": "object"}
    assert form["required"] == list(arguments)
    assert schema["then"] == {"required": ["payload"]}
    assert entries(server)[0][2] == {"confirmed": True, "payload": answer}


async def test_a_confirmation_of_a_call_that_nobody_saw_stays_a_call():
    calls, _ = confirmation("never-seen")
    stage, _ = await interrupted_stage(
        [started(), *vendor_servers.call(), *calls, *vendor_servers.done(), finished()]
    )

    names = [event.tool_call_name for event in stage.of(agui.ToolCallStartEvent)]
    assert names == ["issue_refund", "adk_request_confirmation"]
    assert len(stage.of(agui.ToolCallResultEvent)) == 1
    assert stage.outcome == "success"


# -- Microsoft ------------------------------------------------------------------------------------

EDITS = {"type": "object", "properties": {"amount": {"type": "number"}}}


def microsoft_asks(*names, kind="function_approval_request"):
    flat = {"accepted": {"type": "boolean"}, "amount": {"type": "number"}}
    schema = {"type": "object", "properties": {**flat, "editedArgs": EDITS}}
    metadata = {"agent_framework": {"type": kind}}
    interrupts = [
        {
            "id": f"af-{name}",
            "reason": "tool_call",
            "toolCallId": name,
            "responseSchema": schema,
            "metadata": metadata,
        }
        for name in names
    ]
    calls = (event for name in names for event in vendor_servers.call(call_id=name))
    return [started(), *calls, finished(outcome={"type": "interrupt", "interrupts": interrupts})]


async def test_an_approval_of_microsoft_has_one_way_to_change_arguments():
    stage, server = await interrupted_stage(microsoft_asks("tc-1"), [started(), finished()])
    schema = stage.interrupts[0].response_schema

    await stage.answer({**APPROVE, "amount": 9999, "reason": "fine", "editedArgs": {"amount": 5}})

    assert list(schema["properties"]) == ["approved", "editedArgs", "reason"]
    assert schema["properties"]["editedArgs"] == EDITS
    assert schema["additionalProperties"] is False
    assert entries(server)[0][2] == {"approved": True, "editedArgs": {"amount": 5}}


async def test_microsoft_denial_has_no_arguments_or_approval_alias():
    stage, server = await interrupted_stage(microsoft_asks("tc-1"), [started(), finished()])

    await stage.answer({**DENY, "accepted": True, "editedArgs": {"amount": 5}})

    assert entries(server)[0][2] == {"approved": False}


async def test_microsoft_workflow_answer_omits_the_first_conversation():
    stage, server = await interrupted_stage(
        microsoft_asks("tc-1", kind="workflow_request_info"), [started(), finished()]
    )

    await stage.answer({"quarter": "Q1"})

    assert entries(server) == [("af-tc-1", "resolved", {"quarter": "Q1"})]
    assert server.last["messages"] == []


async def test_who_asks_again_what_was_answered_is_told_to_forget_it():
    *_, again = microsoft_asks("tc-2")
    stage, server = await interrupted_stage(
        microsoft_asks("tc-1", "tc-2"), [started(), again], [started(), finished()]
    )

    await stage.answer(APPROVE, DENY)

    assert failure(stage)[0] == "DECISIONS_NOT_TAKEN"
    assert stage.run.saved is None
    assert entries(server) == [("af-tc-1", "cancelled", None), ("af-tc-2", "cancelled", None)]


# -- calls that are left to others ----------------------------------------------------------------


def leaves(*names):
    return finished(outcome={"type": "success", "pendingToolCallIds": list(names)})


async def test_call_left_to_a_client_becomes_an_interrupt_with_a_result():
    stage, server = await interrupted_stage(
        [started(), *vendor_servers.call("ask_quarter"), leaves("tc-1")],
        [
            *(started(), *vendor_servers.call("file_report", "tc-2")),
            *(*vendor_servers.done("tc-2"), finished()),
        ],
    )
    (interrupt,) = stage.interrupts

    await stage.answer("Q1")

    assert (interrupt.reason, interrupt.tool_call_id) == ("input_required", "tc-1")
    assert interrupt.message == "What is the result of ask_quarter?"
    assert "resume" not in server.last
    assert server.last["messages"][-1] == {
        "id": f"{interrupt.id}-result",
        "role": "tool",
        "toolCallId": "tc-1",
        "content": "Q1",
    }
    result, _ = stage.of(agui.ToolCallResultEvent)
    assert (result.tool_call_id, result.content) == ("tc-1", "Q1")
    assert stage.outcome == "success"


async def test_a_question_that_was_called_off_has_a_result_that_says_so():
    stage, server = await interrupted_stage(
        [started(), *vendor_servers.call(), leaves("tc-1")], [started(), finished()]
    )

    await stage.answer(cancelled(stage.interrupts[0]))

    assert "request was cancelled" in server.last["messages"][-1]["content"]


async def test_calls_that_nobody_saw_are_not_asked_about():
    stage, _ = await interrupted_stage([started(), *vendor_servers.call(), leaves("tc-9")])
    assert stage.outcome == "success"

    stage, _ = await interrupted_stage([started(), *vendor_servers.call(), leaves({"tc-1": 1})])
    assert failure(stage)[0] == "PROTOCOL_VIOLATION"


def test_calls_of_the_tools_that_a_client_brought_are_left_to_it():
    reader = DialectReader("run1", client_tools={"issue_refund"})
    for event in vendor_servers.call():
        reader.read(event)

    (end,) = reader.read(leaves("tc-1"))

    assert end == leaves("tc-1")


# -- what no bridge says --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "outcome",
    [
        {"type": "interrupt", "interrupts": [{"id": ["x"], "toolCallId": {}}, 7]},
        {"type": "interrupt", "interrupts": [{"id": "x", "metadata": {"agent_framework": 7}}, []]},
        {"type": "interrupt", "interrupts": {"id": "x"}},
        {"type": "interrupt", "interrupts": [{"id": "adk-tc-1", "metadata": 7}]},
        {"type": ["interrupt"]},
    ],
)
async def test_nonsense_is_an_error_and_not_a_question(outcome):
    calls, _ = confirmation("tc-1")
    stage, _ = await interrupted_stage(
        [started(), *calls, *vendor_servers.call(), finished(outcome=outcome)]
    )

    assert failure(stage)[0] == "PROTOCOL_VIOLATION"


# -- Claude Agent SDK -----------------------------------------------------------------------------


def claude_asks(name="tc-1", **members):
    ask = {"id": name, "toolCallId": name, "reason": "tool_approval", "message": "Allow Bash?"}
    ask |= {"metadata": {"toolName": "Bash", "input": {"command": "ls"}}, **members}
    outcome = {"type": "interrupt", "interrupts": [ask]}
    return [started(), *vendor_servers.call(call_id=name), finished(outcome=outcome)]


BEHAVIORS = {"type": "object", "properties": {"behavior": {"enum": ["allow", "deny"]}}}


@pytest.mark.parametrize("members", [{}, {"responseSchema": BEHAVIORS}], ids=["none", "schema"])
@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        (APPROVE, {"behavior": "allow"}),
        (DENY, {"behavior": "deny", "message": "no"}),
        ({"approved": False}, {"behavior": "deny", "message": "Denied by a person."}),
        (
            {"approved": True, "editedArgs": {"amount": 1}},
            {"behavior": "allow", "updatedInput": {"amount": 1}},
        ),
    ],
)
async def test_an_approval_of_the_claude_sdk_gets_its_behavior(members, answer, sent):
    stage, server = await interrupted_stage(claude_asks(**members), [started(), finished()])
    (interrupt,) = stage.interrupts
    assert (interrupt.reason, interrupt.tool_call_id) == ("tool_call", "tc-1")
    assert "approved" in interrupt.response_schema["properties"]

    await stage.answer(answer)

    assert entries(server) == [("tc-1", "resolved", sent)]


async def test_another_interrupt_of_an_agent_with_such_a_reason_is_left_alone():
    reader = DialectReader("r-1")
    schema = {"type": "object", "properties": {"choice": {"type": "string"}}}
    events = claude_asks(responseSchema=schema)

    end = [event for item in events for event in reader.read(item)][-1]

    assert end["outcome"]["interrupts"][0]["reason"] == "tool_approval"
