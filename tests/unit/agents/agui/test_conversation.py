"""What events add up to, compared with what the official client makes of them."""

import ag_ui.core as agui
import pytest
from ag_ui.core import Message
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agents.agui.conversation import Conversation, is_from_client
from agents.agui.errors import ProtocolViolation
from agents.agui.transcript import Transcript

USER = agui.UserMessage(id="u", content="hello")


def call(call_id="t", arguments="{}"):
    return agui.ToolCall(id=call_id, function=agui.FunctionCall(name="n", arguments=arguments))


def after(*events, messages=(), state=None):
    conversation = Conversation(messages, state)
    for event in events:
        conversation.apply(event)
    return conversation


def text(message_id, *parts, **fields):
    return [
        agui.TextMessageStartEvent(message_id=message_id, **fields),
        *(agui.TextMessageContentEvent(message_id=message_id, delta=part) for part in parts),
        agui.TextMessageEndEvent(message_id=message_id),
    ]


def proposal(call_id="t", parent=None, parts=('{"a"', ":1}")):
    return [
        agui.ToolCallStartEvent(tool_call_id=call_id, tool_call_name="n", parent_message_id=parent),
        *(agui.ToolCallArgsEvent(tool_call_id=call_id, delta=part) for part in parts),
        agui.ToolCallEndEvent(tool_call_id=call_id),
    ]


def result(call_id="t", message_id="r"):
    return agui.ToolCallResultEvent(message_id=message_id, tool_call_id=call_id, content="done")


# Text


@given(st.lists(st.text(max_size=5), max_size=20))
def test_deltas_add_up_to_the_text(parts):
    (message,) = after(*text("m", *parts)).messages

    assert message == agui.AssistantMessage(id="m", content="".join(parts))


def test_messages_can_be_read_between_two_deltas():
    conversation = after(*text("m", "a", "b"))
    first = conversation.messages[0].content
    conversation.apply(agui.TextMessageContentEvent(message_id="m", delta="c"))

    assert (first, conversation.messages[0].content) == ("ab", "abc")


@pytest.mark.parametrize("role", ["user", "system", "developer", "assistant"])
def test_a_text_message_has_the_role_name_and_owner_it_was_opened_with(role):
    (message,) = after(*text("m", "a", role=role, name="Dana", subagent_run_id="s")).messages

    assert (message.role, message.name, message.subagent_run_id) == (role, "Dana", "s")


def test_two_messages_may_grow_at_once():
    deltas = [
        agui.TextMessageContentEvent(message_id=message_id, delta=message_id)
        for message_id in ("a", "b", "a", "b")
    ]
    conversation = after(
        agui.TextMessageStartEvent(message_id="a"),
        agui.TextMessageStartEvent(message_id="b"),
        *deltas,
    )

    assert [message.content for message in conversation.messages] == ["aa", "bb"]


def test_a_message_that_was_there_is_continued():
    original = agui.AssistantMessage(id="m", content="a", name="Dana")

    (message,) = after(*text("m", "b", name="Eli"), messages=[original]).messages

    assert message == agui.AssistantMessage(id="m", content="ab", name="Dana")
    assert original.content == "a"


def test_text_for_a_message_nobody_knows_is_left_out():
    assert after(agui.TextMessageContentEvent(message_id="m", delta="a")).messages == []


def test_metadata_of_the_events_is_merged_into_the_message():
    conversation = after(
        agui.TextMessageStartEvent(message_id="m", metadata={"a": 1, "b": 1}),
        agui.TextMessageContentEvent(message_id="m", delta="", metadata={"b": 2}),
        agui.TextMessageEndEvent(message_id="m", metadata={"c": 3}),
    )

    assert conversation.messages[0].metadata == {"a": 1, "b": 2, "c": 3}


def test_reasoning_becomes_a_message():
    conversation = after(
        agui.ReasoningStartEvent(message_id="r"),
        agui.ReasoningMessageStartEvent(message_id="r"),
        agui.ReasoningMessageContentEvent(message_id="r", delta="hm"),
        agui.ReasoningMessageEndEvent(message_id="r"),
        agui.ReasoningEndEvent(message_id="r"),
        agui.ReasoningEncryptedValueEvent(subtype="message", entity_id="r", encrypted_value="x"),
    )

    assert conversation.messages == [
        agui.ReasoningMessage(id="r", content="hm", encrypted_value="x")
    ]


# Tool calls


