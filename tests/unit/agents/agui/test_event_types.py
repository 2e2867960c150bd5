"""Every event of AG-UI 1.0, through the codec, the sequence rules and the reducer."""

import json

import ag_ui.core as agui
import pytest
from pydantic import TypeAdapter

from agents.agui import wire
from agents.agui.chunks import coalesce
from agents.agui.conversation import Conversation
from agents.agui.errors import ProtocolViolation
from agents.agui.replay import ReplayCursor
from agents.agui.sequence import Sequence

START = wire.run_started("t", "r")

#: One of each, with every optional field set, and what has to come before it in a run.
EVENTS = [
    ([], {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "parentRunId": "p"}),
    ([START], {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "result": {"a": None}}),
    ([START], {"type": "RUN_ERROR", "message": "no", "code": "NO"}),
    ([START], {"type": "STEP_STARTED", "stepName": "s", "subagentRunId": "a"}),
    (
        [START, agui.StepStartedEvent(step_name="s")],
        {"type": "STEP_FINISHED", "stepName": "s"},
    ),
    (
        [START],
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "name": "Dana"},
    ),
    (
        [START, agui.TextMessageStartEvent(message_id="m")],
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "", "timestamp": 1},
    ),
    (
        [START, agui.TextMessageStartEvent(message_id="m")],
        {"type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": {"ag-ui": None}},
    ),
    (
        [START],
        {
            "type": "TOOL_CALL_START",
            "toolCallId": "c",
            "toolCallName": "n",
            "parentMessageId": "m",
        },
    ),
    (
        [START, agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="n")],
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"},
    ),
    (
        [START, agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="n")],
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
    ),
    (
        [START],
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": "m",
            "toolCallId": "c",
            "content": [{"type": "text", "text": "done"}],
            "role": "tool",
        },
    ),
    ([START], {"type": "STATE_SNAPSHOT", "snapshot": None}),
    (
        [START],
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": None}]},
    ),
    (
        [START],
        {
            "type": "MESSAGES_SNAPSHOT",
            "messages": [
                {"id": "u", "role": "user", "content": "hi"},
                {"id": "x", "role": "activity", "activityType": "PLAN", "content": {"a": None}},
            ],
        },
    ),
    (
        [START],
        {
            "type": "ACTIVITY_SNAPSHOT",
            "messageId": "x",
            "activityType": "PLAN",
            "content": {},
            "replace": False,
        },
    ),
    (
        [START],
        {"type": "ACTIVITY_DELTA", "messageId": "x", "activityType": "PLAN", "patch": []},
    ),
    ([START], {"type": "RAW", "event": {"a": 1}, "source": "langgraph"}),
    ([START], {"type": "CUSTOM", "name": "n", "value": None, "rawEvent": {"id": 1}}),
    ([START], {"type": "REASONING_START", "messageId": "m"}),
    (
        [START, agui.ReasoningStartEvent(message_id="m")],
        {"type": "REASONING_END", "messageId": "m"},
    ),
    ([START], {"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"}),
    (
        [START, agui.ReasoningMessageStartEvent(message_id="m")],
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "hm"},
    ),
    (
        [START, agui.ReasoningMessageStartEvent(message_id="m")],
        {"type": "REASONING_MESSAGE_END", "messageId": "m"},
    ),
    (
        [START],
        {
            "type": "REASONING_ENCRYPTED_VALUE",
            "subtype": "message",
            "entityId": "m",
            "encryptedValue": "x",
        },
    ),
    (
        [START],
        {
            "type": "SUBAGENT_STARTED",
            "subagentRunId": "a",
            "name": "researcher",
            "description": "Looks things up.",
        },
    ),
    (
        [START, agui.SubagentStartedEvent(subagent_run_id="a", name="n")],
        {
            "type": "SUBAGENT_FINISHED",
            "subagentRunId": "a",
            "outcome": {"type": "suspended", "interruptIds": ["i"]},
        },
    ),
    (
        [START, agui.SubagentStartedEvent(subagent_run_id="a", name="n")],
        {"type": "SUBAGENT_ERROR", "subagentRunId": "a", "message": "no", "code": "NO"},
    ),
]
CHUNKS = [
    {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "a"},
    {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "n", "delta": "{}"},
    {"type": "REASONING_MESSAGE_CHUNK", "messageId": "m", "delta": "a"},
]

every_event = pytest.mark.parametrize(
    ("before", "body"), EVENTS, ids=[body["type"] for _, body in EVENTS]
)


def test_the_tables_name_every_event_of_the_protocol():
    named = {body["type"] for _, body in EVENTS} | {body["type"] for body in CHUNKS}

    assert named == {event_type.value for event_type in agui.EventType}


@every_event
def test_every_event_is_written_as_it_was_read(before, body):
    assert json.loads(wire.encode(wire.decode(json.dumps(body)))) == body


@every_event
def test_every_event_has_a_place_in_a_run(before, body):
    sequence, conversation = Sequence(), Conversation(state={})

    for event in [*before, wire.decode(json.dumps(body))]:
        sequence.check(event)
        conversation.apply(event)

    stored = conversation.to_json()["messages"]
    messages = TypeAdapter(list[agui.Message]).validate_python(stored)
    assert messages == conversation.messages


@every_event
def test_every_event_survives_coalescing_and_is_recognised_in_a_replay(before, body):
    event = wire.decode(json.dumps(body))

    assert list(coalesce([event])) == [event]
    if getattr(event, "delta", None) != "":
        assert ReplayCursor([event]).feed(event) is None


@every_event
def test_no_event_but_the_ends_of_a_run_may_follow_an_error(before, body):
    sequence = Sequence()
    for event in (START, agui.RunErrorEvent(message="no")):
        sequence.check(event)

    event = wire.decode(json.dumps(body))

    if body["type"] == "RUN_STARTED":
        sequence.check(event)
    else:
        with pytest.raises(ProtocolViolation, match="after RUN_ERROR"):
            sequence.check(event)


@pytest.mark.parametrize("body", CHUNKS)
def test_chunks_are_read_but_have_no_place_in_a_run(body):
    sequence = Sequence()
    sequence.check(START)

    with pytest.raises(ProtocolViolation, match="expand it"):
        sequence.check(wire.decode(json.dumps(body)))


@every_event
def test_a_number_where_a_text_belongs_is_refused(before, body):
    texts = [name for name, value in body.items() if isinstance(value, str) and name != "type"]

    for name in texts:
        with pytest.raises(ProtocolViolation, match="Not an AG-UI event"):
            wire.decode(json.dumps(body | {name: {"not": "a text"}}))


@every_event
def test_a_timestamp_is_a_whole_number(before, body):
    assert wire.decode(json.dumps(body | {"timestamp": 1_700_000_000_000})).timestamp
    with pytest.raises(ProtocolViolation):
        wire.decode(json.dumps(body | {"timestamp": 1.5}))
