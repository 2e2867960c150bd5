"""What no event can make of a thread: a state or messages too large or too deep to be sent."""

import tracemalloc

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.bounds import MAX_CHARACTERS, MAX_DEPTH
from agents.agui.conversation import Conversation
from agents.agui.errors import ProtocolViolation


def nested(depth):
    """Build objects inside each other, as many levels as told."""
    value = 1
    for _ in range(depth):
        value = {"a": value}
    return value


def copies(number):
    """Build a patch that doubles the document as often as told."""
    return [{"op": "copy", "from": "", "path": f"/copy{index}"} for index in range(number)]


def delta(*operations):
    return agui.StateDeltaEvent(delta=list(operations))


def add(path, value):
    return {"op": "add", "path": path, "value": value}


BOMBS = {
    "doubled too often": (copies(18), "copies more than"),
    "copied too often": (
        [{"op": "copy", "from": "/text", "path": f"/{index}"} for index in range(40)],
        "copies more than",
    ),
    "too large": ([add("/more", "x" * MAX_CHARACTERS)], "a thread stores at most 1048576"),
    "too many": ([add(f"/{index}", "x" * 30_000) for index in range(40)], "a thread stores"),
    "too deep": ([add("/deep", nested(MAX_DEPTH))], "nested too deep"),
    "much too deep": ([add("/deep", nested(900))], "A patch does not apply|nested too deep"),
    "moved too deep": (
        [
            add("/one", nested(20)),
            add("/two", nested(20)),
            {"op": "move", "from": "/one", "path": "/two/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/one"},
        ],
        "nested too deep",
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_patch_that_exceeds_the_state_limit_is_refused_unapplied(bomb):
    operations, reason = BOMBS[bomb]
    state = {"text": "x" * 30_000, "list": [1]}
    conversation = Conversation(state=state)

    with pytest.raises(ProtocolViolation, match=reason):
        conversation.apply(delta(*operations))

    assert conversation.state == {"text": "x" * 30_000, "list": [1]}


def test_a_bomb_in_a_patch_is_refused_before_it_goes_off():
    state = {"text": "x" * 100}
    tracemalloc.start()

    with pytest.raises(ProtocolViolation, match="copies more than"):
        Conversation(state=state).apply(delta(*copies(40)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 20 * MAX_CHARACTERS


def test_many_patches_never_make_a_state_that_cannot_be_sent():
    conversation = Conversation(state={})
    path = ""

    for _ in range(MAX_DEPTH - 1):
        path += "/a"
        conversation.apply(delta(add(path, {})))
    with pytest.raises(ProtocolViolation, match="nested too deep"):
        conversation.apply(delta(add(f"{path}/a", {})))

    assert wire.decode(wire.encode(conversation.state_snapshot())).snapshot == conversation.state


def test_many_patches_never_make_a_state_too_large():
    conversation = Conversation(state={"list": []})

    for _ in range(10):
        conversation.apply(delta(add("/list/-", "x" * 100_000)))
    with pytest.raises(ProtocolViolation, match="a thread stores"):
        conversation.apply(delta(add("/list/-", "x" * 100_000)))

    assert len(conversation.state["list"]) == 10


def test_a_state_that_is_large_may_change_and_shrink():
    conversation = Conversation(state={"text": "x" * (MAX_CHARACTERS - 100)})

    conversation.apply(delta(add("/text", "y" * (MAX_CHARACTERS - 100))))
    conversation.apply(delta({"op": "remove", "path": "/text"}, *copies(3)))

    assert list(conversation.state) == ["copy0", "copy1", "copy2"]


@pytest.mark.parametrize("snapshot", [nested(MAX_DEPTH + 1), ["x" * MAX_CHARACTERS], {"a": {1, 2}}])
def test_a_snapshot_of_a_state_that_no_thread_keeps_is_refused(snapshot):
    conversation = Conversation(state={"old": True})

    with pytest.raises(ProtocolViolation, match=r"A thread cannot store|a thread stores"):
        conversation.apply(agui.StateSnapshotEvent(snapshot=snapshot))

    assert conversation.state == {"old": True}


def test_a_state_is_not_the_object_that_an_agent_goes_on_working_with():
    working = {"steps": []}
    conversation = Conversation()
    conversation.apply(agui.StateSnapshotEvent(snapshot=working))

    working["steps"].append(1)

    assert conversation.state == {"steps": []}


DEEPEST = nested(MAX_DEPTH)
DEEPER = nested(MAX_DEPTH + 1)
FLAT = agui.ActivitySnapshotEvent(message_id="a", activity_type="PLAN", content={})


def events_around(value):
    """Each event that can bring any JSON into the messages, with this value in it."""
    part = {"type": "text", "text": "x", "more": value["a"]["a"]}
    patch = [add("/a", value["a"])]
    return {
        "metadata of a text": agui.TextMessageStartEvent(message_id="m", metadata=value),
        "metadata of a call": agui.ToolCallStartEvent(
            tool_call_id="c", tool_call_name="n", metadata=value
        ),
        "result": agui.ToolCallResultEvent(message_id="r", tool_call_id="c", content=[part]),
        "activity": agui.ActivitySnapshotEvent(message_id="b", activity_type="PLAN", content=value),
        "activity patch": agui.ActivityDeltaEvent(
            message_id="a", activity_type="PLAN", patch=patch
        ),
    }


@pytest.mark.parametrize("where", list(events_around(DEEPER)))
def test_nothing_gets_into_the_messages_that_is_too_deep_to_be_sent(where):
    conversation = Conversation()
    conversation.apply(FLAT)
    before = conversation.to_json()

    with pytest.raises(ProtocolViolation, match="nested too deep"):
        conversation.apply(events_around(DEEPER)[where])

    assert conversation.to_json() == before
    conversation.apply(events_around(DEEPEST)[where])
    wire.decode(wire.encode(conversation.messages_snapshot()))


def test_an_activity_is_no_way_around_the_bounds_of_a_patch():
    content = {"text": "x" * 100}
    activity = agui.ActivityMessage(id="a", activity_type="PLAN", content=content)
    bomb = agui.ActivityDeltaEvent(message_id="a", activity_type="PLAN", patch=copies(40))

    with pytest.raises(ProtocolViolation, match="copies more than"):
        Conversation([activity]).apply(bomb)


def test_patches_of_one_run_have_a_budget(monkeypatch):
    monkeypatch.setattr("agents.agui.patches.MAX_PATCHED_CHARACTERS", 1_000)
    conversation = Conversation(state={"text": "x" * 300, "n": 0})

    for number in range(3):
        conversation.apply(delta({"op": "replace", "path": "/n", "value": number}))
    with pytest.raises(ProtocolViolation, match="write more than 1000 characters"):
        conversation.apply(delta({"op": "replace", "path": "/n", "value": 3}))

    assert conversation.state["n"] == 2
