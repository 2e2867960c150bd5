"""Every scenario of the rehearsal agent, played to its end."""

import json
from datetime import timedelta

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.interrupts import parse_expiry
from agents.demo_agent import execution_counter
from agents.demo_agent.agent import HELP, find_steps
from agents.port import Effect
from tests.support.agents.doubles import (
    NOON,
    WorkerLost,
    cancelled,
    of_type,
)

APPROVE = {"approved": True}


async def test_a_message_without_a_prefix_is_echoed(stage):
    await stage.say("Good morning")

    assert stage.text == "Good morning"
    assert stage.outcome == "success"


async def test_a_message_of_several_parts_counts_with_its_text(stage):
    await stage.say(
        [
            {"type": "text", "text": "rehearse:"},
            {"type": "image", "source": {"type": "url", "value": "https://example.com/a.png"}},
            {"type": "text", "text": "confirmation"},
        ]
    )

    assert [interrupt.reason for interrupt in stage.interrupts] == ["confirmation"]


async def test_an_empty_message_is_answered_too(stage):
    await stage.say("  ")

    assert stage.text == "(nothing)"


async def test_error_says_one_thing_and_then_fails_with_a_code(stage):
    await stage.say("rehearse:error")

    assert len(stage.of(agui.TextMessageStartEvent)) == 1
    assert stage.events[-1].code == "AGENT_ERROR"


async def test_a_thread_is_usable_after_an_error(stage):
    await stage.say("rehearse:error")

    await stage.say("rehearse:echo")

    assert stage.outcome == "success"


@pytest.mark.parametrize("prefix", ["rehearse:", "probe:", "  rehearse: "])
async def test_tool_call_proposes_an_email_and_asks_once(stage, prefix):
    await stage.say(f"{prefix}tool_call")

    (start,) = stage.of(agui.ToolCallStartEvent)
    (args,) = stage.of(agui.ToolCallArgsEvent)
    (interrupt,) = stage.interrupts
    assert start.tool_call_name == "send_email"
    assert json.loads(args.delta) == {"to": "dana@example.com", "subject": "Your invoice"}
    assert start.parent_message_id == stage.of(agui.TextMessageStartEvent)[0].message_id
    assert interrupt.reason == "tool_call"
    assert interrupt.tool_call_id == start.tool_call_id
    assert interrupt.message == "Send an e-mail to dana@example.com: Your invoice"


async def test_approval_schema_names_arguments_and_requires_a_decision(stage):
    await stage.say("rehearse:tool_call")

    assert stage.interrupts[0].response_schema == {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "editedArgs": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "subject": {"type": "string"}},
            },
            "reason": {"type": "string"},
        },
        "required": ["approved"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("scenario", "lifetime"),
    [("tool_call", timedelta(hours=1)), ("expires_soon", timedelta(seconds=1))],
)
async def test_an_approval_expires_when_the_scenario_says(stage, scenario, lifetime):
    await stage.say(f"rehearse:{scenario}")

    expires_at = stage.interrupts[0].expires_at
    assert parse_expiry(expires_at) == NOON + lifetime
    assert expires_at.endswith(".000Z")


async def test_an_approved_call_is_executed_and_answers_the_original_call(stage):
    await stage.say("rehearse:tool_call")
    call_id = stage.interrupts[0].tool_call_id

    await stage.answer(APPROVE)

    (result,) = stage.of(agui.ToolCallResultEvent)
    assert result.tool_call_id == call_id
    assert stage.results == [
        {
            "ok": True,
            "args": {"to": "dana@example.com", "subject": "Your invoice"},
            "executionCount": 1,
        }
    ]
    assert not stage.of(agui.ToolCallStartEvent)
    assert stage.outcome == "success"


async def test_edited_arguments_replace_the_proposed_ones(stage):
    await stage.say("rehearse:tool_call")

    await stage.answer({"approved": True, "editedArgs": {"to": "eli@example.com"}})

    assert stage.results[0]["args"] == {"to": "eli@example.com"}


async def test_arguments_nobody_knows_are_passed_on(stage):
    await stage.say("rehearse:tool_call")

    await stage.answer({"approved": True, "editedArgs": {"cc": ["a", "b"]}})

    assert stage.results[0]["args"] == {"cc": ["a", "b"]}


async def test_arguments_of_the_wrong_type_are_not_executed(stage, ledger_file):
    await stage.say("rehearse:tool_call")
    call_id = stage.interrupts[0].tool_call_id

    await stage.answer({"approved": True, "editedArgs": {"to": 7}})

    assert stage.results[0]["ok"] is False
    assert "to:" in stage.results[0]["error"]
    assert execution_counter.count("thread", call_id) == 0


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"approved": False, "reason": "Not today"}, "Not today"),
        ({"approved": False}, None),
        ({"approved": "true"}, None),
        ({"approved": 1}, None),
        ({}, None),
        (None, None),
        (True, None),
        ([{"approved": True}], None),
    ],
)
async def test_whatever_is_not_exactly_an_approval_is_a_denial(stage, payload, reason):
    await stage.say("rehearse:tool_call")
    call_id = stage.interrupts[0].tool_call_id

    await stage.answer(payload)

    assert stage.results == [{"ok": False, "denied": True, "reason": reason}]
    assert execution_counter.count("thread", call_id) == 0


