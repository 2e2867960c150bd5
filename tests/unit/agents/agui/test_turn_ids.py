"""Ids of calls: names inside one turn for an agent, unique on the thread for everybody else."""

import json

import ag_ui.core as agui
import pytest

from agents.agui.conversation import Conversation
from agents.agui.errors import ProtocolViolation
from agents.agui.turn_ids import EarlierCalls, TurnIds


class Run:
    """One run of a thread: what the agent sends, and what the thread gets of it."""

    def __init__(self, earlier=None, conversation=None):
        self.conversation = conversation or Conversation()
        self.ids = TurnIds(earlier or EarlierCalls(), self.conversation)
        self.events = []

    def send(self, *events):
        new = [part for event in events for part in self.ids.translate(event)]
        return self._take(new)

    def finish(self, *names):
        interrupts = [
            agui.Interrupt(id=f"int-{name}", reason="tool_call", tool_call_id=name)
            for name in names
        ]
        outcome = (
            agui.RunFinishedInterruptOutcome(interrupts=interrupts)
            if interrupts
            else agui.RunFinishedSuccessOutcome()
        )
        finished = agui.RunFinishedEvent(thread_id="t", run_id="r", outcome=outcome)
        before, last = self.ids.finish(finished)
        self._take(before)
        return [item.tool_call_id for item in getattr(last.outcome, "interrupts", ())]

    def calls(self):
        """The arguments of the calls that began in this run, by our ids."""
        starts = [e for e in self.events if isinstance(e, agui.ToolCallStartEvent)]
        return {
            start.tool_call_id: json.loads(
                "".join(
                    event.delta
                    for event in self.events
                    if isinstance(event, agui.ToolCallArgsEvent)
                    and event.tool_call_id == start.tool_call_id
                )
            )
            for start in starts
        }

    def resumed(self, *, finished=(), approved=()):
        """Return the run that resumes this one."""
        ids = {call["id"] for call in self.ids.to_json().values()} | set(self.all_ids)
        earlier = EarlierCalls(
            ids=ids, resumed=self.ids.to_json(), finished=set(finished), approved=set(approved)
        )
        return Run(earlier, self.conversation)

    def next_turn(self):
        """Return a run that resumes nothing, on the same thread."""
        return Run(EarlierCalls(ids=set(self.all_ids)), self.conversation)

    @property
    def all_ids(self):
        return self.conversation.tool_call_ids

    def _take(self, events):
        for event in events:
            self.conversation.apply(event)
        self.events += events
        return events


def call(name, **args):
    return [
        agui.ToolCallStartEvent(tool_call_id=name, tool_call_name="post"),
        agui.ToolCallArgsEvent(tool_call_id=name, delta=json.dumps(args)),
        agui.ToolCallEndEvent(tool_call_id=name),
    ]


def result(name, message_id="m"):
    return agui.ToolCallResultEvent(message_id=message_id, tool_call_id=name, content="done")


def snapshot(*messages):
    return agui.MessagesSnapshotEvent(messages=list(messages))


def says(message_id, name, **args):
    function = agui.FunctionCall(name="post", arguments=json.dumps(args))
    return agui.AssistantMessage(
        id=message_id, tool_calls=[agui.ToolCall(id=name, function=function)]
    )


def answers(message_id, name):
    return agui.ToolMessage(id=message_id, tool_call_id=name, content="done")


@pytest.fixture
def turn():
    """A turn in which call_0 was made and has its result."""
    run = Run()
    run.send(*call("call_0", to="Ida"), result("call_0"))
    run.finish()
    return run


def test_a_new_id_stays_as_the_agent_gave_it():
    run = Run()
    run.send(*call("call_0", to="Ida"))

    assert run.finish("call_0") == ["call_0"]
    assert run.calls() == {"call_0": {"to": "Ida"}}


def test_an_id_of_an_earlier_turn_is_a_new_call_with_its_own_arguments(turn):
    run = turn.next_turn()
    run.send(*call("call_0", to="Per"))

    (call_id,) = run.finish("call_0")

    assert call_id != "call_0"
    assert run.calls() == {call_id: {"to": "Per"}}


