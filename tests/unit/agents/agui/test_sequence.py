"""The order of events, rule by rule: what the official client refuses, and what only we do."""

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.errors import ProtocolViolation
from agents.agui.sequence import Sequence

START = wire.run_started("thread", "run")
FINISH = agui.RunFinishedEvent(thread_id="thread", run_id="run")
ERROR = agui.RunErrorEvent(message="no")
TEXT = agui.TextMessageStartEvent(message_id="m")
TEXT_MORE = agui.TextMessageContentEvent(message_id="m", delta="a")
TEXT_END = agui.TextMessageEndEvent(message_id="m")
CALL = agui.ToolCallStartEvent(tool_call_id="t", tool_call_name="n")
CALL_ARGS = agui.ToolCallArgsEvent(tool_call_id="t", delta="{}")
CALL_END = agui.ToolCallEndEvent(tool_call_id="t")
STEP = agui.StepStartedEvent(step_name="s")
STEP_END = agui.StepFinishedEvent(step_name="s")
SPAN = agui.ReasoningStartEvent(message_id="r")
SPAN_END = agui.ReasoningEndEvent(message_id="r")
THOUGHT = agui.ReasoningMessageStartEvent(message_id="r")
THOUGHT_MORE = agui.ReasoningMessageContentEvent(message_id="r", delta="a")
THOUGHT_END = agui.ReasoningMessageEndEvent(message_id="r")
SUBAGENT = agui.SubagentStartedEvent(subagent_run_id="a", name="researcher")
SUBAGENT_END = agui.SubagentFinishedEvent(subagent_run_id="a")
SUBAGENT_ERROR = agui.SubagentErrorEvent(subagent_run_id="a", message="no")
STATE = agui.StateSnapshotEvent(snapshot={})

PAIRS = [
    (TEXT, TEXT_END),
    (CALL, CALL_END),
    (STEP, STEP_END),
    (SPAN, SPAN_END),
    (THOUGHT, THOUGHT_END),
    (SUBAGENT, SUBAGENT_END),
    (SUBAGENT, SUBAGENT_ERROR),
]


def check(*events, known_ids=()):
    sequence = Sequence(known_ids)
    for event in events:
        sequence.check(event)
    return sequence


def tagged(event, subagent):
    return event.model_copy(update={"subagent_run_id": subagent})


def refused(*events, match, known_ids=()):
    """All events but the last are fine, and the last one is not."""
    sequence = check(*events[:-1], known_ids=known_ids)
    with pytest.raises(ProtocolViolation, match=match):
        sequence.check(events[-1])


# The run


def test_a_whole_run_is_accepted():
    check(
        *(START, STATE, STEP, SUBAGENT, SPAN, THOUGHT, THOUGHT_MORE, THOUGHT_END, SPAN_END),
        *(TEXT, TEXT_MORE, TEXT_END, CALL, CALL_ARGS, CALL_END),
        agui.ToolCallResultEvent(message_id="x", tool_call_id="t", content="{}"),
        agui.StateDeltaEvent(delta=[]),
        agui.CustomEvent(name="n", value=1),
        agui.RawEvent(event={}),
        agui.MessagesSnapshotEvent(messages=[]),
        *(SUBAGENT_END, STEP_END, FINISH),
    )


@pytest.mark.parametrize("event", [TEXT, FINISH, STATE, STEP])
def test_a_run_begins_with_run_started(event):
    refused(event, match="begins with RUN_STARTED")


def test_a_run_may_begin_with_an_error():
    check(ERROR)


@pytest.mark.parametrize("event", [TEXT, STATE, FINISH])
def test_after_run_finished_nothing_of_the_run_may_come(event):
    refused(START, FINISH, event, match="after RUN_FINISHED only")


@pytest.mark.parametrize("event", [TEXT, STATE, FINISH, ERROR])
def test_after_run_error_nothing_of_the_run_may_come(event):
    refused(START, ERROR, event, match="after RUN_ERROR only")


