"""The SDK: what tools, questions and scripts promise, quoting Genkit's rules by their numbers."""

import json
import threading
from datetime import timedelta
from typing import Any

import ag_ui.core as agui
import pytest
from pydantic import BaseModel

from agents.port import Effect, ToolRefused
from agents.sdk.context import ToolContext
from agents.sdk.scripted import ScriptedAgent
from agents.sdk.tool_execution import InvalidAnswer
from agents.sdk.tools import InvalidArguments, define_interrupt, tool
from tests.support.agents.doubles import Stage, fixed_clock

APPROVE = {"approved": True}


class Diary:
    """Notes what tools were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any], str]] = []
        self.resumed: list[Any] = []
        self.threads: set[int] = set()

    def note(self, call: ToolContext, name: str) -> dict[str, Any]:
        self.calls.append((name, dict(call.args), call.idempotency_key))
        self.resumed.append(call.resumed)
        self.threads.add(threading.get_ident())
        return {"name": name, "number": len(self.calls)}


class Query(BaseModel):
    text: str


question = define_interrupt(
    "question",
    "Ask something.",
    input_model=Query,
    message="Please answer: {text}",
    answer_schema=lambda args: {"type": "string", "minLength": len(args["text"])},
)


def make_tools(diary):
    @tool(effect=Effect.READ)
    def look_up(call: ToolContext, key: str, deep: bool = False) -> dict[str, Any]:
        """Look something up."""
        return diary.note(call, "look_up")

    @tool(effect=Effect.IDEMPOTENT, approval="Send to {to}")
    async def send(call: ToolContext, to: str) -> dict[str, Any]:
        """Send something."""
        return diary.note(call, "send")

    def check(call: ToolContext, amount: int) -> None:
        if amount > 10 and (call.resumed is None or amount > 100):
            call.interrupt(f"Pay {amount}?")

    @tool(effect=Effect.ONCE, approval=check)
    def pay(call: ToolContext, amount: int) -> dict[str, Any]:
        """Pay something."""
        return diary.note(call, "pay")

    return {tool.name: tool for tool in (look_up, send, pay, question)}


@pytest.fixture
def diary():
    return Diary()


@pytest.fixture
def tools(diary):
    return make_tools(diary)


def perform(tools, *steps):
    """Put a script of these steps on a stage."""
    return Stage(
        ScriptedAgent(
            name="tester",
            description="Tests.",
            tools=tuple(tools.values()),
            choose=lambda _run_input: "script",
            steps=lambda _script: steps,
            clock=fixed_clock(),
        )
    )


def proposing(*calls):
    """Make a step that proposes these calls in one context."""

    async def step(context):
        yield context.text_message("Let me see.")
        for proposed, args in calls:
            yield context.propose(proposed, args)

    return step


async def wave(context):
    yield context.text_message("Bye.")


# Tools


def test_a_tool_is_described_by_its_function(tools):
    look_up = tools["look_up"]

    schema = look_up.input_model.model_json_schema()
    assert (look_up.name, look_up.description) == ("look_up", "Look something up.")
    assert schema["required"] == ["key"]
    assert schema["properties"]["deep"]["type"] == "boolean"


@pytest.mark.parametrize("args", [{}, {"key": 7}, {"key": "a", "more": 1}, {"key": None}])
def test_arguments_that_do_not_fit_are_refused_with_the_name_of_the_field(tools, args):
    with pytest.raises(
        InvalidArguments, match=r"look_up cannot take these arguments: (key|more): "
    ):
        tools["look_up"].check_arguments(args)


async def test_proposing_with_wrong_arguments_fails_before_anything_is_said(tools):
    stage = perform(tools, proposing((tools["send"], {"to": 7})))

    with pytest.raises(InvalidArguments):
        await stage.say("go")

    assert stage.of(agui.ToolCallStartEvent) == []


async def test_a_tool_that_needs_nobody_is_called_at_once(tools, diary):
    stage = perform(tools, proposing((tools["look_up"], {"key": "a"})), wave)

    await stage.say("go")

    assert diary.calls == [("look_up", {"key": "a"}, "key-run1-t1")]
    assert stage.results == [{"name": "look_up", "number": 1}]
    assert stage.outcome == "success"
    assert stage.text.endswith("Bye.")


async def test_blocking_functions_run_in_another_thread(tools, diary):
    stage = perform(tools, proposing((tools["look_up"], {"key": "a"})))

    await stage.say("go")

    assert threading.get_ident() not in diary.threads


async def test_async_functions_run_in_the_agents_own_loop(tools, diary):
    stage = perform(tools, proposing((tools["send"], {"to": "a"})))
    await stage.say("go")

    await stage.answer(APPROVE)

    assert diary.threads == {threading.get_ident()}


async def test_a_call_the_journal_refuses_ends_the_run_unexecuted(tools, diary):
    stage = perform(tools, proposing((tools["send"], {"to": "a"})))
    await stage.say("go")
    stage.journal.proposals.clear()
    stage._decide = lambda interrupt, entry: _answer(interrupt, entry, "send", {"to": "forged"})

    with pytest.raises(ToolRefused):
        await stage.answer(APPROVE)

    assert diary.calls == []


async def test_a_settled_call_is_not_made_again(tools, diary):
    stage = perform(tools, proposing((tools["send"], {"to": "a"})))
    await stage.say("go")
    stage.journal.results[stage.interrupts[0].tool_call_id] = '{"from":"before"}'

    await stage.answer(APPROVE)

    assert diary.calls == []
    assert stage.results == [{"from": "before"}]


# Pausing


async def test_a_tool_without_need_of_a_person_is_done_beside_one_that_waits(tools, diary):
    """S2: what finished beside an interrupted call keeps its output."""
    stage = perform(
        tools, proposing((tools["send"], {"to": "a"}), (tools["look_up"], {"key": "b"})), wave
    )

    await stage.say("go")
    before = [name for name, _, _ in diary.calls]
    await stage.answer(APPROVE)

    assert before == ["look_up"]
    assert [name for name, _, _ in diary.calls] == ["look_up", "send"]
    assert len(stage.results) == 1
    roles = [message.role for message in stage.conversation.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]


async def test_all_calls_of_a_turn_are_asked_about_in_one_interruption(tools):
    stage = perform(tools, proposing((tools["send"], {"to": "a"}), (question, {"text": "Why?"})))

    await stage.say("go")

    assert [interrupt.message for interrupt in stage.interrupts] == [
        "Send to a",
        "Please answer: Why?",
    ]
    assert [interrupt.id for interrupt in stage.interrupts] == ["run1-i1", "run1-i2"]


async def test_the_next_step_waits_for_the_answers(tools):
    stage = perform(tools, proposing((tools["send"], {"to": "a"})), wave)

    await stage.say("go")
    first = stage.text
    await stage.answer(APPROVE)

    assert first == "Let me see."
    assert stage.text == "Bye."
    assert stage.run.saved is None


async def test_a_script_may_pause_as_often_as_it_likes(tools, diary):
    step = proposing((tools["send"], {"to": "a"}))
    stage = perform(tools, step, step, step)

    await stage.say("go")
    for _ in range(3):
        assert stage.outcome == "interrupt"
        await stage.answer(APPROVE)

    assert stage.outcome == "success"
    assert len({key for _, _, key in diary.calls}) == 3


async def test_the_lifetime_of_an_interrupt_can_be_chosen(tools):
    async def step(context):
        yield context.text_message("Quick.")
        yield context.propose(tools["send"], {"to": "a"}, expires_in=timedelta(seconds=90))

    stage = perform(tools, step)
    await stage.say("go")

    assert stage.interrupts[0].expires_at == "2026-11-20T12:01:30.000Z"


# Respond


async def test_respond_makes_the_answer_the_result(tools):
    """S4."""
    stage = perform(tools, proposing((question, {"text": "Why?"})))
    await stage.say("go")

    await stage.answer("Because.")

    assert stage.results == ["Because."]
    assert stage.interrupts == []


async def test_an_answer_that_does_not_fit_the_output_schema_is_refused(tools):
    """It is validated against the output schema, here computed from the input."""
    stage = perform(tools, proposing((question, {"text": "Why not?"})))
    await stage.say("go")

    with pytest.raises(InvalidAnswer, match="does not fit"):
        await stage.answer("Short")


@pytest.mark.parametrize("answer", [0, False, "", None])
async def test_an_answer_that_is_not_true_is_an_answer(answer):
    """S10: presence decides, not truth."""
    anything = define_interrupt(
        "anything", "Ask.", input_model=Query, message="{text}", answer_schema=lambda _: {}
    )
    stage = perform({"anything": anything}, proposing((anything, {"text": "?"})))
    await stage.say("go")

    await stage.answer(answer)

    assert stage.results == [answer]


async def test_nothing_runs_when_one_of_several_answers_does_not_fit(tools, diary):
    """Stricter than Genkit: everything is checked before any tool runs."""
    stage = perform(tools, proposing((tools["send"], {"to": "a"}), (question, {"text": "Why?"})))
    await stage.say("go")

    with pytest.raises(InvalidAnswer):
        await stage.answer(APPROVE, 7)

    assert diary.calls == []


async def test_an_answer_about_an_unknown_tool_is_refused(tools, diary):
    """S13."""
    stage = perform(tools, proposing((tools["send"], {"to": "a"}), (tools["send"], {"to": "b"})))
    await stage.say("go")
    decide = stage._decide
    names = iter(["send", "unheard_of"])
    stage._decide = lambda interrupt, entry: _answer(
        interrupt, entry, next(names), decide(interrupt, entry).proposal.args
    )

    with pytest.raises(
        InvalidAnswer, match="'unheard_of' is unknown; the agent has: look_up, send"
    ):
        await stage.answer(APPROVE, APPROVE)

    assert diary.calls == []


async def test_one_respond_and_one_restart_in_one_turn(tools, diary):
    """S9: each request finds its own answer, in the order of the requests."""
    stage = perform(tools, proposing((question, {"text": "Why?"}), (tools["pay"], {"amount": 50})))
    await stage.say("go")

    await stage.answer("Because.", APPROVE)

    assert stage.results == ["Because.", {"name": "pay", "number": 1}]
    assert diary.calls[0][1] == {"amount": 50}


# Restart


async def test_a_guarded_tool_runs_at_once_when_there_is_no_risk(tools, diary):
    stage = perform(tools, proposing((tools["pay"], {"amount": 10})))

    await stage.say("go")

    assert stage.outcome == "success"
    assert diary.calls[0][1] == {"amount": 10}
    assert diary.resumed == [None]


async def test_a_guard_pauses_before_the_journal_knows_of_the_call(tools, diary):
    """S1."""
    stage = perform(tools, proposing((tools["pay"], {"amount": 50})))

    await stage.say("go")

    assert stage.interrupts[0].message == "Pay 50?"
    assert stage.journal.begun == []
    assert diary.calls == []


async def test_a_restarted_tool_sees_the_answer_that_restarted_it(tools, diary):
    """S5, S6: the same input, and `resumed` is never empty."""
    stage = perform(tools, proposing((tools["pay"], {"amount": 50})))
    await stage.say("go")

    await stage.answer({"approved": True, "reason": "fine"})

    assert diary.calls == [("pay", {"amount": 50}, "key-run1-t1")]
    assert diary.resumed == [{"approved": True, "reason": "fine"}]


async def test_a_restart_with_replaced_input_is_validated(tools, diary):
    """S5."""
    stage = perform(tools, proposing((tools["pay"], {"amount": 50})))
    await stage.say("go")

    await stage.answer({"approved": True, "editedArgs": {"amount": "much"}})

    assert "amount" in stage.results[0]["error"]
    assert diary.calls == []


async def test_a_restarted_tool_may_pause_again_about_the_same_call(tools, diary):
    stage = perform(tools, proposing((tools["pay"], {"amount": 50})), wave)
    await stage.say("go")
    (first,) = stage.interrupts

    await stage.answer({"approved": True, "editedArgs": {"amount": 500}})
    (second,) = stage.interrupts
    text = stage.text
    await stage.answer({"approved": True, "editedArgs": {"amount": 60}})

    assert second.tool_call_id == first.tool_call_id
    assert second.id != first.id
    assert text == ""
    assert diary.calls == [("pay", {"amount": 60}, "key-run1-t1")]
    assert stage.text == "Bye."


async def test_a_denied_restart_does_not_run(tools, diary):
    stage = perform(tools, proposing((tools["pay"], {"amount": 50})))
    await stage.say("go")

    await stage.answer({"approved": False, "reason": "no"})

    assert diary.calls == []
    assert stage.results == [{"ok": False, "denied": True, "reason": "no"}]


# The agent


def test_capabilities_promise_what_people_can_do(tools):
    capabilities = perform(tools).agent.capabilities()

    human = capabilities.human_in_the_loop
    assert (human.supported, human.interrupts, human.approve_with_edits) == (True, True, True)
    assert [tool.name for tool in capabilities.tools.items] == [
        "look_up",
        "send",
        "pay",
        "question",
    ]
    assert json.loads(capabilities.model_dump_json(by_alias=True))["identity"]["name"] == "tester"


async def test_a_step_may_yield_events_of_its_own(tools):
    async def step(context):
        yield agui.StepStartedEvent(step_name="one")
        yield [agui.StepFinishedEvent(step_name="one")]

    stage = perform(tools, step)

    await stage.say("go")

    assert [event.type.value for event in stage.events][:2] == ["STEP_STARTED", "STEP_FINISHED"]


async def test_nothing_follows_an_error(tools):
    async def step(context):
        yield agui.RunErrorEvent(message="no", code="NO")
        yield context.text_message("never said")

    stage = perform(tools, step, wave)

    await stage.say("go")

    assert [event.type.value for event in stage.events] == ["RUN_ERROR"]


async def test_a_question_that_is_about_no_tool_call_is_for_the_script(tools):
    async def ask(context):
        yield context.text_message("Hm.")
        context.add_interrupt("tester:mood", metadata={"scale": 5})

    async def read(context):
        yield context.text_message(f"{context.answers[0].resume_entry.payload}")

    stage = perform(tools, ask, read)
    await stage.say("go")

    await stage.answer(4)

    assert stage.text == "4"
    assert stage.results == []


def _answer(interrupt, entry, name, args):
    from agents.port import InterruptAnswer, Proposal

    proposal = Proposal(interrupt.tool_call_id, name, args, is_approved=True)
    return InterruptAnswer(interrupt, entry, proposal)