def test_a_new_call_with_the_arguments_of_an_earlier_one_is_another(turn):
    run = turn.next_turn()
    run.send(*call("call_0", to="Ida"))

    assert run.finish("call_0") == ["call_0~2"]


def test_a_third_turn_has_a_third_id(turn):
    second = turn.next_turn()
    second.send(*call("call_0", to="Per"), result("call_0", "m2"))
    third = second.next_turn()
    third.send(*call("call_0", to="Eva"))

    assert third.finish("call_0") == ["call_0~3"]


def test_an_id_that_looks_like_one_of_ours_gets_its_own(turn):
    second = turn.next_turn()
    second.send(*call("call_0", to="Per"), *call("call_0~2", to="Eva"))

    assert second.finish("call_0", "call_0~2") == ["call_0~2", "call_0~2~2"]


def test_a_resume_keeps_the_ids_of_the_run_that_it_resumes(turn):
    second = turn.next_turn()
    second.send(*call("call_0", to="Per"))
    (call_id,) = second.finish("call_0")
    resumed = second.resumed(approved=[call_id])

    (sent,) = resumed.send(result("call_0", "m2"))

    assert sent.tool_call_id == call_id
    assert resumed.ids.id_for("call_0") == call_id
    assert resumed.ids.names()(call_id) == "call_0"


def test_an_agent_reads_its_own_name_and_no_other_call_under_it(turn):
    second = turn.next_turn()
    second.send(*call("call_0", to="Per"))
    second.finish("call_0")
    resumed = second.resumed()

    messages = resumed.ids.names().in_messages(resumed.conversation.messages)

    ids = [call.id for message in messages for call in getattr(message, "tool_calls", None) or ()]
    assert ids == ["call_0~1", "call_0"]
    assert [m.tool_call_id for m in messages if m.role == "tool"] == ["call_0~1"]


def test_a_call_that_is_sent_again_with_the_resume_stays_one_call():
    run = Run()
    run.send(*call("call_0", to="Ida"))
    run.finish("call_0")
    resumed = run.resumed(approved=["call_0"])

    resumed.send(*call("call_0", to="Ida"), result("call_0"))

    assert {event.tool_call_id for event in resumed.events} == {"call_0"}


def test_a_name_that_has_its_result_is_a_new_call_in_the_same_run():
    run = Run()
    run.send(*call("call_0", to="Ida"), result("call_0"), *call("call_0", to="Ida"))

    assert run.finish("call_0") == ["call_0~2"]


def test_a_name_that_was_denied_is_a_new_call_with_other_arguments():
    run = Run()
    run.send(*call("call_0", to="Ida"))
    run.finish("call_0")
    resumed = run.resumed(finished=["call_0"])

    resumed.send(result("call_0"), *call("call_0", to="Per"))

    assert resumed.finish("call_0") == ["call_0~2"]
    assert resumed.calls() == {"call_0~2": {"to": "Per"}}


def test_a_denied_call_that_is_asked_about_again_is_a_new_one():
    run = Run()
    run.send(*call("call_0", to="Ida"))
    run.finish("call_0")
    resumed = run.resumed(finished=["call_0"])

    resumed.send(*call("call_0", to="Ida"))

    assert resumed.finish("call_0") == ["call_0~2"]
    assert resumed.calls() == {"call_0~2": {"to": "Ida"}}


def test_a_denied_call_that_is_only_repeated_is_no_new_one():
    run = Run()
    run.send(*call("call_0", to="Ida"))
    run.finish("call_0")
    resumed = run.resumed(finished=["call_0"])

    resumed.send(*call("call_0", to="Ida"), result("call_0"))
    resumed.finish()

    assert resumed.calls() == {}
    assert [event.tool_call_id for event in resumed.events] == ["call_0"]


def test_a_result_that_is_repeated_with_its_call_is_dropped(turn):
    resumed = turn.resumed()

    assert resumed.send(*call("call_0", to="Ida"), result("call_0")) == []


def test_two_open_calls_with_one_name_are_refused():
    run = Run()

    with pytest.raises(ProtocolViolation, match="Two tool calls have the id 'call_0'"):
        run.send(*call("call_0", to="Ida"), *call("call_0", to="Per"))


