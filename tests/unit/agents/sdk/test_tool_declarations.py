"""What a function may look like to be a tool, and what is refused before an agent runs."""

import asyncio
import sys
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from agents.sdk.context import ToolContext
from agents.sdk.llm import LlmAgent
from agents.sdk.models import ScriptedModel
from agents.sdk.schemas import approval_schema
from agents.sdk.tools import InvalidArguments, define_interrupt, tool
from agents.sdk.workflow import WorkflowContext, workflow
from inbox.rules.schema.schemas import check_schema
from tests.support.agents.doubles import Stage


class Guest(BaseModel):
    name: str
    nights: int = 1


class Room(Enum):
    SINGLE = "single"
    DOUBLE = "double"


def called_with(called: Any, **args: Any) -> Stage:
    """A workflow that makes this call and tells what came of it."""

    @workflow()
    async def caller(ctx: WorkflowContext) -> None:
        outcome = await ctx.call(called, **args)
        await ctx.emit_text(f"{outcome.status}: {outcome.value} {outcome.reason}".strip())

    return Stage(caller)


# Arguments


@pytest.mark.parametrize("amount", [0, -5, 101, "nan", "inf", "-Infinity"])
def test_arguments_are_held_to_the_bounds_of_their_annotation(amount):
    @tool(effect="once")
    def pay(amount: Annotated[float, Field(gt=0, le=100, description="in EUR")]) -> None:
        """Pay an amount."""

    with pytest.raises(InvalidArguments, match="amount"):
        pay.check_arguments({"amount": amount})

    schema = approval_schema(pay)["properties"]["editedArgs"]["properties"]["amount"]
    assert (schema["exclusiveMinimum"], schema["description"]) == (0, "in EUR")


def test_what_is_no_number_is_no_amount_below_a_threshold():
    @tool(effect="once", approval=lambda amount: amount > 100)
    def pay(amount: float) -> None:
        """Pay an amount."""

    with pytest.raises(InvalidArguments, match="finite"):
        pay.check_arguments({"amount": "NaN"})


async def test_an_author_passes_what_the_hints_say():
    @tool(effect="read")
    def book(guest: Guest, day: date, price: Decimal, room: Room) -> str:
        """Book a room."""
        return f"{guest.name} {day:%d.%m.} {price} {room.name}"

    stage = called_with(
        book, guest=Guest(name="Kim"), day=date(2026, 5, 1), price=Decimal("9.90"), room=Room.DOUBLE
    )
    await stage.say("go")

    assert stage.text == "done: Kim 01.05. 9.90 DOUBLE"


async def test_an_argument_may_be_named_like_anything_of_the_sdk():
    @tool(effect="read", approval=True)
    def look(tool: str, lifetime: str, copy: bool, schema: str, model_extra: int = 3) -> str:
        """Look something up."""
        return f"{tool} {lifetime} {copy} {schema} {model_extra}"

    stage = called_with(look, tool="axe", lifetime="long", copy=True, schema="x")
    await stage.say("go")
    await stage.answer({"approved": True})

    assert stage.text == "done: axe long True x 3"


def test_nobody_passes_the_call_itself():
    @tool(effect="read")
    def look(call: ToolContext, **more: str) -> None:
        """Look something up."""

    with pytest.raises(InvalidArguments, match="call"):
        look.check_arguments({"call": "forged"})


async def test_a_reviewer_is_offered_models_and_enums_as_well():
    @tool(effect="once", approval="Book for {guest[name]}: {room}?")
    def book(guest: Guest, room: Room) -> str:
        """Book a room."""
        return f"{guest.name} {guest.nights} {room.name}"

    stage = called_with(book, guest={"name": "Kim"}, room="single")
    await stage.say("go")
    (interrupt,) = stage.interrupts
    payload = {
        "approved": True,
        "editedArgs": {"guest": {"name": "Kim", "nights": 2}, "room": "double"},
    }

    check_schema(interrupt.response_schema)
    assert interrupt.message == "Book for Kim: single?"
    assert Draft202012Validator(interrupt.response_schema).is_valid(payload)
    payload["editedArgs"]["room"] = "suite"
    assert not Draft202012Validator(interrupt.response_schema).is_valid(payload)


async def test_a_text_says_true_where_the_function_gets_true():
    @tool(effect="read", approval="Urgent: {urgent}, {amount} EUR?")
    def look(urgent: bool, amount: float) -> None:
        """Look something up."""

    stage = called_with(look, urgent=1, amount=5)
    await stage.say("go")

    assert stage.interrupts[0].message == "Urgent: True, 5 EUR?"


# Refused at once


def positional(name: str, /) -> None:
    """Take a name."""