def test_an_error_may_correct_a_finished_run():
    refused(START, FINISH, ERROR, FINISH, match="after RUN_ERROR only")


@pytest.mark.parametrize("end", [FINISH, ERROR])
def test_a_new_run_may_follow_an_ended_one_and_opens_everything_anew(end):
    check(START, TEXT, TEXT_END, SUBAGENT, SUBAGENT_END, end, START, TEXT, TEXT_END, SUBAGENT)


def test_a_run_that_errors_may_leave_things_open():
    check(START, TEXT, STEP, ERROR, START, TEXT)


def test_a_second_run_started_while_a_run_is_active_is_refused():
    refused(START, START, match="while a run is active")


# Opening, continuing and closing


@pytest.mark.parametrize(("opener", "_end"), PAIRS)
def test_what_is_open_cannot_be_opened_again(opener, _end):
    refused(START, opener, opener, match="twice|while it is open")


@pytest.mark.parametrize(("_opener", "end"), PAIRS)
def test_what_is_not_open_cannot_be_closed(_opener, end):
    refused(START, end, match="not open|no open")


@pytest.mark.parametrize(("opener", "end"), PAIRS)
def test_what_is_closed_cannot_be_closed_again(opener, end):
    refused(START, opener, end, end, match="not open|no open")


@pytest.mark.parametrize(("opener", "_end"), PAIRS)
def test_a_run_cannot_finish_while_something_is_open(opener, _end):
    refused(START, opener, FINISH, match="RUN_FINISHED came while a .* is open")


@pytest.mark.parametrize(("opener", "end"), PAIRS[:5])
def test_what_is_closed_may_be_opened_again(opener, end):
    check(START, opener, end, opener, end, FINISH)


def test_a_subagent_run_has_one_start_only():
    refused(START, SUBAGENT, SUBAGENT_END, SUBAGENT, match="its own subagentRunId")


@pytest.mark.parametrize("event", [TEXT_MORE, CALL_ARGS, THOUGHT_MORE])
def test_content_needs_something_open(event):
    refused(START, event, match="which is not open")


@pytest.mark.parametrize(
    ("opener", "end", "content"),
    [
        (TEXT, TEXT_END, TEXT_MORE),
        (CALL, CALL_END, CALL_ARGS),
        (THOUGHT, THOUGHT_END, THOUGHT_MORE),
    ],
)
def test_content_after_the_end_is_refused(opener, end, content):
    refused(START, opener, content, end, content, match="which is not open")


def test_a_reasoning_span_and_the_message_in_it_may_share_an_id():
    check(START, SPAN, THOUGHT, THOUGHT_END, SPAN_END, FINISH)


def test_a_message_and_a_tool_call_may_share_an_id():
    call = agui.ToolCallStartEvent(tool_call_id="m", tool_call_name="n")

    check(START, TEXT, call, TEXT_MORE, TEXT_END)


@pytest.mark.parametrize(
    "chunk",
    [
        agui.TextMessageChunkEvent(message_id="m", delta="a"),
        agui.ToolCallChunkEvent(tool_call_id="t", tool_call_name="n"),
        agui.ReasoningMessageChunkEvent(message_id="m"),
    ],
)
def test_chunks_have_to_be_expanded_first(chunk):
    refused(START, chunk, match="expand it")


def test_a_subclass_of_an_event_counts_as_that_event():
    class Fancy(agui.TextMessageContentEvent):
        pass

    check(START, TEXT, Fancy(message_id="m", delta="a"))
    refused(START, Fancy(message_id="m", delta="a"), match="not open")


def test_an_event_of_no_known_type_is_refused():
    refused(START, agui.BaseEvent(type="CUSTOM"), match="not an AG-UI 1.0 event")


# Subagents and owners


