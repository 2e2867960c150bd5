"""Mistakes of authors that would do something else in silence are errors that name the cure."""

from datetime import timedelta

import pytest
from pydantic import BaseModel
from signoff_client.requests import read_request

from agents.sdk.context import ToolContext
from agents.sdk.tools import define_interrupt, tool
from agents.sdk.workflow import InterruptReply, ToolOutcome, WorkflowContext, workflow
from tests.support.agents.doubles import Stage


@tool(effect="once", approval="Pay {amount} to {to}?")
def pay(to: str, amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


class Text(BaseModel):
    text: str


ITEM = {"id": "1", "status": "denied"}
REQUEST = read_request({"id": "r", "status": "decided", "items": [ITEM]})


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (ToolOutcome(None, "denied"), "is_done"),
        (ToolOutcome("paid", "done"), "is_done"),
        (InterruptReply({"approved": False}, is_cancelled=False), "payload"),
        (InterruptReply(None, is_cancelled=True), "is_cancelled"),
        (REQUEST, "status"),
        (REQUEST.item, "status"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_outcome_used_as_a_boolean_is_an_error(value, cure):
    with pytest.raises(TypeError, match=cure):
        bool(value)


async def test_nothing_is_said_to_be_done_after_a_denial():
    @workflow(tools=[pay])
    async def forgetful(ctx: WorkflowContext) -> None:
        """Forgets to ask whether it is done."""
        if await ctx.call(pay, to="Kestrel", amount=1):
            await ctx.emit_text("Paid!")

    stage = Stage(forgetful)
    await stage.say("go")

    with pytest.raises(TypeError, match="is_done"):
        await stage.answer({"approved": False})
    assert "Paid!" not in stage.text


@pytest.mark.parametrize("value", [3600, 0, 1.5, "1 h", True])
@pytest.mark.parametrize("setting", ["expires_in", "timeout"])
def test_a_duration_that_is_no_timedelta_is_refused_at_definition(setting, value):
    with pytest.raises(TypeError, match=rf"send: {setting}=.*timedelta\(hours=1\)"):

        @tool(effect="once", approval=True, **{setting: value})
        def send(to: str) -> str:
            """Send."""
            return to


def test_an_expiry_of_a_defined_interrupt_is_a_timedelta():
    with pytest.raises(TypeError, match="ask: expires_in=60 is no timedelta"):
        define_interrupt(
            "ask", "Ask.", input_model=Text, message="{text}", answer_schema=str, expires_in=60
        )


CALLS = {
    "ctx.call": lambda ctx: ctx.call(pay, to="x", amount=1, expires_in=60),
    "ctx.call_all": lambda ctx: ctx.call_all((pay, {"to": "x", "amount": 1}), expires_in=60),
    "ctx.interrupt": lambda ctx: ctx.interrupt("Why?", expires_in=60),
}


@pytest.mark.parametrize("name", CALLS)
async def test_an_expiry_of_a_step_is_a_timedelta(name):
    @workflow(tools=[pay])
    async def hasty(ctx: WorkflowContext) -> None:
        """Gives seconds."""
        await CALLS[name](ctx)

    with pytest.raises(TypeError, match=f"{name}: expires_in=60 is no timedelta"):
        await Stage(hasty).say("go")


async def test_an_expiry_of_a_pause_in_a_tool_is_a_timedelta():
    @tool(effect="idempotent")
    def pause(call: ToolContext) -> str:
        """Pause."""
        call.interrupt("Why?", expires_in=60)

    with pytest.raises(TypeError, match=r"call\.interrupt: expires_in=60 is no timedelta"):
        pause.function(ToolContext.__new__(ToolContext))


def test_a_timedelta_and_none_are_durations():
    @tool(effect="once", approval=True, expires_in=None, timeout=timedelta(seconds=5))
    def send(to: str) -> str:
        """Send."""
        return to

    assert send.timeout == timedelta(seconds=5)


async def lonely() -> None:
    """Takes nothing."""


async def greedy(ctx: WorkflowContext, amount: int) -> None:
    """Takes more than there is."""


@pytest.mark.parametrize("function", [lonely, greedy])
def test_a_workflow_that_takes_more_or_less_than_its_context_is_refused(function):
    with pytest.raises(TypeError, match=rf"async def {function.__name__}\(ctx\)"):
        workflow()(function)


@pytest.mark.parametrize(
    ("step", "cure"),
    [
        (lambda ctx: ctx.call(pay, "Kestrel", 860), r"ctx\.call\(pay, to=\.\.\., amount=\.\.\.\)"),
        (lambda ctx: ctx.call("pay", to="x", amount=1), "the tool itself, not its name 'pay'"),
        (lambda ctx: ctx.call_all(("pay", {})), "the tool itself, not its name 'pay'"),
    ],
    ids=["positional", "name", "name in call_all"],
)
async def test_a_wrong_call_of_a_tool_is_answered_with_its_cure(step, cure):
    @workflow(tools=[pay])
    async def hasty(ctx: WorkflowContext) -> None:
        """Calls in another form."""
        await step(ctx)

    with pytest.raises(TypeError, match=cure):
        await Stage(hasty).say("go")