async def test_a_cancelled_call_is_completed_without_being_executed(stage):
    await stage.say("rehearse:tool_call")
    (interrupt,) = stage.interrupts

    await stage.answer(cancelled(interrupt))

    assert stage.results == [{"ok": False, "cancelled": True}]
    assert execution_counter.count("thread", interrupt.tool_call_id) == 0
    assert stage.outcome == "success"


async def test_parallel3_asks_three_times_and_follows_each_answer(stage):
    await stage.say("rehearse:parallel3")
    calls = [interrupt.tool_call_id for interrupt in stage.interrupts]

    await stage.answer(APPROVE, {"approved": False, "reason": "No"}, cancelled(stage.interrupts[2]))

    assert len(set(calls)) == 3
    assert [result.tool_call_id for result in stage.of(agui.ToolCallResultEvent)] == calls
    assert [result["ok"] for result in stage.results] == [True, False, False]


async def test_results_stand_behind_their_calls_in_the_order_asked(stage):
    await stage.say("rehearse:parallel3")

    await stage.answer(APPROVE, APPROVE, APPROVE)

    roles = [message.role for message in stage.conversation.messages]
    assert roles == ["user", "assistant", "tool", "tool", "tool", "assistant"]


@pytest.mark.parametrize("number", [1, 10, 1000])
async def test_parallel_asks_as_often_as_it_is_told(stage, number):
    await stage.say(f"rehearse:parallel:{number}")

    assert len(stage.interrupts) == number
    assert len({interrupt.id for interrupt in stage.interrupts}) == number
    assert len({interrupt.message for interrupt in stage.interrupts}) == number


async def test_multi_step_pauses_a_second_time_for_the_deployment(stage):
    await stage.say("rehearse:multi_step")
    email = stage.interrupts[0]

    await stage.answer(APPROVE)
    deploy = stage.interrupts[0]
    first_results = stage.results
    await stage.answer(APPROVE)

    assert first_results[0]["executionCount"] == 1
    assert deploy.id != email.id
    assert deploy.tool_call_id != email.tool_call_id
    assert stage.results == [
        {"ok": True, "args": {"environment": "production"}, "executionCount": 1}
    ]
    assert stage.outcome == "success"


async def test_input_required_asks_for_the_quarterly_filing(stage):
    await stage.say("rehearse:input_required")

    (interrupt,) = stage.interrupts
    schema = interrupt.response_schema
    assert interrupt.reason == "input_required"
    assert schema["required"] == ["quarter", "year", "revenue"]
    assert schema["properties"]["quarter"]["enum"] == ["Q1", "Q2", "Q3", "Q4"]
    assert schema["properties"]["year"] == {"type": "integer", "minimum": 2000}


@pytest.mark.parametrize(
    ("scenario", "payload", "text"),
    [
        ("input_required", {"quarter": "Q2", "year": 2026, "revenue": 1.5}, '"quarter":"Q2"'),
        ("confirmation", True, "true"),
        ("confirmation", False, "false"),
        ("custom_reason", None, "null"),
        ("custom_reason", {"any": "thing"}, "thing"),
        ("subagent", True, "true"),
    ],
)
async def test_an_answer_without_a_tool_call_is_said_back(stage, scenario, payload, text):
    await stage.say(f"rehearse:{scenario}")

    await stage.answer(payload)

    assert text in stage.text
    assert stage.outcome == "success"


async def test_an_unanswered_question_is_left(stage):
    await stage.say("rehearse:confirmation")

    await stage.answer(cancelled(stage.interrupts[0]))

    assert "Nobody answered" in stage.text


async def test_confirmation_wants_a_bare_boolean(stage):
    await stage.say("rehearse:confirmation")

    assert stage.interrupts[0].response_schema == {"type": "boolean"}


async def test_custom_reason_has_metadata_and_nothing_else(stage):
    await stage.say("rehearse:custom_reason")

    (interrupt,) = stage.interrupts
    assert interrupt.model_fields_set == {"id", "reason", "metadata"}
    assert interrupt.reason == "inbox:policy_hold"


async def test_subagent_is_suspended_with_the_interrupt_it_waits_for(stage):
    await stage.say("rehearse:subagent")

    (interrupt,) = stage.interrupts
    (started,) = stage.of(agui.SubagentStartedEvent)
    (finished,) = stage.of(agui.SubagentFinishedEvent)
    assert started.subagent_run_id == finished.subagent_run_id == interrupt.subagent_run_id
    assert finished.outcome.type == "suspended"
    assert finished.outcome.interrupt_ids == [interrupt.id]