@pytest.mark.parametrize(
    ("opener", "continuation"),
    [
        (TEXT, TEXT_MORE),
        (TEXT, TEXT_END),
        (CALL, CALL_ARGS),
        (CALL, CALL_END),
        (SPAN, SPAN_END),
        (THOUGHT, THOUGHT_MORE),
        (THOUGHT, THOUGHT_END),
    ],
)
@pytest.mark.parametrize("owner", [None, "a"])
def test_a_continuation_may_not_name_another_owner(opener, continuation, owner):
    check(START, tagged(opener, owner), continuation)
    refused(START, tagged(opener, owner), tagged(continuation, "b"), match="belongs to")


@pytest.mark.parametrize(("opener", "end"), [PAIRS[0], PAIRS[1], PAIRS[3], PAIRS[4]])
def test_an_id_cannot_be_opened_again_by_another_owner(opener, end):
    check(START, tagged(opener, "a"), end, opener, end)
    refused(START, tagged(opener, "a"), end, tagged(opener, "b"), match="belongs to")


def test_steps_of_the_same_name_are_one_per_owner():
    check(START, STEP, tagged(STEP, "a"), tagged(STEP_END, "a"), STEP_END, FINISH)
    refused(START, STEP, tagged(STEP_END, "a"), match="the owner of a step")


def test_a_tool_call_belongs_to_the_owner_of_its_message():
    inside = CALL.model_copy(update={"parent_message_id": "m"})

    check(START, tagged(TEXT, "a"), TEXT_END, inside, tagged(CALL_END, "a"))
    refused(START, tagged(TEXT, "a"), tagged(inside, "b"), match="its parent message")
    refused(START, TEXT, tagged(inside, "b"), match="its parent message")


def test_a_tool_call_cannot_move_to_a_message_of_another_owner():
    inside = CALL.model_copy(update={"parent_message_id": "m"})

    refused(START, tagged(TEXT, "a"), CALL, CALL_END, inside, match="but its parent message")


def test_a_result_message_belongs_to_who_made_it():
    result = agui.ToolCallResultEvent(message_id="m", tool_call_id="t", content="")

    refused(START, tagged(result, "a"), tagged(TEXT, "b"), match="belongs to")


@pytest.mark.parametrize(
    ("opener", "end", "subtype", "entity"),
    [
        (CALL, CALL_END, "tool-call", "t"),
        (TEXT, TEXT_END, "message", "m"),
        (THOUGHT, THOUGHT_END, "message", "r"),
    ],
)
def test_an_encrypted_value_may_follow_the_end_but_not_change_the_owner(
    opener, end, subtype, entity
):
    value = agui.ReasoningEncryptedValueEvent(
        subtype=subtype, entity_id=entity, encrypted_value="x"
    )

    check(START, tagged(opener, "a"), end, tagged(value, "a"))
    refused(START, tagged(opener, "a"), end, tagged(value, "b"), match="belongs to")


def test_an_activity_changes_its_owner_only_when_it_is_replaced():
    snapshot = agui.ActivitySnapshotEvent(message_id="x", activity_type="PLAN", content={})
    unreplaced = snapshot.model_copy(update={"replace": False})
    delta = agui.ActivityDeltaEvent(message_id="x", activity_type="PLAN", patch=[])

    check(START, tagged(snapshot, "a"), tagged(snapshot, "b"), tagged(delta, "b"))
    refused(
        *(START, tagged(snapshot, "a"), tagged(unreplaced, "b"), tagged(delta, "b")),
        match="belongs to",
    )


def test_a_subagent_names_a_parent_that_was_started():
    child = agui.SubagentStartedEvent(subagent_run_id="b", name="x", parent_subagent_run_id="a")

    check(START, SUBAGENT, child)
    check(START, SUBAGENT, SUBAGENT_END, child)
    refused(START, child, match="which was not started")


