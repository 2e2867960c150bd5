"""The rows of `legacy.servers`: the interrupts and the answers of single AG-UI servers."""

import ag_ui.core as agui
import pytest

from tests.support.agents import vendor_servers
from tests.support.agents.doubles import cancelled
from tests.support.agents.vendor_servers import (
    ARGS,
    failure,
    finished,
    interrupted_stage,
    started,
)

APPROVE, DENY = {"approved": True}, {"approved": False, "reason": "no"}
DONE = [started(), *vendor_servers.done(), finished()]


def outcome(*interrupts):
    return finished(outcome={"type": "interrupt", "interrupts": list(interrupts)})


def payloads(server):
    return [entry.get("payload") for entry in server.last["resume"]]


# -- Microsoft's AGUI.Server ----------------------------------------------------------------------


def dotnet_asks(**more):
    interrupt = {
        "id": "ficc_tc-1",
        "reason": "tool_call",
        "message": "Approval required for tool call: issue_refund",
        "toolCallId": "tc-1",
        "responseSchema": vendor_servers.SCHEMA,
    }
    return [started(), *vendor_servers.call(), outcome({**interrupt, **more})]


CALL = {"callId": "tc-1", "name": "issue_refund", "arguments": ARGS}
EDITED = {"order": "A1", "amount": 5}


@pytest.mark.parametrize("more", [{}, {"id": "x"}, {"message": "Go?"}, {"responseSchema": None}])
async def test_the_answer_to_dotnet_has_the_stored_call(more):
    stage, server = await interrupted_stage(dotnet_asks(**more), DONE)

    await stage.answer({**APPROVE, "editedArgs": EDITED})

    (payload,) = payloads(server)
    assert payload["toolCall"] == {**CALL, "arguments": EDITED}
    assert payload["approved"] is True


async def test_a_denial_of_dotnet_has_its_call_too():
    stage, server = await interrupted_stage(dotnet_asks(), DONE)

    await stage.answer(DENY)

    assert payloads(server) == [{**DENY, "toolCall": CALL}]


async def test_a_server_whose_schema_names_the_call_gets_it():
    schema = {**vendor_servers.SCHEMA}
    schema["properties"] = {**schema["properties"], "toolCall": {"type": "object"}}
    stage, server = await interrupted_stage(
        vendor_servers.canonical_asks("tc-1", schema=schema), DONE
    )

    await stage.answer(APPROVE)

    assert payloads(server) == [{**APPROVE, "toolCall": CALL}]


async def test_other_servers_get_no_call_in_the_answer():
    stage, server = await interrupted_stage(vendor_servers.canonical_asks("tc-1"), DONE)

    await stage.answer(APPROVE)

    assert payloads(server) == [APPROVE]


# -- CrewAI ---------------------------------------------------------------------------------------

FEEDBACK = {
    "id": "5f2a",
    "reason": "crewai:human_feedback",
    "message": "Refund it?",
    "metadata": {"crewai": {"flowId": "t", "methodName": "draft"}},
}


def crewai_asks(*, with_outcome=False):
    event = {"type": "CUSTOM", "name": "on_interrupt", "value": FEEDBACK}
    return [started(), event, outcome(FEEDBACK) if with_outcome else finished()]


@pytest.mark.parametrize("with_outcome", [False, True])
async def test_crewai_gets_the_answer_in_the_entry_that_it_reads(with_outcome):
    stage, server = await interrupted_stage(crewai_asks(with_outcome=with_outcome), DONE)

    await stage.answer("go on")

    (entry,) = server.last["resume"]
    assert (entry["interruptId"], entry["payload"]) == ("5f2a", "go on")


@pytest.mark.parametrize(("answer", "text"), [(True, "yes"), (False, "no")])
async def test_yes_and_no_are_words_for_crewai(answer, text):
    stage, server = await interrupted_stage(crewai_asks(), DONE)

    await stage.answer(answer)

    assert payloads(server) == [text]


@pytest.mark.parametrize("with_outcome", [False, True])
async def test_an_end_does_not_choose_the_default_of_crewai(with_outcome):
    stage, server = await interrupted_stage(crewai_asks(with_outcome=with_outcome), DONE)

    await stage.answer(cancelled(stage.interrupts[0]))

    assert stage.outcome == "cancelled"
    assert len(server.requests) == 1


# -- questions that come back ---------------------------------------------------------------------


async def test_a_question_that_comes_back_three_times_is_a_loop():
    stage, _ = await interrupted_stage(*(crewai_asks() for _ in range(4)))
    for _ in range(2):
        await stage.answer("go on")
        assert stage.outcome == "interrupt"

    await stage.answer("go on")

    code, message = failure(stage)
    assert code == "QUESTION_REPEATED"
    assert "'Refund it?'" in message


async def test_another_question_between_is_no_loop():
    event = {"type": "CUSTOM", "name": "on_interrupt", "value": {**FEEDBACK, "message": "Why?"}}
    other = [started(), event, finished()]
    runs = [crewai_asks(), other] * 4
    stage, _ = await interrupted_stage(*runs, DONE)

    for _ in runs:
        await stage.answer("go on")

    assert stage.outcome == "success"