def several(*names: str) -> None:
    """Take names."""


def hidden(_name: str) -> None:
    """Take a name."""


def optional_call(call: ToolContext | None = None) -> None:
    """Take the call, perhaps."""


def yielding():
    """Yield."""
    yield 1


async def yielding_later():
    """Yield."""
    yield 1


def callback(then: asyncio.Future) -> None:  # type: ignore[type-arg]
    """Take what has no JSON."""


@pytest.mark.parametrize(
    "function",
    [positional, several, hidden, optional_call, yielding, yielding_later, callback],
    ids=lambda function: function.__name__,
)
def test_a_function_that_cannot_be_a_tool_is_refused_where_it_is_written(function):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        tool(effect="read")(function)


async def decide_later(amount: float) -> bool:
    return True


@pytest.mark.parametrize(
    ("approval", "error", "match"),
    [
        ("Pay {amont}", ValueError, "'amont'; use one of: amount"),
        ("Pay {}", ValueError, "''"),
        ("Pay {0}", ValueError, "'0'"),
        ({"properties": 5}, ValueError, "5 is not of type"),
        (decide_later, TypeError, "cannot be async"),
        (lambda: True, TypeError, "called with amount"),
        (lambda amount, account: True, TypeError, "account"),
    ],
)
def test_approval_that_can_never_apply_is_refused_at_declaration(approval, error, match):
    def pay(amount: float) -> None:
        """Pay."""

    with pytest.raises(error, match=match):
        tool(effect="once", approval=approval)(pay)


def test_what_is_called_once_has_no_retries():
    with pytest.raises(ValueError, match="cannot have retries"):
        tool(effect="once", retries=1)(decide_later)


def test_a_workflow_is_an_async_function():
    with pytest.raises(TypeError, match="async"):
        workflow()(positional)


def named_pay(diary: list[str], text: str) -> Any:
    @tool(effect="once", approval=True)
    def pay() -> None:
        """Pay."""
        diary.append(text)

    return pay


async def test_an_approval_never_calls_another_tool_of_the_same_name():
    diary: list[str] = []
    first, other = named_pay(diary, "one"), named_pay(diary, "other")

    @workflow()
    async def both(ctx: WorkflowContext) -> None:
        await ctx.call_all((first, {}), (other, {}))

    with pytest.raises(ValueError, match="Two tools are named pay"):
        await Stage(both).say("go")
    with pytest.raises(ValueError, match="Two tools are named pay"):
        workflow(tools=[first, other])(both.function)
    with pytest.raises(ValueError, match="Two tools are named pay"):
        LlmAgent("a", "A.", ScriptedModel([]), tools=[first, other])


# Questions


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (bool, {"type": "boolean"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    ],
)
async def test_an_answer_may_be_of_any_type(kind, schema):
    ask = define_interrupt(
        "ask", "Ask.", input_model=Guest, message="For {name}?", answer_schema=kind
    )
    stage = called_with(ask, name="Kim")

    await stage.say("go")

    assert stage.interrupts[0].response_schema == schema


def test_a_question_whose_text_has_a_place_for_nothing_is_refused():
    with pytest.raises(ValueError, match="'nam'; use one of: name, nights"):
        define_interrupt("ask", "Ask.", input_model=Guest, message="{nam}?", answer_schema=bool)


# What functions raise


@pytest.mark.parametrize(
    "raised",
    [StopIteration, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError],
    ids=lambda function: function.__name__,
)
async def test_a_blocking_function_ends_nothing_but_its_call(raised):
    @tool(effect="read")
    def quit_now() -> None:
        """Raise what is meant for others."""
        raise raised

    stage = called_with(quit_now)
    async with asyncio.timeout(5):
        await stage.say("go")

    assert stage.text == "failed: None ToolExited"


async def exit_process() -> None:
    """Leave."""
    sys.exit(2)


async def cancel_itself() -> None:
    """Stop."""
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "function", [exit_process, cancel_itself], ids=lambda function: function.__name__
)
async def test_a_coroutine_ends_nothing_but_its_call(function):
    stage = called_with(tool(effect="read")(function))

    await stage.say("go")

    assert stage.text == "failed: None ToolExited"


@pytest.mark.parametrize("result", [2**60, list(range(10_001)), "a\0b", 0, False, "", None])
async def test_a_workflow_gets_what_its_tool_returned(result):
    seen = []

    @tool(effect="read")
    def look() -> Any:
        """Look something up."""
        return result

    @workflow()
    async def caller(ctx: WorkflowContext) -> None:
        seen.append(await ctx.call(look))

    await Stage(caller).say("go")

    assert [(outcome.status, outcome.value) for outcome in seen] == [("done", result)]
