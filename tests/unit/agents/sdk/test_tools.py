"""What an author may say about a tool, and what it then does."""

import asyncio
import json
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from agents.port import Effect
from agents.sdk.context import ToolContext, ToolError
from agents.sdk.scripted import ScriptedAgent
from agents.sdk.tools import tool
from tests.support.agents.doubles import Stage, cancelled, fixed_clock

APPROVE = {"approved": True}


def put_on_stage(*calls):
    """A script that proposes these calls in one step."""

    async def step(context):
        yield context.text_message("Let me see.")
        for proposed, args in calls:
            yield context.propose(proposed, args)

    return Stage(
        ScriptedAgent(
            name="tester",
            description="Tests.",
            tools=tuple(tool for tool, _ in calls),
            choose=lambda _run_input: "script",
            steps=lambda _script: (step,),
            clock=fixed_clock(),
        )
    )


async def test_a_plain_function_is_a_tool():
    @tool(effect="read")
    def add(first: int, other: int = 2) -> int:
        """Add two numbers."""
        return first + other

    stage = put_on_stage((add, {"first": 40}))

    await stage.say("go")

    assert add.effect is Effect.READ
    assert stage.results == [42]


# Approvals


@pytest.mark.parametrize(
    ("approval", "amount", "message"),
    [
        (False, 900, None),
        (True, 1, "Call pay?"),
        ("Pay {amount}?", 1, "Pay 1?"),
        (lambda amount: amount > 100, 100, None),
        (lambda amount: amount > 100, 101, "Call pay?"),
        (lambda amount: f"Really {amount}?" if amount > 100 else None, 101, "Really 101?"),
        ({"properties": {"amount": {"exclusiveMinimum": 100}}}, 100, None),
        ({"properties": {"amount": {"exclusiveMinimum": 100}}}, 101, "Call pay?"),
    ],
)
async def test_a_person_is_asked_when_the_author_says_so(approval, amount, message):
    @tool(effect="idempotent", approval=approval)
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    stage = put_on_stage((pay, {"amount": amount}))

    await stage.say("go")
    messages = [interrupt.message for interrupt in stage.interrupts]
    if message:
        await stage.answer(APPROVE)

    assert messages == ([message] if message else [])
    assert stage.results == [f"paid {amount}"]


@pytest.fixture
def send():
    """Make a tool with defaults and this approval."""

    def make(approval):
        @tool(effect="idempotent", approval=approval)
        def send(amount: int = 500, to: str = "the bank") -> int:
            """Send."""
            return amount

        return send

    return make


@pytest.mark.parametrize("args", [{}, {"amount": "500"}, {"amount": 500}])
async def test_a_schema_sees_the_arguments_as_the_function_will_get_them(send, args):
    """Neither what is left out nor what is put in quotes is exempt from the approval."""
    large = {"required": ["amount"], "properties": {"amount": {"type": "integer", "minimum": 100}}}
    stage = put_on_stage((send(large), args))

    await stage.say("go")

    assert [interrupt.message for interrupt in stage.interrupts] == ["Call send?"]
    assert stage.results == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "500 to the bank?"),
        ({"amount": "7"}, "7 to the bank?"),
        ({"amount": 7, "to": "ann"}, "7 to ann?"),
    ],
)
async def test_a_text_is_filled_with_the_defaults_too(send, args, message):
    stage = put_on_stage((send("{amount:d} to {to}?"), args))

    await stage.say("go")

    assert [interrupt.message for interrupt in stage.interrupts] == [message]


async def test_what_an_agent_wrote_is_no_template():
    @tool(effect="read", approval=lambda text: f"Say {text}?")
    def say(text: str) -> str:
        """Say."""
        return text

    stage = put_on_stage((say, {"text": "{secret} {0} {text.__class__}"}))

    await stage.say("go")

    assert stage.interrupts[0].message == "Say {secret} {0} {text.__class__}?"


async def test_an_approval_is_not_asked_for_again_for_what_the_reviewer_wrote():
    @tool(effect="idempotent", approval=lambda amount: amount > 100)
    def pay(amount: int) -> int:
        """Pay."""
        return amount

    stage = put_on_stage((pay, {"amount": 500}))
    await stage.say("go")

    await stage.answer({"approved": True, "editedArgs": {"amount": 400}})

    assert stage.results == [400]


# Pausing


def asking(effect: str = "idempotent") -> Any:
    @tool(effect=effect)
    def book(call: ToolContext, city: str) -> dict[str, Any]:
        """Book a room."""
        if call.resumed is None:
            call.interrupt(
                f"Which hotel in {city}?",
                response_schema={"type": "string", "enum": ["Ritz", "Astoria"]},
                expires_in=timedelta(minutes=5),
                metadata={"city": city},
            )
        return {"hotel": call.resumed, "city": city}

    return book


async def test_a_tool_asks_for_what_it_needs_and_starts_again_with_the_answer():
    """S1, S3, S5, S6."""
    stage = put_on_stage((asking(), {"city": "Riga"}))
    await stage.say("go")
    (interrupt,) = stage.interrupts

    await stage.answer("Astoria")

    assert (interrupt.reason, interrupt.message) == ("input_required", "Which hotel in Riga?")
    assert interrupt.response_schema["enum"] == ["Ritz", "Astoria"]
    assert interrupt.expires_at == "2026-11-20T12:05:00.000Z"
    assert interrupt.metadata == {"city": "Riga"}
    assert stage.results == [{"hotel": "Astoria", "city": "Riga"}]