async def test_the_same_call_asked_again_after_its_result_is_no_loop():
    asks = vendor_servers.canonical_asks("tc-1")
    again = [
        started(),
        *vendor_servers.done(),
        *vendor_servers.call(call_id="tc-2"),
        outcome({"id": "i-2", "toolCallId": "tc-2", "reason": "tool_call", "message": "Approve?"}),
    ]
    stage, _ = await interrupted_stage(asks, again)

    await stage.answer(APPROVE)

    assert stage.run.saved["repeats"]
    assert not any(stage.run.saved["repeats"].values())


# -- Mastra ---------------------------------------------------------------------------------------


def suspended(call, seat):
    return {
        "type": "mastra_suspend",
        "toolCallId": call,
        "toolName": "book",
        "args": {"seat": seat},
        "suspendPayload": {"message": f"Book {seat}?"},
        "runId": "mr",
    }


def mastra_asks(*seats, with_outcome=False):
    values = [suspended(f"m-{seat}", seat) for seat in seats]
    events = [vendor_servers.on_interrupt(value) for value in values]
    interrupts = [
        {
            "id": f"mr::{value['toolCallId']}",
            "reason": "mastra:tool_suspend",
            "toolCallId": value["toolCallId"],
            "responseSchema": vendor_servers.SCHEMA,
            "metadata": {
                "mastra": {key: value[key] for key in value if key not in ("toolCallId",)}
            },
        }
        for value in values
    ]
    return [started(), *events, outcome(*interrupts) if with_outcome else finished()]


@pytest.mark.parametrize("with_outcome", [False, True])
async def test_each_suspended_call_of_mastra_gets_its_own_answer(with_outcome):
    stage, server = await interrupted_stage(
        mastra_asks("4A", "4B", with_outcome=with_outcome),
        [started(), *vendor_servers.done("m-4A"), finished()],
        [started(), vendor_servers.done("m-4B")[0] | {"messageId": "r-2"}, finished()],
    )
    calls = [(call.tool_call_id, call.tool_call_name) for call in stage.of(agui.ToolCallStartEvent)]
    messages = [interrupt.message for interrupt in stage.interrupts]
    asked_about = [interrupt.tool_call_id for interrupt in stage.interrupts]

    await stage.answer(APPROVE, DENY)

    assert calls == [("m-4A", "book"), ("m-4B", "book")]
    assert messages == ["Book 4A?", "Book 4B?"]
    assert asked_about == ["m-4A", "m-4B"]
    bodies = [vendor_servers.body_of(request) for request in server.requests[1:]]
    commands = [body["forwardedProps"]["command"] for body in bodies]
    assert commands == [
        {"resume": APPROVE, "interruptEvent": {"toolCallId": "m-4A", "runId": "mr"}},
        {"resume": DENY, "interruptEvent": {"toolCallId": "m-4B", "runId": "mr"}},
    ]
    assert [body["resume"][0]["interruptId"] for body in bodies] == ["mr::m-4A", "mr::m-4B"]
    assert len(stage.of(agui.ToolCallResultEvent)) == 2


async def test_an_answer_that_mastra_does_not_take_is_told():
    stage, _ = await interrupted_stage(mastra_asks("4A"), mastra_asks("4A"))

    await stage.answer(APPROVE)

    assert failure(stage)[0] == "DECISIONS_NOT_TAKEN"


async def test_an_error_of_mastra_between_two_answers_ends_the_run():
    error = {"type": "RUN_ERROR", "message": "Gone.", "code": "LOST"}
    stage, server = await interrupted_stage(mastra_asks("4A", "4B"), [started(), error])

    await stage.answer(APPROVE, DENY)

    assert failure(stage) == ("LOST", "Gone.")
    assert len(server.requests) == 2


# -- calls that are open at the end ---------------------------------------------------------------

PAUSES = [started(), *vendor_servers.call(), finished()]


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (APPROVE, '{"accepted":true}'),
        (DENY, '{"accepted":false,"note":"no"}'),
        ({**APPROVE, "result": "sent by hand"}, "sent by hand"),
        ({**DENY, "result": "sent by hand"}, '{"accepted":false,"note":"no"}'),
    ],
)
async def test_an_open_call_at_the_end_is_a_request(answer, content):
    stage, server = await interrupted_stage(PAUSES, DONE)
    (interrupt,) = stage.interrupts
    assert (interrupt.reason, interrupt.tool_call_id) == ("tool_call", "tc-1")
    assert interrupt.message == "Call issue_refund?"

    await stage.answer(answer)

    last = server.last["messages"][-1]
    assert (last["role"], last["toolCallId"], last["content"]) == ("tool", "tc-1", content)


async def test_an_end_that_nobody_decided_does_not_accept_an_open_call():
    stage, server = await interrupted_stage(PAUSES, [started(), finished()])

    await stage.answer(cancelled(stage.interrupts[0]))

    assert server.last["messages"][-1]["content"].startswith('{"accepted":false')


async def test_a_call_that_the_agent_spoke_about_afterwards_is_not_open():
    text = vendor_servers.done()[1:]
    stage, _ = await interrupted_stage([started(), *vendor_servers.call(), *text, finished()])

    assert stage.outcome == "success"


async def test_a_call_with_its_result_is_not_open():
    result = vendor_servers.done()[:1]
    stage, _ = await interrupted_stage([started(), *vendor_servers.call(), *result, finished()])

    assert stage.outcome == "success"