def test_owners_are_learnt_from_a_messages_snapshot():
    owned = agui.AssistantMessage(id="m", content="", subagent_run_id="a")
    snapshot = agui.MessagesSnapshotEvent(messages=[owned])

    refused(START, snapshot, tagged(TEXT, "b"), match="belongs to subagent 'a'")


def test_owners_are_learnt_from_the_input_of_run_started():
    owned = agui.ReasoningMessage(id="r", content="", subagent_run_id="a")
    echo = agui.RunAgentInput(thread_id="t", run_id="r", messages=[owned])
    start = START.model_copy(update={"input": echo})

    refused(start, tagged(THOUGHT, "b"), match="belongs to subagent 'a'")


# Closing what is open


def test_closing_events_make_a_run_finishable():
    child = agui.SubagentStartedEvent(subagent_run_id="b", name="x", parent_subagent_run_id="a")
    sequence = check(
        *(START, STEP, SUBAGENT, child, tagged(STEP, "a"), SPAN, THOUGHT, tagged(TEXT, "a"), CALL)
    )

    events = sequence.closing_events()

    for event in [*events, FINISH]:
        sequence.check(wire.decode(wire.encode(event)))
    assert len(events) == 8


def test_nothing_is_closed_when_nothing_is_open():
    assert check(START, TEXT, TEXT_END).closing_events() == []


def test_what_a_snapshot_gave_to_another_owner_is_closed_for_that_one():
    owned = agui.AssistantMessage(id="m", content="", subagent_run_id="b")
    sequence = check(START, tagged(TEXT, "a"), agui.MessagesSnapshotEvent(messages=[owned]))

    (event,) = sequence.closing_events()

    sequence.check(event)
    assert event.subagent_run_id == "b"


def test_nothing_is_closed_behind_the_end_of_a_run():
    assert check(START, TEXT, ERROR).closing_events() == []


def test_building_the_closing_events_does_not_close_anything():
    sequence = check(START, TEXT)

    assert sequence.closing_events() == sequence.closing_events() == [TEXT_END]


@pytest.mark.parametrize(("suspended", "kind"), [(False, "ERROR"), (True, "FINISHED")])
def test_an_open_subagent_ends_in_an_error_unless_the_run_is_suspended(suspended, kind):
    (event,) = check(START, SUBAGENT).closing_events(suspended=suspended)

    assert event.type.value == f"SUBAGENT_{kind}"


# Known tool calls


@pytest.mark.parametrize("event", [CALL, CALL_ARGS, CALL_END])
def test_a_tool_call_of_the_thread_that_comes_again_is_reported(event):
    assert check(START, known_ids={"t"}).is_known_tool_call(event)


@pytest.mark.parametrize("event", [CALL, CALL_ARGS, CALL_END])
def test_a_tool_call_that_is_open_is_not_reported(event):
    assert not check(START, CALL).is_known_tool_call(event)


@pytest.mark.parametrize("event", [CALL_ARGS, CALL_END])
def test_a_run_that_is_driven_again_goes_on_with_a_call_that_it_has_open(event):
    assert not check(START, CALL, known_ids={"t"}).is_known_tool_call(event)


@pytest.mark.parametrize("event", [CALL, CALL_ARGS, CALL_END])
def test_a_call_that_this_run_closed_is_known_like_any_other(event):
    assert check(START, CALL, CALL_END).is_known_tool_call(event)


def test_other_events_are_no_known_tool_calls():
    result = agui.ToolCallResultEvent(message_id="x", tool_call_id="t", content="")

    assert not check(START, known_ids={"t", "m"}).is_known_tool_call(result)
    assert not check(START, known_ids={"t", "m"}).is_known_tool_call(TEXT)


def test_tool_calls_become_known_by_proposals_and_snapshots():
    call = agui.ToolCall(id="t2", function=agui.FunctionCall(name="n", arguments="{}"))
    snapshot = agui.MessagesSnapshotEvent(
        messages=[agui.AssistantMessage(id="a", tool_calls=[call])]
    )

    assert check(START, CALL, CALL_END, snapshot, known_ids={"t1"}).known_tool_calls == {
        "t",
        "t1",
        "t2",
    }


