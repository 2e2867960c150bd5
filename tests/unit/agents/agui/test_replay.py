"""Fewer deltas with the same meaning, and runs driven again without repeating themselves."""

import ag_ui.core as agui
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.agui import wire
from agents.agui.chunks import Delta, coalesce
from agents.agui.conversation import Conversation
from agents.agui.replay import ReplayCursor, ReplayDiverged

PARTS = st.lists(st.text("ab", max_size=3), max_size=8)


def delta(text, message_id="m", **fields):
    return agui.TextMessageContentEvent(message_id=message_id, delta=text, **fields)


def arguments(text, call_id="t"):
    return agui.ToolCallArgsEvent(tool_call_id=call_id, delta=text)


def thought(text):
    return agui.ReasoningMessageContentEvent(message_id="r", delta=text)


def script(text_parts, argument_parts):
    """Build what an agent yields: one message, one tool call, one end."""
    return [
        agui.TextMessageStartEvent(message_id="m"),
        *map(delta, text_parts),
        agui.TextMessageEndEvent(message_id="m"),
        agui.ToolCallStartEvent(tool_call_id="t", tool_call_name="n"),
        *map(arguments, argument_parts),
        agui.ToolCallEndEvent(tool_call_id="t"),
        agui.RunFinishedEvent(thread_id="t", run_id="r"),
    ]


def meaning(events):
    conversation = Conversation()
    for event in events:
        conversation.apply(event)
    return conversation.messages


def replay(committed, again):
    cursor = ReplayCursor(committed)
    fresh = [fresh_event for fresh_event in map(cursor.feed, again) if fresh_event is not None]
    return cursor, fresh


# Coalescing


def test_neighbouring_deltas_of_one_message_become_one():
    assert list(coalesce([delta("a"), delta("b"), delta("c")])) == [delta("abc")]


def test_deltas_of_arguments_and_reasoning_are_merged_too():
    events = [arguments("a"), arguments("b"), thought("c"), thought("d")]

    assert list(coalesce(events)) == [arguments("ab"), thought("cd")]


@pytest.mark.parametrize(
    "between",
    [
        delta("x", "other"),
        delta("x", subagent_run_id="s"),
        arguments("x"),
        agui.TextMessageEndEvent(message_id="m"),
        delta("x", metadata={"a": 1}),
        delta("x", raw_event={"a": 1}),
        delta("x", unknown=1),
    ],
)
def test_what_comes_between_keeps_its_place(between):
    events = [delta("a"), delta("b"), between, delta("c")]

    assert list(coalesce(events)) == [delta("ab"), between, delta("c")]


def test_a_merged_delta_keeps_the_first_timestamp():
    (merged,) = coalesce([delta("a", timestamp=1), delta("b", timestamp=2)])

    assert merged.timestamp == 1


def test_the_events_given_are_not_changed():
    first = delta("a")

    list(coalesce([first, delta("b")]))

    assert first.delta == "a"


@given(PARTS, PARTS)
def test_coalesced_events_mean_the_same_and_cannot_be_coalesced_further(text_parts, argument_parts):
    events = script(text_parts, argument_parts)

    fewer = list(coalesce(events))

    assert meaning(fewer) == meaning(events)
    assert list(coalesce(fewer)) == fewer
    assert sum(isinstance(event, Delta) for event in fewer) <= 2


# Replay


@given(PARTS, PARTS, st.data())
def test_a_committed_prefix_and_its_replay_make_one_run(text_parts, argument_parts, data):
    events = script(text_parts, argument_parts)
    length = data.draw(st.integers(0, len(events)))
    committed = [wire.decode(wire.encode(event)) for event in coalesce(events[:length])]

    cursor, fresh = replay(committed, events)

    assert cursor.exhausted
    assert meaning([*committed, *fresh]) == meaning(events)
    assert list(coalesce([*committed, *fresh]))[-1] == events[-1]


@given(PARTS, PARTS, PARTS)
def test_deltas_may_be_cut_differently_at_the_second_attempt(text_parts, argument_parts, noise):
    text = "".join(text_parts)
    first = script(text_parts, argument_parts)
    second = script([text[:2], text[2:], *([""] * len(noise))], ["".join(argument_parts)])

    cursor, fresh = replay(first, second)

    assert (cursor.exhausted, fresh) == (True, [])


def test_the_rest_of_a_delta_is_new_when_a_part_was_committed():
    cursor, fresh = replay([delta("Hel")], [delta("H"), delta("ello"), delta("!")])

    assert fresh == [delta("lo"), delta("!")]
    assert cursor.exhausted


def test_a_cursor_is_not_exhausted_before_everything_was_said_again():
    cursor = ReplayCursor([delta("ab"), delta("c")])

    states = [cursor.exhausted]
    for event in (delta("a"), delta("b"), delta("c")):
        cursor.feed(event)
        states.append(cursor.exhausted)

    assert states == [False, False, False, True]


@pytest.mark.parametrize("committed", [[], [delta("")], [delta(""), arguments("")]])
def test_with_nothing_committed_everything_is_new(committed):
    event = agui.CustomEvent(name="n", value=1)

    assert ReplayCursor(committed).exhausted
    assert ReplayCursor(committed).feed(event) is event


def test_timestamps_and_raw_events_may_differ():
    committed = agui.CustomEvent(name="n", value=1, timestamp=1)
    again = agui.CustomEvent(name="n", value=1, timestamp=2, raw_event={"a": 1})

    assert ReplayCursor([committed]).feed(again) is None


def test_a_field_left_out_is_a_field_set_to_none():
    committed = agui.TextMessageStartEvent(message_id="m")
    again = agui.TextMessageStartEvent(message_id="m", role=None, subagent_run_id=None)

    assert ReplayCursor([committed]).feed(again) is None


@pytest.mark.parametrize(
    ("committed", "again"),
    [
        ([delta("ab")], [delta("b")]),
        ([delta("ab")], [delta("abc", "other")]),
        ([delta("ab")], [arguments("ab")]),
        ([delta("ab")], [delta("ab", subagent_run_id="s")]),
        ([delta("ab")], [delta("a"), agui.TextMessageEndEvent(message_id="m")]),
        ([delta("ab")], [agui.TextMessageEndEvent(message_id="m")]),
        ([delta("a"), agui.TextMessageEndEvent(message_id="m")], [delta("ab")]),
        ([agui.TextMessageEndEvent(message_id="m")], [delta("a")]),
        (
            [agui.TextMessageStartEvent(message_id="m")],
            [agui.TextMessageStartEvent(message_id="n")],
        ),
        ([agui.CustomEvent(name="n", value=1)], [agui.CustomEvent(name="n", value=2)]),
    ],
)
def test_an_agent_that_says_something_else_has_diverged(committed, again):
    with pytest.raises(ReplayDiverged, match="is committed here"):
        replay(committed, again)