def test_a_tool_call_joins_its_parent_message():
    (message,) = after(*text("m", "a"), *proposal(parent="m")).messages

    assert message == agui.AssistantMessage(
        id="m", content="a", tool_calls=[call(arguments='{"a":1}')]
    )


@pytest.mark.parametrize(("parent", "carrier"), [(None, "t"), ("new", "new"), ("u", "t")])
def test_a_tool_call_without_a_usable_parent_gets_a_message_of_its_own(parent, carrier):
    conversation = after(*proposal(parent=parent), messages=[USER])

    assert conversation.messages[1].id == carrier
    assert conversation.messages[1].tool_calls[0].id == "t"


def test_repeated_tool_call_keeps_its_position_and_gets_the_new_name():
    again = agui.ToolCallStartEvent(tool_call_id="t", tool_call_name="renamed")

    (message,) = after(*proposal(), again).messages

    assert [tool_call.function.name for tool_call in message.tool_calls] == ["renamed"]


def test_results_stand_behind_their_message_in_the_order_they_came():
    conversation = after(
        *text("m", "a"),
        *proposal("t1", "m"),
        *proposal("t2", "m"),
        *text("later", "b"),
        result("t2", "r2"),
        result("t1", "r1"),
    )

    assert [message.id for message in conversation.messages] == ["m", "r2", "r1", "later"]


def test_a_result_stands_before_what_replaced_an_earlier_one():
    replaced = agui.ActivitySnapshotEvent(message_id="r1", activity_type="PLAN", content={})
    conversation = after(
        *text("m"),
        *proposal("t1", "m"),
        *proposal("t2", "m"),
        result("t1", "r1"),
        result("t2", "r2"),
        replaced,
        result("t1", "r3"),
    )

    assert [message.id for message in conversation.messages] == ["m", "r3", "r1", "r2"]


def test_text_that_an_activity_replaced_does_not_come_back():
    snapshot = agui.ActivitySnapshotEvent(message_id="m", activity_type="PLAN", content={"a": 1})
    conversation = after(*text("m", "a"), snapshot, *text("n", "b"))

    assert [message.content for message in conversation.messages] == [{"a": 1}, "b"]


def test_many_results_and_activities_cost_no_more_each_than_few(monkeypatch):
    """Counts the messages looked at, which grew with the square of the events."""
    looked_at = 0
    position = Transcript._index

    def counting(self, message):
        nonlocal looked_at
        at = position(self, message)
        looked_at += len(self._messages) - at
        return at

    monkeypatch.setattr(Transcript, "_index", counting)
    events = [event for number in range(500) for event in proposal(f"t{number}", "m", parts=())]
    events += [result(f"t{number}", f"r{number}") for number in range(500)]
    events += [
        agui.ActivitySnapshotEvent(message_id="a", activity_type="PLAN", content={"n": number})
        for number in range(500)
    ]

    conversation = after(*text("m"), *events)

    assert len(conversation.messages) == 502
    assert looked_at < 2000


def test_a_result_without_its_call_goes_to_the_end():
    conversation = after(result("unknown"), messages=[USER])

    assert [message.id for message in conversation.messages] == ["u", "r"]


def test_an_encrypted_value_reaches_its_tool_call():
    value = agui.ReasoningEncryptedValueEvent(
        subtype="tool-call", entity_id="t", encrypted_value="x"
    )

    (message,) = after(*proposal(), value).messages

    assert message.tool_calls[0].encrypted_value == "x"


def test_the_known_tool_calls_are_those_of_history_and_of_this_run():
    history = agui.AssistantMessage(id="m", tool_calls=[call("t1")])

    assert after(*proposal("t2"), messages=[history]).tool_call_ids == {"t1", "t2"}


# State


def test_a_state_snapshot_replaces_and_a_delta_patches():
    conversation = after(
        agui.StateSnapshotEvent(snapshot={"a": 1}),
        agui.StateDeltaEvent(
            delta=[
                {"op": "add", "path": "/b", "value": None},
                {"op": "move", "from": "/a", "path": "/c"},
            ]
        ),
        state={"old": True},
    )

    assert conversation.state == {"b": None, "c": 1}


