"""Chunks become the events they stand for, which pass the rules and add up to the same messages."""

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.chunks import ChunkExpander
from agents.agui.conversation import Conversation
from agents.agui.errors import ProtocolViolation
from agents.agui.replay import ReplayCursor
from agents.agui.sequence import Sequence

START = wire.run_started("t", "r")
FINISH = agui.RunFinishedEvent(thread_id="t", run_id="r")


def text(message_id=None, delta=None, **fields):
    return agui.TextMessageChunkEvent(message_id=message_id, delta=delta, **fields)


def call(tool_call_id=None, name=None, delta=None, **fields):
    return agui.ToolCallChunkEvent(
        tool_call_id=tool_call_id, tool_call_name=name, delta=delta, **fields
    )


def thought(message_id=None, delta=None, **fields):
    return agui.ReasoningMessageChunkEvent(message_id=message_id, delta=delta, **fields)


def expand(*events):
    expander = ChunkExpander()
    return [expanded for event in events for expanded in expander.expand(event)]


def types(events):
    return [event.type.value for event in events]


RUN = [
    START,
    thought("r", "Hm"),
    thought(delta="."),
    text("m", "Let me "),
    text(delta="see."),
    call("c", "look", '{"a"', parent_message_id="m"),
    call(delta=":1}"),
    FINISH,
]


def test_a_run_of_chunks_passes_the_rules_and_adds_up():
    sequence, conversation = Sequence(), Conversation()

    for event in expand(*RUN):
        sequence.check(event)
        conversation.apply(wire.decode(wire.encode(event)))

    thinking, message = conversation.messages
    assert (thinking.role, thinking.content) == ("reasoning", "Hm.")
    assert (message.role, message.content) == ("assistant", "Let me see.")
    assert message.tool_calls[0].function.arguments == '{"a":1}'


def test_the_next_event_of_the_same_agent_ends_a_message():
    events = expand(text("m", "a"), agui.CustomEvent(name="n", value=1), text("n", "b"), FINISH)

    assert types(events) == [
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "CUSTOM",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ]


def test_subagents_do_not_interrupt_each_other():
    events = expand(
        text("m1", "a", subagent_run_id="s1"),
        text("m2", "b", subagent_run_id="s2"),
        text(delta="c", subagent_run_id="s1"),
    )

    assert types(events).count("TEXT_MESSAGE_END") == 0
    assert [event.message_id for event in events] == ["m1", "m1", "m2", "m2", "m1"]


def test_what_is_in_the_making_can_be_ended_from_outside():
    expander = ChunkExpander()
    expander.expand(text("m", "a", subagent_run_id="s"))
    expander.expand(call("c", "n"))

    ends = expander.flush()

    assert types(ends) == ["TEXT_MESSAGE_END", "TOOL_CALL_END"]
    assert ends[0].subagent_run_id == "s"
    assert expander.flush() == []


def test_events_that_are_no_chunks_pass_as_they_are():
    events = [START, agui.TextMessageStartEvent(message_id="m"), FINISH]

    assert all(actual is other for actual, other in zip(expand(*events), events, strict=True))


def test_chunks_of_a_second_attempt_continue_after_committed_events():
    committed = expand(*RUN)[1:6]
    cursor = ReplayCursor(committed)

    fresh = [expanded for event in expand(*RUN)[1:] if (expanded := cursor.feed(event)) is not None]

    assert committed + fresh == expand(*RUN)[1:]


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([text(delta="a")], "no message_id"),
        ([thought(delta="a")], "no message_id"),
        ([call(delta="a")], "no tool_call_id"),
        ([call("c", delta="a")], "no tool_call_name"),
        ([text("m"), text(role="user")], "opened with 'assistant'"),
        ([call("c", "n"), call("c", "other")], "opened with 'n'"),
        ([text("m", subagent_run_id="s"), text("m", subagent_run_id="z")], "opened with 's'"),
        (
            [text("m", subagent_run_id="s"), text("n", subagent_run_id="z"), text(delta="a")],
            "any of 2 subagents",
        ),
    ],
)
def test_a_chunk_that_nobody_could_place_is_refused(chunks, reason):
    with pytest.raises(ProtocolViolation, match=reason):
        expand(*chunks)
