"""Runs that lose their worker at any moment: the second attempt goes on where it died."""

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.chunks import coalesce
from agents.agui.conversation import Conversation
from agents.agui.replay import ReplayCursor, ReplayDiverged
from agents.agui.sequence import Sequence
from agents.demo_agent import execution_counter
from tests.support.agents.doubles import WorkerLost

APPROVE = {"approved": True}

SCENARIOS = {
    "echo": [],
    "error": [],
    "tool_call": [APPROVE],
    "parallel3": [APPROVE] * 3,
    "input_required": [{"quarter": "Q1", "year": 2026, "revenue": 1}],
    "confirmation": [True],
    "custom_reason": [None],
    "subagent": [True],
    "stream:30": [],
    "sleep:3": [],
    "effect:k": [APPROVE],
    "ask": [{"answer": "red"}],
    "restart": [APPROVE],
}


def committed_forms(events):
    """The log that a prefix may have left behind: as it was yielded, or coalesced."""
    stored = [wire.decode(wire.encode(event)) for event in events]
    return [stored, list(coalesce(stored))]


def go_on(committed, again):
    """Feed a second attempt behind what is committed, as the engine does; return the whole run."""
    sequence = Sequence()
    sequence.check(wire.run_started("thread", "run"))
    for event in committed:
        sequence.check(event)
    cursor = ReplayCursor(committed)
    all_events = list(committed)
    for event in again:
        fresh = cursor.feed(event)
        if fresh is not None:
            sequence.check(fresh)
            all_events.append(fresh)
    assert cursor.exhausted
    return all_events


def meaning(events):
    conversation = Conversation()
    for event in events:
        conversation.apply(event)
    return conversation.to_json()


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_first_run_goes_on_wherever_it_was_cut(stage, scenario):
    events = list(await stage.say(f"rehearse:{scenario}"))

    for cut in range(len(events)):
        for committed in committed_forms(events[:cut]):
            all_events = go_on(committed, events)

            assert meaning(all_events) == meaning(events)
            assert all_events[-1] == events[-1]


@pytest.mark.parametrize("scenario", [name for name, answers in SCENARIOS.items() if answers])
async def test_a_resumed_run_that_is_driven_again_yields_the_same_events(stage, scenario):
    await stage.say(f"rehearse:{scenario}")
    first = list(await stage.answer(*SCENARIOS[scenario]))

    second = list(await stage.drive())

    assert second == first


@pytest.mark.parametrize("scenario", [name for name, answers in SCENARIOS.items() if answers])
async def test_a_resumed_run_never_proposes_its_calls_again(stage, scenario):
    await stage.say(f"rehearse:{scenario}")

    await stage.answer(*SCENARIOS[scenario])

    assert stage.of(agui.ToolCallStartEvent) == []
    assert stage.of(agui.ToolCallArgsEvent) == []


@pytest.mark.parametrize("scenario", ["tool_call", "parallel3", "effect:k", "restart"])
async def test_approved_calls_execute_once_over_many_attempts(stage, scenario):
    await stage.say(f"rehearse:{scenario}")
    calls = [interrupt.tool_call_id for interrupt in stage.interrupts]
    await stage.answer(*SCENARIOS[scenario])

    for _ in range(3):
        await stage.drive()

    assert [execution_counter.count("thread", call) for call in calls] == [1] * len(calls)
    assert [result["executionCount"] for result in stage.results] == [1] * len(calls)


async def test_calls_settled_before_the_worker_died_are_not_repeated(stage):
    await stage.say("rehearse:parallel3")
    calls = [interrupt.tool_call_id for interrupt in stage.interrupts]
    settle = stage.journal.settle
    settled = []

    async def settle_two(tool_call_id, *, result):
        if len(settled) == 2:
            raise WorkerLost
        settled.append(tool_call_id)
        await settle(tool_call_id, result=result)

    stage.journal.settle = settle_two
    with pytest.raises(WorkerLost):
        await stage.answer(APPROVE, APPROVE, APPROVE)
    stage.journal.settle = settle

    await stage.drive()

    assert len(settled) == 2
    assert {call: execution_counter.count("thread", call) for call in calls} == {
        call: 1 if call in settled else 2 for call in calls
    }
    assert [result["ok"] for result in stage.results] == [True, True, True]


async def test_a_worker_that_dies_before_the_call_leaves_nothing_executed(stage):
    await stage.say("rehearse:effect:k")
    (interrupt,) = stage.interrupts
    begin = stage.journal.begin

    async def die(*_args, **_kwargs):
        raise WorkerLost

    stage.journal.begin = die
    with pytest.raises(WorkerLost):
        await stage.answer(APPROVE)
    before = execution_counter.count("thread", interrupt.tool_call_id)
    stage.journal.begin = begin
    await stage.drive()

    assert before == 0
    assert stage.results[0]["executionCount"] == 1


async def test_another_thread_with_the_same_call_id_counts_for_itself(stage):
    execution_counter.record("elsewhere", "run1-t1", "k")
    await stage.say("rehearse:tool_call")

    await stage.answer(APPROVE)

    assert stage.interrupts == []
    assert stage.results[0]["executionCount"] == 1


async def test_runs_of_one_thread_never_share_an_id(stage):
    seen = []
    for scenario in ("parallel3", "ask", "subagent", "confirmation"):
        await stage.say(f"rehearse:{scenario}")
        seen += [event.message_id for event in stage.of(agui.TextMessageStartEvent)]
        seen += [event.tool_call_id for event in stage.of(agui.ToolCallStartEvent)]
        seen += [interrupt.id for interrupt in stage.interrupts]
        seen += [event.subagent_run_id for event in stage.of(agui.SubagentStartedEvent)]
        await stage.answer(*SCENARIOS[scenario])
        seen += [event.message_id for event in stage.of(agui.TextMessageStartEvent)]
        seen += [event.message_id for event in stage.of(agui.ToolCallResultEvent)]

    assert len(seen) == len(set(seen))


async def test_another_script_at_the_second_attempt_is_noticed(stage):
    events = list(await stage.say("rehearse:tool_call"))
    other = list(await stage.say("rehearse:parallel3"))

    with pytest.raises(ReplayDiverged):
        go_on(events[:5], other)