# Outcomes


def interrupted(*interrupts, **extra):
    outcome = agui.RunFinishedInterruptOutcome.model_construct(
        type="interrupt", interrupts=list(interrupts)
    )
    return FINISH.model_copy(update={"outcome": outcome, **extra})


def question(**fields):
    return agui.Interrupt(**{"id": "i", "reason": "confirmation", **fields})


@pytest.mark.parametrize(
    "interrupt",
    [
        question(),
        question(reason="langgraph:human"),
        question(reason="whatever"),
        question(reason="input_required", tool_call_id="unknown"),
        question(expires_at="2026-11-20T12:00:00Z"),
        question(expires_at="2026-11-20T12:00:00.123456789+05:30"),
        question(response_schema={"type": "boolean"}),
        question(response_schema={}),
    ],
)
def test_an_interrupt_that_can_be_answered_is_accepted(interrupt):
    check(START, interrupted(interrupt))


def test_interrupt_about_a_call_of_the_run_or_thread_is_accepted():
    about = [question(reason="tool_call", tool_call_id="t")]

    check(START, CALL, CALL_ARGS, CALL_END, interrupted(*about))
    check(START, interrupted(*about), known_ids={"t"})


@pytest.mark.parametrize(
    ("interrupts", "reason"),
    [
        ([], "at least one"),
        ([question(), question()], "unique within its run"),
        ([question(reason="tool_call")], "no toolCallId"),
        ([question(reason="tool_call", tool_call_id="t")], "was not proposed"),
        ([question(reason="core:pause")], "reserved"),
    ],
)
def test_an_interrupt_that_nobody_can_answer_is_refused(interrupts, reason):
    refused(START, interrupted(*interrupts), match=reason)


@pytest.mark.parametrize(
    "expires_at",
    [
        "",
        "tomorrow",
        "2026-11-20",
        "2026-11-20T12:00:00",
        "2026-11-20 12:00:00Z",
        "2026-11-20T12:00Z",
        "2026-11-20T12:00:00z",
        "2026-11-20T12:00:00+0100",
        "2026-11-20T12:00:00+24:00",
        "2026-02-30T12:00:00Z",
        "2026-11-20T25:00:00Z",
        "2026-11-20T12:00:60Z",
        "2026-11-20T12:00:00Z\n",
        "٢٠٢٦-11-20T12:00:00Z",
        "1700000000",
    ],
)
def test_a_time_of_expiry_that_could_be_read_in_two_ways_is_refused(expires_at):
    refused(START, interrupted(question(expires_at=expires_at)), match="RFC 3339")


@pytest.mark.parametrize(
    "finish",
    [
        FINISH.model_copy(update={"outcome": agui.RunFinishedSuccessOutcome(interrupts=[{}])}),
        FINISH.model_copy(update={"outcome": agui.RunFinishedCancelledOutcome(interrupts=[])}),
        agui.RunFinishedEvent(thread_id="t", run_id="r", interrupt={"id": "i"}),
        agui.RunFinishedEvent(thread_id="t", run_id="r", interrupts=[{"id": "i"}]),
    ],
)
def test_an_outcome_that_hides_its_interrupts_is_refused(finish):
    refused(START, finish, match="interrupt")


@pytest.mark.parametrize(
    "outcome", [None, agui.RunFinishedSuccessOutcome(), agui.RunFinishedCancelledOutcome()]
)
def test_other_outcomes_and_none_are_accepted(outcome):
    check(START, FINISH.model_copy(update={"outcome": outcome}))


def test_a_refused_outcome_leaves_the_run_active():
    sequence = check(START)
    with pytest.raises(ProtocolViolation):
        sequence.check(interrupted())

    sequence.check(FINISH)