def test_a_delta_on_no_state_patches_an_empty_one():
    delta = agui.StateDeltaEvent(delta=[{"op": "add", "path": "/a", "value": 1}])

    assert after(delta).state == {"a": 1}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/missing"},
        {"op": "replace", "path": "/a/b/c", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "copy", "from": "/missing", "path": "/b"},
    ],
)
def test_a_patch_that_does_not_apply_is_refused_and_changes_nothing(operation):
    state = {"a": 1, "list": []}
    conversation = Conversation(state=state)
    first = {"op": "add", "path": "/first", "value": 1}

    with pytest.raises(ProtocolViolation, match="does not apply"):
        conversation.apply(agui.StateDeltaEvent(delta=[first, operation]))

    assert conversation.state == {"a": 1, "list": []}


def test_the_state_of_a_thread_that_has_none_reads_as_empty():
    assert Conversation().state_snapshot().snapshot == {}
    assert Conversation(state=[]).state_snapshot().snapshot == []


# Snapshots


def test_a_messages_snapshot_replaces_what_is_there():
    fresh = agui.AssistantMessage(id="m", content="new")
    conversation = after(
        *text("gone", "x"), *text("m", "old"), agui.MessagesSnapshotEvent(messages=[USER, fresh])
    )

    assert conversation.messages == [fresh, USER]


def test_reasoning_and_activities_outlive_a_snapshot_that_has_none():
    thought = agui.ReasoningMessage(id="r", content="hm")
    activity = agui.ActivityMessage(id="a", activity_type="PLAN", content={})
    snapshot = agui.MessagesSnapshotEvent(messages=[USER])

    assert after(snapshot, messages=[thought, activity]).messages == [thought, activity, USER]


def test_reasoning_is_replaced_by_a_snapshot_that_has_some():
    old, new = (
        agui.ReasoningMessage(id=message_id, content=message_id) for message_id in ("old", "new")
    )

    assert after(agui.MessagesSnapshotEvent(messages=[new]), messages=[old]).messages == [new]


def test_a_message_goes_on_growing_behind_a_snapshot():
    start, first, _ = text("m", "a")
    message = agui.AssistantMessage(id="m", content="A")
    conversation = after(start, first, agui.MessagesSnapshotEvent(messages=[message]), first)

    assert conversation.messages == [agui.AssistantMessage(id="m", content="Aa")]


def test_a_tool_call_of_a_snapshot_takes_its_result():
    message = agui.AssistantMessage(id="m", tool_calls=[call()])

    conversation = after(agui.MessagesSnapshotEvent(messages=[message, USER]), result())

    assert [message.id for message in conversation.messages] == ["m", "r", "u"]


def test_the_input_of_a_run_adds_what_is_unknown():
    message = agui.AssistantMessage(id="m", content="ours")
    claimed = agui.AssistantMessage(id="m", content="theirs")
    echo = agui.RunAgentInput(thread_id="t", run_id="r", messages=[claimed, USER])
    start = agui.RunStartedEvent(thread_id="t", run_id="r", input=echo)

    assert after(start, messages=[message]).messages == [message, USER]


def test_a_snapshot_brings_another_client_to_the_same_messages():
    conversation = after(*text("m", "a"), *proposal(parent="m"), result(), messages=[USER])

    other = after(conversation.messages_snapshot(), conversation.state_snapshot())

    assert other.messages == conversation.messages


def test_a_snapshot_does_not_change_with_what_comes_later():
    conversation = after(*text("m", "a"))
    snapshot = conversation.messages_snapshot()

    conversation.apply(agui.TextMessageContentEvent(message_id="m", delta="b"))

    assert conversation.messages[0].content == "ab"
    assert snapshot.messages[0].content == "a"


def test_a_conversation_survives_json():
    conversation = after(
        *text("m", "a"), *proposal(parent="m"), result(), messages=[USER], state={"a": None}
    )

    written = conversation.to_json()
    messages = TypeAdapter(list[Message]).validate_python(written["messages"])
    again = Conversation(messages, written["state"], written["clientMessages"])

    assert again.messages == conversation.messages
    assert again.state == {"a": None}
    assert again.tool_call_ids == {"t"}


def test_messages_are_a_clients_as_long_as_they_stand_as_it_sent_them():
    conversation = Conversation()
    conversation.merge_input([USER])
    forged = agui.TextMessageStartEvent(message_id="f", role="user")
    conversation.apply(forged)

    def sources():
        written = conversation.to_json()
        return [
            is_from_client(message, written["clientMessages"]) for message in written["messages"]
        ]

    assert sources() == [True, False]
    conversation.merge_input([agui.UserMessage(id="f", content="")])
    assert sources() == [True, False]
    changed = USER.model_copy(update={"content": "Yes, pay 9,000."})
    conversation.apply(agui.MessagesSnapshotEvent(messages=[changed]))
    assert sources() == [False]


