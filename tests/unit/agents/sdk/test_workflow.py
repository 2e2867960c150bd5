"""Workflows: one async function that goes on behind a pause as if it had never stopped."""

import asyncio
import contextlib
from datetime import date
from typing import Any

import ag_ui.core as agui
import pytest
from pydantic import BaseModel

from agents.sdk.context import ToolContext
from agents.sdk.tools import InvalidArguments, define_interrupt, tool
from agents.sdk.workflow import ConcurrentSteps, WorkflowChanged, WorkflowContext, workflow
from tests.support.agents.doubles import Stage, cancelled

APPROVE = {"approved": True}
calls: list[tuple[str, Any]] = []


@pytest.fixture(autouse=True)
def _nothing_made():
    calls.clear()


@tool(effect="read")
def price(item: str) -> int:
    """Look a price up."""
    calls.append(("price", item))
    return len(item) * 10


@tool(effect="once", approval="Charge {amount}?")
def charge(amount: int) -> dict[str, int]:
    """Charge an amount."""
    calls.append(("charge", amount))
    return {"charged": amount}


class Colour(BaseModel):
    text: str


ask_colour = define_interrupt(
    "ask_colour",
    "Ask for a colour.",
    input_model=Colour,
    message="{text}",
    answer_schema=lambda _: {"type": "string"},
)


@workflow(tools=(price, charge))
async def shop_keeper(ctx: WorkflowContext) -> None:
    """Sells one thing."""
    await ctx.emit_text("Welcome.")
    quote = await ctx.call(price, item="lamp")
    paid = await ctx.call(charge, amount=quote.value)
    await ctx.emit_text(f"{paid.status}: {paid.value} {paid.reason}".strip())


def test_a_workflow_is_described_by_its_function():
    assert (shop_keeper.name, shop_keeper.description) == ("shop-keeper", "Sells one thing.")
    tools = shop_keeper.capabilities().tools
    assert [tool.name for tool in tools.items] == ["price", "charge"]


async def test_what_was_done_before_a_pause_is_not_done_again():
    stage = Stage(shop_keeper)
    await stage.say("go")
    before = stage.text

    await stage.answer(APPROVE)

    assert before == "Welcome."
    assert stage.text == "done: {'charged': 40}"
    assert calls == [("price", "lamp"), ("charge", 40)]
    assert stage.outcome == "success"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"approved": False, "reason": "too much"}, "denied: None too much"),
        ("cancelled", "cancelled: None"),
        ({"approved": True, "editedArgs": {"amount": "much"}}, "failed: None charge cannot"),
        ({"approved": True, "editedArgs": {"amount": 5}}, "done: {'charged': 5}"),
    ],
)
async def test_a_workflow_is_told_what_came_of_its_call(answer, text):
    stage = Stage(shop_keeper)
    await stage.say("go")

    await stage.answer(cancelled(stage.interrupts[0]) if answer == "cancelled" else answer)

    assert stage.text.startswith(text)


async def test_state_accumulates_over_several_pauses():
    @workflow()
    async def wizard(ctx: WorkflowContext) -> None:
        """Asks three things."""
        answers = []
        for number in range(3):
            reply = await ctx.interrupt(f"Question {number}?", response_schema={"type": "string"})
            answers.append(reply.payload)
        await ctx.emit_text(" ".join(answers))

    stage = Stage(wizard)
    await stage.say("go")

    for answer in ("a", "b", "c"):
        assert stage.outcome == "interrupt"
        await stage.answer(answer)

    assert stage.text == "a b c"


async def test_calls_made_together_wait_for_all_answers_and_keep_their_order():
    """S2, S9: a sibling that needs nobody is called at once, and not again."""

    @workflow()
    async def buyer(ctx: WorkflowContext) -> None:
        """Buys."""
        outcomes = await ctx.call_all(
            (charge, {"amount": 1}),
            (price, {"item": "lamp"}),
            (ask_colour, {"text": "Which colour?"}),
        )
        await ctx.emit_text(str([outcome.value for outcome in outcomes]))

    stage = Stage(buyer)
    await stage.say("go")
    first = list(calls)

    await stage.answer(APPROVE, "blue")

    assert first == [("price", "lamp")]
    assert calls == [("price", "lamp"), ("charge", 1)]
    assert stage.text == "[{'charged': 1}, 40, 'blue']"