def test_other_arguments_for_an_open_call_are_refused():
    run = Run()
    run.send(*call("call_0", to="Ida"), *call("call_1", to="Per"))
    run.finish("call_0")
    resumed = run.resumed(approved=["call_0"])

    with pytest.raises(ProtocolViolation, match="other arguments for tool call 'call_1'"):
        resumed.send(*call("call_1", to="Eve"))


def test_a_question_about_a_call_of_an_earlier_turn_is_refused(turn):
    run = turn.next_turn()

    with pytest.raises(ProtocolViolation, match="of an earlier turn"):
        run.finish("call_0")


def test_arguments_that_a_snapshot_changes_are_refused():
    run = Run()
    run.send(*call("call_0", to="Ida"), snapshot(says("a", "call_0", to="Eve")))

    with pytest.raises(ProtocolViolation, match="other arguments"):
        run.finish("call_0")


def test_a_snapshot_with_the_members_in_another_order_is_fine():
    run = Run()
    run.send(*call("call_0", to="Ida", by="post"))
    run.send(snapshot(says("a", "call_0", by="post", to="Ida")))

    assert run.finish("call_0") == ["call_0"]


def test_a_call_that_only_a_snapshot_has_is_no_call_of_an_earlier_turn(turn):
    run = turn.next_turn()
    stored = run.conversation.messages[0].id
    run.send(
        snapshot(
            says(stored, "call_0", to="Ida"), answers("r", "call_0"), says("b", "call_0", to="Per")
        )
    )

    with pytest.raises(ProtocolViolation, match="of an earlier turn"):
        run.finish("call_0")


def test_a_snapshot_gives_each_turn_its_own_id(turn):
    second = turn.next_turn()
    stored = turn.conversation.messages[0].id
    second.send(*call("call_0", to="Per"))
    second.send(
        snapshot(
            says(stored, "call_0", to="Ida"), answers("m", "call_0"), says("b", "call_0", to="Per")
        )
    )

    messages = second.conversation.messages
    assert [
        (m.tool_calls[0].id, json.loads(m.tool_calls[0].function.arguments)["to"])
        for m in messages
        if m.role == "assistant"
    ] == [("call_0", "Ida"), ("call_0~2", "Per")]
    assert [m.tool_call_id for m in messages if m.role == "tool"] == ["call_0"]


def test_a_snapshot_with_new_message_ids_is_read_by_arguments(turn):
    second = turn.next_turn()
    second.send(*call("call_0", to="Per"))
    second.send(snapshot(says("x", "call_0", to="Ida"), says("y", "call_0", to="Per")))

    ids = [m.tool_calls[0].id for m in second.conversation.messages if m.role == "assistant"]
    assert ids == ["call_0", "call_0~2"]


def test_a_new_call_is_not_put_into_a_message_of_an_earlier_turn():
    first = Run()
    first.send(
        agui.ToolCallStartEvent(
            tool_call_id="call_0", tool_call_name="post", parent_message_id="m0"
        ),
        agui.ToolCallEndEvent(tool_call_id="call_0"),
        result("call_0"),
    )
    earlier = EarlierCalls(ids={"call_0"}, messages={"m0"})
    second = Run(earlier, first.conversation)

    (start,) = second.send(
        agui.ToolCallStartEvent(
            tool_call_id="call_0", tool_call_name="post", parent_message_id="m0"
        )
    )

    assert start.parent_message_id is None


def test_a_long_id_stays_within_the_limit():
    name = "c" * 200
    first = Run()
    first.send(*call(name, to="Ida"), result(name))
    second = first.next_turn()
    second.send(*call(name, to="Per"))

    (call_id,) = second.finish(name)

    assert call_id != name
    assert len(call_id) <= 200


def test_what_was_committed_is_given_to_the_agent_under_its_names(turn):
    second, again = turn.next_turn(), turn.next_turn()
    second.send(*call("call_0", to="Per"))

    events = again.ids.names().in_events(second.events)

    assert {event.tool_call_id for event in events} == {"call_0"}