async def test_an_answer_that_does_not_fit_restarts_nothing():
    stage = put_on_stage((asking(), {"city": "Riga"}))
    await stage.say("go")

    with pytest.raises(ValueError, match="does not fit"):
        await stage.answer("Hilton")


async def test_a_question_that_was_called_off_is_the_result():
    stage = put_on_stage((asking(), {"city": "Riga"}))
    await stage.say("go")

    await stage.answer(cancelled(stage.interrupts[0]))

    assert stage.results == [{"ok": False, "cancelled": True}]


@pytest.mark.parametrize("answer", [None, False, 0, "", [], {}, True])
async def test_custom_reason_without_a_schema_resumes_with_the_answer(answer):
    """S6: a null is an answer, too."""

    @tool(effect="read")
    def look(call: ToolContext) -> Any:
        """Look."""
        if not call.is_resumed:
            call.interrupt("Held", reason="acme:policy_hold")
        return {"answer": call.resumed}

    stage = put_on_stage((look, {}))
    await stage.say("go")
    (interrupt,) = stage.interrupts

    await stage.answer(answer)

    assert (interrupt.reason, interrupt.response_schema) == ("acme:policy_hold", None)
    assert [json.dumps(result) for result in stage.results] == [json.dumps({"answer": answer})]


async def test_a_tool_sees_what_the_reviewer_replaced():
    """S6."""

    @tool(effect="idempotent", approval=True)
    def send(call: ToolContext, to: str) -> Any:
        """Send."""
        return [to, call.original_input]

    stage = put_on_stage((send, {"to": "a"}), (send, {"to": "b"}))
    await stage.say("go")

    await stage.answer({"approved": True, "editedArgs": {"to": "z"}}, APPROVE)

    assert stage.results == [["z", {"to": "a"}], ["b", None]]


# Results


class Receipt(BaseModel):
    number: int
    on: date


@dataclass
class Money:
    amount: Decimal
    currency: str = "EUR"


@pytest.mark.parametrize(
    ("returned", "result"),
    [
        (Receipt(number=1, on=date(2026, 11, 20)), {"number": 1, "on": "2026-11-20"}),
        (Money(Decimal("1.10")), {"amount": "1.10", "currency": "EUR"}),
        (None, None),
        (0, 0),
        (False, False),
        ("", ""),
    ],
)
async def test_a_result_may_be_anything_that_has_json(returned, result):
    """S10: presence decides, not truth."""

    @tool(effect="read")
    def look() -> Any:
        """Look."""
        return returned

    stage = put_on_stage((look, {}))

    await stage.say("go")

    assert stage.results == [result]


async def test_a_result_is_held_to_its_annotation():
    @tool(effect="read")
    def count() -> int:
        """Count."""
        return "many"  # type: ignore[return-value]

    stage = put_on_stage((count, {}))

    await stage.say("go")

    assert stage.results == [{"ok": False, "error": "InvalidOutput"}]


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
@pytest.mark.parametrize(
    ("text", "result"),
    [("no such account", "no such account"), ("", "ToolError"), ("\ud800\0", "\\ud800\\u0000")],
)
async def test_a_function_that_did_nothing_says_why(effect, text, result):
    tries = []

    @tool(effect=effect, retries=0 if effect == "once" else 2)
    def pay() -> str:
        """Pay."""
        tries.append(1)
        raise ToolError(text)

    stage = put_on_stage((pay, {}))

    await stage.say("go")

    assert stage.results == [{"ok": False, "error": result}]
    assert tries == [1]


async def test_a_result_that_is_too_large_says_so():
    @tool(effect="once", max_output_characters=100)
    def look() -> str:
        """Look."""
        return "x" * 200

    stage = put_on_stage((look, {}))

    await stage.say("go")

    assert stage.results == [{"ok": False, "error": "OutputTooLarge", "characters": 202}]


# Failures


async def test_a_call_that_takes_too_long_fails():
    @tool(effect="read", timeout=timedelta(milliseconds=10))
    async def wait() -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    stage = put_on_stage((wait, {}))

    await stage.say("go")

    assert stage.results == [{"ok": False, "error": "TimeoutError"}]


@pytest.mark.parametrize("effect", ["read", "idempotent"])
async def test_failed_idempotent_call_is_retried_with_the_same_key(effect):
    keys = []

    @tool(effect=effect, retries=2)
    def flaky(call: ToolContext) -> str:
        """Fail twice."""
        keys.append(call.idempotency_key)
        if len(keys) < 3:
            raise ConnectionError
        return "done"

    stage = put_on_stage((flaky, {}))

    await stage.say("go")

    assert stage.results == ["done"]
    assert keys == ["key-run1-t1"] * 3


async def test_an_author_may_want_the_run_to_end_with_the_error():
    @tool(effect="read", on_error="fail")
    def look() -> None:
        """Fail."""
        raise LookupError

    stage = put_on_stage((look, {}))

    with pytest.raises(LookupError):
        await stage.say("go")