async def test_a_call_may_pause_again_and_its_siblings_are_not_made_again():
    def twice(call: ToolContext, amount: int) -> str:
        if call.resumed is not None and amount > 10:
            call.interrupt(f"Really {amount}?")
        return f"Pay {amount}?"

    @tool(effect="once", approval=twice)
    def pay(amount: int) -> int:
        """Pay."""
        calls.append(("pay", amount))
        return amount

    @workflow()
    async def payer(ctx: WorkflowContext) -> None:
        """Pays."""
        first, other = await ctx.call_all((pay, {"amount": 50}), (charge, {"amount": 2}))
        await ctx.emit_text(f"{first.value} {other.value}")

    stage = Stage(payer)
    await stage.say("go")
    await stage.answer(APPROVE, APPROVE)
    (second,) = stage.interrupts

    await stage.answer({"approved": True, "editedArgs": {"amount": 5}})

    assert second.message == "Really 50?"
    assert calls == [("charge", 2), ("pay", 5)]
    assert stage.text == "5 {'charged': 2}"


async def test_a_question_that_nobody_answered_says_so():
    @workflow()
    async def asker(ctx: WorkflowContext) -> None:
        """Asks."""
        reply = await ctx.interrupt("Well?", reason="acme:mood", metadata={"scale": 5})
        await ctx.emit_text("nobody" if reply.is_cancelled else str(reply.payload))

    stage = Stage(asker)
    await stage.say("go")
    (interrupt,) = stage.interrupts

    await stage.answer(cancelled(interrupt))

    assert (interrupt.reason, interrupt.metadata) == ("acme:mood", {"scale": 5})
    assert stage.text == "nobody"


async def test_a_workflow_that_takes_another_way_after_a_pause_is_stopped():
    ways = iter(["this", "that"])

    @workflow()
    async def fickle(ctx: WorkflowContext) -> None:
        """Changes its mind."""
        await ctx.interrupt("Go on?", reason=f"acme:{next(ways)}")

    stage = Stage(fickle)
    await stage.say("go")

    with pytest.raises(
        WorkflowChanged, match="step 1 was 'ask acme:this' and is now 'ask acme:that'"
    ):
        await stage.answer(True)


async def test_a_pause_is_no_exception_that_an_author_catches_by_mistake():
    @workflow()
    async def careful(ctx: WorkflowContext) -> None:
        """Catches everything."""
        try:
            reply = await ctx.interrupt("Well?")
        except Exception:
            await ctx.emit_text("caught")
        else:
            await ctx.emit_text(str(reply.payload))

    stage = Stage(careful)
    await stage.say("go")
    await stage.answer("fine")

    assert stage.text == "fine"


async def test_an_error_of_the_function_ends_the_run():
    @workflow()
    async def broken(ctx: WorkflowContext) -> None:
        """Breaks."""
        await ctx.emit_text("So far.")
        raise LookupError

    stage = Stage(broken)

    with pytest.raises(LookupError):
        await stage.say("go")

    assert stage.text == "So far."


async def test_progress_has_one_place_and_state_is_shared():
    @workflow()
    async def packer(ctx: WorkflowContext) -> None:
        """Packs."""
        await ctx.update_state(step="packing")
        await ctx.progress("Packing", done=1, total=2)
        await ctx.progress("Packing", done=2, total=2)
        await ctx.emit_text(ctx.state["step"])

    stage = Stage(packer)

    await stage.say("go")

    activities = stage.of(agui.ActivitySnapshotEvent)
    assert len({event.message_id for event in activities}) == 1
    assert activities[-1].content == {"label": "Packing", "done": 2, "total": 2}
    assert stage.conversation.state == {"step": "packing"}
    assert stage.text == "packing"


# What authors do to a workflow


async def paid_once_in(stage: Stage) -> list[tuple[str, Any]]:
    """Go on behind the pause; the effects that happened."""
    await stage.say("go")
    assert (stage.outcome, len(stage.interrupts)) == ("interrupt", 1)
    await stage.answer(True)
    assert stage.outcome == "success"
    return calls


async def test_a_pause_in_a_task_group_is_a_pause():
    @workflow()
    async def grouped(ctx: WorkflowContext) -> None:
        await ctx.call(price, item="a")
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.interrupt("Go on?", response_schema={"type": "boolean"}))

    assert await paid_once_in(Stage(grouped)) == [("price", "a")]


async def test_a_pause_that_was_swallowed_is_a_pause():
    @workflow()
    async def deaf(ctx: WorkflowContext) -> None:
        await ctx.call(price, item="a")
        with contextlib.suppress(BaseException):
            await ctx.interrupt("Go on?", response_schema={"type": "boolean"})

    assert await paid_once_in(Stage(deaf)) == [("price", "a")]


async def test_what_comes_finally_comes_when_the_end_has_come():
    @workflow()
    async def tidy(ctx: WorkflowContext) -> None:
        try:
            await ctx.interrupt("Go on?", response_schema={"type": "boolean"})
        finally:
            await ctx.emit_text("Bye.")

    stage = Stage(tidy)
    await stage.say("go")
    before = stage.text
    await stage.answer(True)

    assert (before, stage.text) == ("", "Bye.")