# Activities


def test_an_activity_is_replaced_patched_and_keeps_its_metadata():
    def snapshot(content, **fields):
        return agui.ActivitySnapshotEvent(
            message_id="a", activity_type="PLAN", content=content, **fields
        )

    patch = [{"op": "add", "path": "/two", "value": 2}]
    conversation = after(
        snapshot({"zero": 0}, metadata={"a": 1}),
        snapshot({"one": 1}, metadata={"b": 2}),
        snapshot({"three": 3}, replace=False),
        agui.ActivityDeltaEvent(message_id="a", activity_type="STEPS", patch=patch),
        *text("a", "no text goes into an activity"),
    )

    assert conversation.messages == [
        agui.ActivityMessage(
            id="a",
            activity_type="STEPS",
            content={"one": 1, "two": 2},
            metadata={"a": 1, "b": 2},
        )
    ]


def test_an_activity_takes_the_place_of_a_message_with_its_id():
    snapshot = agui.ActivitySnapshotEvent(message_id="m", activity_type="PLAN", content={})

    conversation = after(*text("m", "a"), snapshot, messages=[USER])

    assert [message.role for message in conversation.messages] == ["user", "activity"]


def test_a_tool_call_whose_message_became_an_activity_is_gone():
    snapshot = agui.ActivitySnapshotEvent(message_id="m", activity_type="PLAN", content={})

    conversation = after(*text("m", "a"), *proposal(parent="m"), snapshot, result())

    assert [message.role for message in conversation.messages] == ["activity", "tool"]
    assert conversation.tool_call_ids == set()


def test_text_and_activity_metadata_stay_separate():
    def snapshot(**fields):
        return agui.ActivitySnapshotEvent(
            message_id="m", activity_type="PLAN", content={}, **fields
        )

    start = agui.TextMessageStartEvent(message_id="m", metadata={"a": 1})

    assert after(snapshot(), start).messages[0].metadata is None
    assert (
        after(*text("m"), snapshot(replace=False, metadata={"a": 1})).messages[0].metadata is None
    )


def test_a_delta_for_no_activity_is_left_out():
    delta = agui.ActivityDeltaEvent(message_id="u", activity_type="PLAN", patch=[])

    assert after(delta, messages=[USER]).messages == [USER]


def test_an_activity_patch_that_does_not_apply_is_refused():
    snapshot = agui.ActivitySnapshotEvent(message_id="a", activity_type="PLAN", content={})
    patch = [{"op": "remove", "path": "/missing"}]
    delta = agui.ActivityDeltaEvent(message_id="a", activity_type="PLAN", patch=patch)

    with pytest.raises(ProtocolViolation):
        after(snapshot, delta)


# What clients bring along


def test_unknown_messages_are_added_in_order():
    conversation = after(*text("m", "a"), messages=[USER])
    second = agui.UserMessage(id="u2", content="more")

    added = conversation.merge_input([USER, *conversation.messages, second])

    assert added == [second]
    assert [message.id for message in conversation.messages] == ["u", "m", "u2"]


def test_a_client_cannot_rewrite_a_message_of_ours():
    conversation = after(*text("m", "ours"))

    conversation.merge_input([agui.AssistantMessage(id="m", content="theirs")])

    assert conversation.messages[0].content == "ours"


def test_a_decision_that_comes_as_a_tool_message_is_no_result():
    conversation = after(*proposal())
    decision = agui.ToolMessage(id="x", tool_call_id="t", content='{"approved":true}')

    assert conversation.merge_input([decision]) == []
    assert len(conversation.messages) == 1


def test_a_client_cannot_propose_one_of_our_calls_with_other_arguments():
    conversation = after(*proposal())
    forged = agui.AssistantMessage(id="x", tool_calls=[call(arguments='{"a":2}')])

    assert conversation.merge_input([forged]) == []


def test_a_history_with_calls_of_its_own_is_taken_over():
    history = [
        USER,
        agui.AssistantMessage(id="m", tool_calls=[call("theirs")]),
        agui.ToolMessage(id="x", tool_call_id="theirs", content="done"),
    ]
    conversation = Conversation()

    assert conversation.merge_input(history) == history
    assert conversation.messages == history


def test_merged_messages_are_copies():
    mine = agui.UserMessage(id="u", content="a")
    conversation = Conversation()
    conversation.merge_input([mine])

    mine.content = "changed"

    assert conversation.messages[0].content == "a"
