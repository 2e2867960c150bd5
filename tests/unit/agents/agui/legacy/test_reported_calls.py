"""One call is one call, whether a bridge streams it, repeats it in a snapshot, or does both."""

import json
from typing import Any

import ag_ui.core as agui
import pytest

from tests.support.agents.vendor_servers import (
    ARGS,
    LANGGRAPH_IDS,
    draft_asks,
    finished,
    interrupted_stage,
    on_interrupt,
    started,
)

OTHERS = {"order": "B2", "amount": 20}
MODEL = {"rawEvent": {"event": "on_chat_model_stream"}}
TOOL = {"rawEvent": {"event": "on_tool_end"}}


def events_of_call(call: str = "tc-1", *deltas: str, **more: Any) -> list[Any]:
    """Return the events with which a bridge streams a call."""
    args = [{"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": text} for text in deltas]
    start = {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": "issue_refund"}
    events = [start, *args, {"type": "TOOL_CALL_END", "toolCallId": call}]
    return [{**event, **more} for event in events]


def user(name: str = "u1") -> Any:
    return {"id": name, "role": "user", "content": "Refund it."}


def proposal(*calls: Any, name: str = "m-1") -> Any:
    """Return an assistant's message with calls, each an id and arguments."""
    return {
        "id": name,
        "role": "assistant",
        "toolCalls": [
            {
                "id": call,
                "type": "function",
                "function": {"name": "issue_refund", "arguments": json.dumps(args)},
            }
            for call, args in calls
        ],
    }


def snapshot(*messages: Any) -> Any:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def review(*actions: Any) -> Any:
    """Return the interrupt of LangChain's middleware about calls with these arguments."""
    config = {"action_name": "issue_refund", "allowed_decisions": ["approve", "reject"]}
    requests = [{"name": "issue_refund", "args": args} for args in actions]
    value = {"action_requests": requests, "review_configs": [config]}
    return on_interrupt(value, LANGGRAPH_IDS[0])


def proposals(stage: Any) -> dict[str, Any]:
    """Return the arguments of each call that the run proposed, by its id."""
    args: dict[str, str] = {event.tool_call_id: "" for event in stage.of(agui.ToolCallStartEvent)}
    for event in stage.of(agui.ToolCallArgsEvent):
        args[event.tool_call_id] += event.delta
    ends = [event.tool_call_id for event in stage.of(agui.ToolCallEndEvent)]
    assert sorted(ends) == sorted(args)
    return {call: json.loads(text or "{}") for call, text in args.items()}


TEXT = json.dumps(ARGS)
#: What a bridge streams of one call: all of it, a part of it, nothing.
STREAMS = {
    "streamed": events_of_call("tc-1", TEXT[:9], TEXT[9:], **MODEL),
    "without-arguments": events_of_call("tc-1", **MODEL),
    "without-their-beginning": events_of_call("tc-1", TEXT[9:20], TEXT[20:], **MODEL),
    "not-streamed": [],
}
in_each_way = pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())


@in_each_way
async def test_a_call_under_review_is_the_call_of_the_snapshot(stream):
    message = snapshot(user(), proposal(("tc-1", ARGS)))
    stage, _ = await interrupted_stage([started(), *stream, message, review(ARGS), finished()])

    assert proposals(stage) == {"tc-1": ARGS}
    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == ["tc-1"]


@pytest.mark.parametrize("stream", list(STREAMS.values())[:3], ids=list(STREAMS)[:3])
async def test_a_call_without_a_snapshot_has_the_arguments_of_its_review(stream):
    stage, _ = await interrupted_stage([started(), *stream, review(ARGS), finished()])

    assert proposals(stage) == {"tc-1": ARGS}
    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == ["tc-1"]


@in_each_way
async def test_messages_have_a_call_once(stream):
    message = snapshot(user(), proposal(("tc-1", ARGS)))
    stage, _ = await interrupted_stage([started(), *stream, message, review(ARGS), finished()])

    (assistant,) = (item for item in stage.conversation.messages if item.role == "assistant")
    assert assistant.id == "m-1"
    assert [json.loads(call.function.arguments) for call in assistant.tool_calls] == [ARGS]