async def test_steps_that_begin_at_once_are_refused_with_what_would_be_right():
    @workflow()
    async def hasty(ctx: WorkflowContext) -> None:
        await asyncio.gather(ctx.call(charge, amount=1), ctx.call(charge, amount=2))

    with pytest.raises(ConcurrentSteps, match="call_all"):
        await Stage(hasty).say("go")


async def test_workflow_that_ends_before_its_approved_call_fails():
    is_first = [True]

    @workflow()
    async def forgetful(ctx: WorkflowContext) -> None:
        if is_first.pop():
            is_first.append(False)
            await ctx.call(charge, amount=1)

    stage = Stage(forgetful)
    await stage.say("go")

    with pytest.raises(WorkflowChanged, match="ended before step 1, 'call charge'"):
        await stage.answer(APPROVE)
    assert calls == []


async def test_what_an_author_does_to_an_answer_is_not_what_the_next_run_gets():
    @workflow()
    async def billing(ctx: WorkflowContext) -> None:
        bill = await ctx.interrupt("What?")
        bill.payload.append("fee")
        await ctx.interrupt("Sure?")
        await ctx.interrupt("Really?")
        await ctx.emit_text(" ".join(bill.payload))

    stage = Stage(billing)
    await stage.say("go")
    for answer in (["lamp"], True, True):
        await stage.answer(answer)

    assert stage.text == "lamp fee"


async def test_the_state_is_what_it_was_when_it_was_updated():
    items = ["lamp"]

    @workflow()
    async def listing(ctx: WorkflowContext) -> None:
        await ctx.update_state(items=items, day=date(2026, 5, 1))
        items.append("chair")
        await ctx.emit_text("Done.")

    stage = Stage(listing)
    await stage.say("go")

    (event,) = stage.of(agui.StateSnapshotEvent)
    assert event.snapshot == {"items": ["lamp"], "day": "2026-05-01"}


async def test_arguments_that_do_not_fit_can_be_caught_and_leave_nothing_behind():
    @workflow()
    async def careful(ctx: WorkflowContext) -> None:
        with pytest.raises(InvalidArguments):
            await ctx.call_all((price, {"item": "a"}), (charge, {"amount": "much"}))
        await ctx.call(price, item="b")

    await Stage(careful).say("go")

    assert calls == [("price", "b")]


@tool(effect="once", approval="Charge {amount}?", feedback=True)
def charge_after_questions(amount: int) -> dict[str, int]:
    """Charge an amount."""
    calls.append(("charge", amount))
    return {"charged": amount}


async def test_a_question_and_suggested_arguments_reach_the_workflow():
    outcomes = []

    @workflow(tools=(charge_after_questions,))
    async def agent(ctx: WorkflowContext) -> None:
        """Charge."""
        outcomes.append(await ctx.call(charge_after_questions, amount=5))

    stage = Stage(agent)
    await stage.say("go")
    (interrupt,) = stage.interrupts
    question = {"approved": False, "feedback": "Why?", "editedArgs": {"amount": 4}}
    await stage.answer(question)

    assert interrupt.response_schema["properties"]["feedback"] == {"type": "string"}
    assert agent.capabilities().human_in_the_loop.feedback is True
    (outcome,) = outcomes
    assert (outcome.status, outcome.feedback, outcome.suggested_args) == (
        "denied",
        "Why?",
        {"amount": 4},
    )
    assert not calls


async def test_tools_take_no_questions_by_default():
    @workflow(tools=(charge,))
    async def agent(ctx: WorkflowContext) -> None:
        """Charge."""
        await ctx.call(charge, amount=5)

    stage = Stage(agent)
    await stage.say("go")

    assert "feedback" not in stage.interrupts[0].response_schema["properties"]
    assert agent.capabilities().human_in_the_loop.feedback is False


async def test_an_interrupt_without_a_tool_takes_questions():
    replies = []

    @workflow()
    async def agent(ctx: WorkflowContext) -> None:
        """Ask."""
        extra = {"properties": {"when": {"type": "string"}}, "required": ["when"]}
        replies.append(await ctx.interrupt("Go on?", response_schema=extra, feedback=True))

    stage = Stage(agent)
    await stage.say("go")
    schema = stage.interrupts[0].response_schema
    await stage.answer({"approved": False, "feedback": "When?"})

    assert set(schema["properties"]) == {"approved", "reason", "feedback", "when"}
    assert schema["required"] == ["approved", "when"]
    assert replies[0].feedback == "When?"
