"""The codec: what goes over the wire is what the official client accepts, and comes back whole."""

import json

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.errors import ProtocolViolation
from agents.agui.strict_json import JsonRejected

OUTCOMES = [
    agui.RunFinishedSuccessOutcome(),
    agui.RunFinishedCancelledOutcome(),
    agui.RunFinishedInterruptOutcome(
        interrupts=[
            agui.Interrupt(id="i", reason="confirmation", response_schema={"type": "boolean"})
        ]
    ),
]


@pytest.mark.parametrize(
    "event",
    [
        wire.run_started("thread", "run"),
        wire.run_started("thread", "run", "parent"),
        agui.TextMessageContentEvent(message_id="m", delta="Grüße \U0001f600 \\u0000 \n"),
        agui.CustomEvent(name="x", value=None),
        agui.StateSnapshotEvent(snapshot=None),
        agui.StateSnapshotEvent(snapshot={"a": None, "b": [None]}),
        agui.StateDeltaEvent(
            delta=[
                {"op": "replace", "path": "/a", "value": None},
                {"op": "move", "from": "/a", "path": "/b"},
            ]
        ),
        agui.MessagesSnapshotEvent(
            messages=[
                agui.UserMessage(id="u", content=[agui.TextPart(text="hi")]),
                agui.AssistantMessage(id="a", content=None),
            ]
        ),
        *(
            agui.RunFinishedEvent(thread_id="t", run_id="r", outcome=outcome)
            for outcome in OUTCOMES
        ),
    ],
)
def test_an_event_comes_back_as_it_was(event):
    assert wire.decode(wire.encode(event)) == event


def test_absent_fields_are_left_out_and_names_are_camel_case():
    text = wire.encode(agui.ToolCallStartEvent(tool_call_id="t", tool_call_name="n"))

    assert text == '{"type":"TOOL_CALL_START","toolCallId":"t","toolCallName":"n"}'


def test_a_null_that_means_something_stays():
    assert wire.encode(agui.CustomEvent(name="x", value=None)).endswith('"value":null}')


def test_a_run_starts_with_the_version_of_the_protocol():
    assert json.loads(wire.encode(wire.run_started("t", "r", "p"))) == {
        "type": "RUN_STARTED",
        "threadId": "t",
        "runId": "r",
        "parentRunId": "p",
        "protocolVersion": "1.0",
    }


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (agui.TextMessageContentEvent(message_id="m", delta="\ud800"), "valid Unicode"),
        (agui.TextMessageContentEvent(message_id="m", delta="a\0b"), "NUL"),
        (agui.StateSnapshotEvent(snapshot={"a": object()}), "JSON values only"),
        (agui.StateSnapshotEvent(snapshot={"a": [float("nan")]}), "not JSON compliant"),
        (agui.CustomEvent(name="n", value=float("inf")), "not JSON compliant"),
        (agui.StateSnapshotEvent(snapshot=eval("[" * 70 + "]" * 70)), "too deep"),
    ],
)
def test_what_nobody_could_read_back_is_not_written(event, reason):
    with pytest.raises(ProtocolViolation, match=reason):
        wire.encode(event)


def unchecked(event, **fields):
    """Put values into an event behind the back of its validation."""
    return event.model_copy(update=fields)


CUSTOM = agui.CustomEvent(name="n", value=1)
TEXT = agui.TextMessageContentEvent(message_id="m", delta="a")
FINISHED = agui.RunFinishedEvent(thread_id="t", run_id="r")


@pytest.mark.parametrize(
    "event",
    [
        unchecked(CUSTOM, name=7),
        unchecked(CUSTOM, name=None),
        unchecked(CUSTOM, timestamp=1.5),
        unchecked(CUSTOM, metadata=[]),
        agui.CustomEvent.model_construct(name="n"),
        unchecked(TEXT, delta=7),
        unchecked(TEXT, delta=None),
        unchecked(TEXT, message_id=7),
        unchecked(TEXT, subagent_run_id=7),
        unchecked(TEXT, timestamp=2**53),
        unchecked(TEXT, metadata="x"),
        unchecked(TEXT, type=agui.EventType.CUSTOM),
        unchecked(agui.ToolCallEndEvent(tool_call_id="c"), type=agui.EventType.STEP_STARTED),
        agui.TextMessageContentEvent.model_construct(delta="a"),
        agui.ToolCallArgsEvent.model_construct(),
        unchecked(FINISHED, outcome="interrupt"),
        unchecked(FINISHED, outcome=agui.RunFinishedInterruptOutcome.model_construct()),
        unchecked(
            FINISHED,
            outcome={
                "type": "interrupt",
                "interrupts": [{"id": "i", "reason": "x", "expiresAt": None}],
            },
        ),
        agui.MessagesSnapshotEvent.model_construct(messages=[{"id": "m"}]),
        agui.MessagesSnapshotEvent.model_construct(messages=7),
        unchecked(CUSTOM, value=eval("[" * 90 + "]" * 90)),
    ],
)
def test_an_event_that_went_around_validation_is_not_written(event):
    with pytest.raises(ProtocolViolation):
        wire.encode(event)


def test_an_event_with_the_type_of_another_one_is_not_written():
    start = agui.ReasoningStartEvent(message_id="m")

    with pytest.raises(ProtocolViolation, match="the type of another event"):
        wire.encode(unchecked(start, type=agui.EventType.REASONING_END))


@pytest.mark.parametrize("fields", [{"timestamp": 1_700_000_000_000}, {"subagent_run_id": "s"}, {}])
def test_valid_state_delta_is_encoded_however_it_was_built(fields):
    event = unchecked(TEXT, **fields)

    assert wire.decode(wire.encode(event)) == event


def test_an_adapters_own_kind_of_event_is_written_as_what_it_extends():
    class Noted(agui.CustomEvent):
        note: str = "x"

    assert json.loads(wire.encode(Noted(name="n", value=1)))["note"] == "x"


def test_long_digits_in_a_text_are_no_number():
    event = agui.TextMessageContentEvent(message_id="m", delta="1234567890123456789012")

    assert wire.decode(wire.encode(event)) == event


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"type": "TEXT_MESSAGE_START", "messageId": "m", "role": None}, "START.role"),
        ({"type": "TEXT_MESSAGE_END", "messageId": "m", "timestamp": None}, "END.timestamp"),
        (
            {
                "type": "RUN_FINISHED",
                "threadId": "t",
                "runId": "r",
                "outcome": {
                    "type": "interrupt",
                    "interrupts": [{"id": "i", "reason": "x", "expiresAt": None}],
                },
            },
            r"outcome.interrupts\[0\].expiresAt",
        ),
    ],
)
def test_null_in_an_optional_field_is_refused_as_the_official_client_does(body, path):
    with pytest.raises(ProtocolViolation, match=f"{path} is null"):
        wire.decode(json.dumps(body))


def test_null_is_a_value_where_any_json_is():
    body = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "result": None}

    assert wire.decode(json.dumps(body)).result is None


@pytest.mark.parametrize("text", ["{}", '{"type": "THINKING_START"}', "[]", '{"type": "CUSTOM"}'])
def test_json_that_is_no_event_is_refused(text):
    with pytest.raises(ProtocolViolation, match="Not an AG-UI event"):
        wire.decode(text)


def test_text_that_is_no_strict_json_is_refused():
    with pytest.raises(JsonRejected):
        wire.decode('{"type": "CUSTOM", "name": "a", "name": "b", "value": 1}')