async def test_second_call_of_one_chunk_is_that_of_the_snapshot():
    message = snapshot(user(), proposal(("tc-1", ARGS), ("tc-2", OTHERS)))
    stream = events_of_call("tc-1", **MODEL)
    run = [started(), *stream, message, review(ARGS, OTHERS), finished()]
    stage, _ = await interrupted_stage(run)

    assert proposals(stage) == {"tc-1": ARGS, "tc-2": OTHERS}
    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == ["tc-1", "tc-2"]


async def test_two_equal_calls_are_two():
    message = snapshot(user(), proposal(("tc-1", ARGS), ("tc-2", ARGS)))
    stage, _ = await interrupted_stage([started(), message, review(ARGS, ARGS), finished()])

    assert proposals(stage) == {"tc-1": ARGS, "tc-2": ARGS}
    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == ["tc-1", "tc-2"]


async def test_a_call_that_is_streamed_when_its_tool_ends_is_no_second_one():
    result = {"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": "tc-1", "content": "ok"}
    message = snapshot(user(), proposal(("tc-1", ARGS)))
    echo = events_of_call("tc-1", TEXT, **TOOL)
    stage, _ = await interrupted_stage([started(), message, *echo, result, finished()])

    assert proposals(stage) == {"tc-1": ARGS}
    (assistant,) = (item for item in stage.conversation.messages if item.role == "assistant")
    assert [json.loads(call.function.arguments) for call in assistant.tool_calls] == [ARGS]


async def test_calls_of_earlier_turns_and_settled_ones_are_not_proposed():
    result = {"id": "r-1", "role": "tool", "toolCallId": "tc-1", "content": "refunded"}
    messages = (
        *(proposal(("tc-0", OTHERS), name="m-0"), user("u2"), proposal(("tc-1", ARGS)), result),
        {"id": "m-2", "role": "assistant", "content": "Done."},
    )
    stage, _ = await interrupted_stage([started(), snapshot(user(), *messages), finished()])

    assert proposals(stage) == {}


@pytest.mark.parametrize(
    "call",
    [
        {"id": "tc-1", "function": {"name": "issue_refund", "arguments": "[1]"}},
        {"id": "tc-1", "function": {"name": "issue_refund", "arguments": "{"}},
        {"id": "tc-1", "function": {"name": "adk_request_confirmation", "arguments": "{}"}},
    ],
)
async def test_what_is_no_call_of_a_tool_is_not_proposed(call):
    message = {"id": "m-1", "role": "assistant", "toolCalls": [{"type": "function", **call}]}
    stage, _ = await interrupted_stage([started(), snapshot(user(), message), finished()])

    assert proposals(stage) == {}


async def test_a_call_without_arguments_stays_one():
    result = {"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": "tc-1", "content": "ok"}
    stream = events_of_call("tc-1", **MODEL)
    stage, _ = await interrupted_stage([started(), *stream, result, finished()])

    assert proposals(stage) == {"tc-1": {}}


async def test_bridges_that_stream_all_of_it_are_not_held_back():
    stream = events_of_call("tc-1")
    text = {"type": "STATE_SNAPSHOT", "snapshot": {}}
    stage, _ = await interrupted_stage([started(), *stream, text, finished()])

    assert [event.type for event in stage.events][:3] == [
        "TOOL_CALL_START",
        "TOOL_CALL_END",
        "STATE_SNAPSHOT",
    ]


async def test_a_draft_that_names_no_call_is_about_the_open_one():
    (_, end) = draft_asks({"functionName": "issue_refund", "functionArguments": ARGS})
    stage, _ = await interrupted_stage([started(), *events_of_call("tc-1", TEXT), end])

    assert proposals(stage) == {"tc-1": ARGS}
    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == ["tc-1"]


async def test_a_result_stands_before_the_final_text():
    result = {"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": "tc-1", "content": "ok"}
    text = [
        {"type": "TEXT_MESSAGE_START", "messageId": "m-2", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m-2", "delta": "Done."},
        {"type": "TEXT_MESSAGE_END", "messageId": "m-2"},
    ]
    stored = {"id": "uuid-of-the-graph", "role": "tool", "toolCallId": "tc-1", "content": "ok"}
    end = {"id": "m-2", "role": "assistant", "content": "Done."}
    last = snapshot(user(), proposal(("tc-1", ARGS), name="tc-1"), stored, end)
    run = [started(), *events_of_call("tc-1", TEXT), result, *text, last, finished()]
    stage, _ = await interrupted_stage(run)

    assert [message.id for message in stage.conversation.messages] == [
        *("u1", "tc-1", "uuid-of-the-graph", "m-2")
    ]
