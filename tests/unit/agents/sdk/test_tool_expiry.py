"""How long people have for an answer, where the author of an agent says so."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel

from agents.agui.interrupts import parse_expiry
from agents.sdk.context import ToolContext
from agents.sdk.expiry import TEAM_DEFAULT, parse_expires_in
from agents.sdk.tools import define_interrupt, tool
from agents.sdk.workflow import WorkflowContext, workflow
from tests.support.agents.doubles import Stage

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@tool(effect="once", approval="Pay {amount}?")
def pay(amount: int) -> int:
    """Pay."""
    return amount


@tool(effect="once", approval="Pay {amount}?", expires_in=timedelta(days=1))
def pay_by_tomorrow(amount: int) -> int:
    """Pay."""
    return amount


@tool(effect="once", approval="Pay {amount}?", expires_in=None)
def pay_any_time(amount: int) -> int:
    """Pay."""
    return amount


def ask_briefly(call: ToolContext) -> None:
    call.interrupt("Pay?", expires_in=timedelta(hours=1))


@tool(effect="once", approval=ask_briefly, expires_in=None)
def pay_soon() -> int:
    """Pay."""
    return 1


@tool(effect="read", approval="Keep?")
def keep(expires_in: int) -> int:
    """Keep something for some days."""
    return expires_in


class Text(BaseModel):
    text: str


ask = define_interrupt(
    "ask", "Ask.", input_model=Text, message="{text}", answer_schema=str, expires_in=None
)

CASES = {
    "nothing said": (lambda ctx: ctx.call(pay, amount=1), TEAM_DEFAULT),
    "tool": (lambda ctx: ctx.call(pay_by_tomorrow, amount=1), DAY),
    "tool without expiry": (lambda ctx: ctx.call(pay_any_time, amount=1), None),
    "call": (lambda ctx: ctx.call(pay, amount=1, expires_in=HOUR), HOUR),
    "call before tool": (lambda ctx: ctx.call(pay_by_tomorrow, amount=1, expires_in=None), None),
    "calls": (lambda ctx: ctx.call_all((pay, {"amount": 1}), expires_in=HOUR), HOUR),
    "approval before tool": (lambda ctx: ctx.call(pay_soon), HOUR),
    "question": (lambda ctx: ctx.call(ask, text="Why?"), None),
    "argument of that name": (lambda ctx: ctx.call(keep, expires_in=3), TEAM_DEFAULT),
    "interrupt": (lambda ctx: ctx.interrupt("Why?"), TEAM_DEFAULT),
    "interrupt in an hour": (lambda ctx: ctx.interrupt("Why?", expires_in=HOUR), HOUR),
    "interrupt without expiry": (lambda ctx: ctx.interrupt("Why?", expires_in=None), None),
}


@pytest.mark.parametrize(("step", "expiry"), CASES.values(), ids=CASES.keys())
async def test_request_expires_when_the_author_says(step, expiry):
    @workflow(tools=(pay, pay_by_tomorrow, pay_any_time, pay_soon, keep, ask))
    async def asks(ctx: WorkflowContext) -> None:
        await step(ctx)

    stage = Stage(asks)
    await stage.say("go")

    (interrupt,) = stage.interrupts
    assert_expires(interrupt, expiry)


def assert_expires(interrupt, expires_in):
    assert ("expires_at" in interrupt.model_fields_set) is (expires_in is not TEAM_DEFAULT)
    if isinstance(expires_in, timedelta):
        left = parse_expiry(interrupt.expires_at) - datetime.now(UTC)
        assert expires_in - timedelta(minutes=1) < left <= expires_in
    else:
        assert interrupt.expires_at is None


@pytest.mark.parametrize(
    ("metadata", "expires_in"),
    [
        (None, TEAM_DEFAULT),
        ({"effect": "once"}, TEAM_DEFAULT),
        ({"expires_in": None}, None),
        ({"expires_in": 3600}, HOUR),
        ({"expires_in": HOUR}, HOUR),
        ({"expires_in": "PT1H"}, HOUR),
    ],
)
def test_frameworks_say_it_in_metadata(metadata, expires_in):
    assert parse_expires_in(metadata) == expires_in


def test_expiry_that_is_none_is_refused():
    with pytest.raises(ValueError, match="duration"):
        parse_expires_in({"expires_in": "soon"})