@pytest.mark.parametrize("number", [0, 1, 500])
async def test_stream_sends_as_many_deltas_as_it_is_told(stage, number):
    await stage.say(f"rehearse:stream:{number}")

    assert len(stage.of(agui.TextMessageContentEvent)) == number
    assert stage.outcome == "success"


async def test_stream_can_be_slow(ledger_file):
    naps = []

    async def sleep(seconds):
        naps.append(seconds)

    stage = _stage_with_sleep(sleep)

    await stage.say("rehearse:stream:3:20")

    assert naps == [0.02, 0.02, 0.02]


async def test_sleep_shows_each_second_as_a_step(ledger_file):
    naps = []

    async def sleep(seconds):
        naps.append(seconds)

    stage = _stage_with_sleep(sleep)

    await stage.say("rehearse:sleep:3")

    assert naps == [1, 1, 1]
    assert len(of_type(stage.events, "STEP_STARTED")) == 3
    assert len(of_type(stage.events, "STEP_FINISHED")) == 3


async def test_effect_proposes_a_charge_that_must_happen_once(stage):
    await stage.say("rehearse:effect:order:4711")
    (interrupt,) = stage.interrupts

    await stage.answer(APPROVE)

    assert stage.results[0]["args"] == {"key": "order:4711"}
    assert stage.journal.begun == [(interrupt.tool_call_id, Effect.ONCE)]


async def test_a_run_driven_again_after_the_call_was_settled_does_not_call_again(stage):
    await stage.say("rehearse:effect:k")
    call_id = stage.interrupts[0].tool_call_id
    first = list(await stage.answer(APPROVE))

    await stage.drive()

    assert execution_counter.count("thread", call_id) == 1
    assert stage.events == first


async def test_a_call_whose_worker_died_counts_itself_a_second_time(stage):
    await stage.say("rehearse:tool_call")
    call_id = stage.interrupts[0].tool_call_id
    stage.journal.dies_at_settle = True
    with pytest.raises(WorkerLost):
        await stage.answer(APPROVE)
    stage.journal.dies_at_settle = False

    await stage.drive()

    assert stage.results[0]["executionCount"] == 2
    assert execution_counter.count("thread", call_id) == 2


async def test_ask_takes_the_answer_as_the_result(stage):
    await stage.say("rehearse:ask")
    (interrupt,) = stage.interrupts

    await stage.answer({"answer": "green"})

    assert interrupt.reason == "input_required"
    assert interrupt.tool_call_id
    assert interrupt.message == "Which colour should the button have?"
    assert stage.results == [{"answer": "green"}]
    assert stage.journal.begun == []


async def test_restart_pauses_by_itself_and_runs_when_it_is_restarted(stage):
    await stage.say("rehearse:restart")
    (interrupt,) = stage.interrupts
    begun_before = list(stage.journal.begun)

    await stage.answer(APPROVE)

    assert begun_before == []
    assert interrupt.message == "Transfer 5,000.00 EUR: more than 1,000 needs approval"
    assert stage.results == [{"ok": True, "args": {"amount": 5000}, "executionCount": 1}]


async def test_restart_with_another_amount_transfers_that(stage):
    await stage.say("rehearse:restart")

    await stage.answer({"approved": True, "editedArgs": {"amount": 2000}})

    assert stage.results[0]["args"] == {"amount": 2000}


@pytest.mark.parametrize(
    "message",
    [
        "nonsense",
        "tool_call:3",
        "parallel:0",
        "parallel:1001",
        "parallel:-1",
        "parallel:two",
        "parallel:٣",
        "parallel",
        "stream:100001",
        "stream:5:5:5",
        "stream:1:60001",
        "stream:" + "9" * 5000,
        "sleep:601",
        "sleep:1.5",
        "effect:",
        "effect",
        "",
    ],
)
async def test_a_scenario_out_of_range_lists_the_scenarios(stage, message):
    await stage.say(f"rehearse:{message}")

    assert stage.text == HELP
    assert stage.outcome == "success"


async def test_the_limits_themselves_are_in_range():
    for message in ("parallel:1000", "stream:100000", "stream:1:60000", "sleep:600"):
        assert find_steps(f"rehearse:{message}")[0].func.__name__ != "echo"


@pytest.mark.parametrize("scenario", ["parallel3", "multi_step", "subagent", "ask", "stream:20"])
async def test_a_run_driven_again_says_the_same(stage, scenario):
    first = list(await stage.say(f"rehearse:{scenario}"))
    stage.conversation = type(stage.conversation)(stage.conversation.messages[:1])

    await stage.drive()

    assert [wire.encode(event) for event in stage.events] == [wire.encode(event) for event in first]


def _stage_with_sleep(sleep):
    from agents.demo_agent.agent import build
    from agents.sdk.step import Clock
    from tests.support.agents.doubles import Stage

    return Stage(build(Clock(now=lambda: NOON, sleep=sleep)))
