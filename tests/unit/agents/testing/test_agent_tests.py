"""The kit with which authors test agents, and its guide."""

import re
from pathlib import Path

import pytest

from agents import registry
from agents.agui.replay import ReplayDiverged
from agents.sdk.context import ToolContext
from agents.sdk.llm import LlmAgent
from agents.sdk.models import ScriptedModel
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow
from agents.testing import (
    answer,
    approve,
    deny,
    did_not_happen,
    expire,
    happened,
    run_agent,
)

ROOT = Path(__file__).parents[4]
GUIDE = ROOT / "docs" / "testing-agents.md"


@tool(effect="read")
def look_up(name: str) -> str:
    """Look a name up."""
    return name.upper()


@tool(effect="once", approval="Pay {amount} EUR to {to}", feedback=True)
def pay(to: str, amount: float) -> str:
    """Pay somebody."""
    return f"paid {amount} EUR to {to}"


@workflow(tools=[look_up, pay])
async def bookkeeper(ctx: WorkflowContext) -> None:
    """Pays Ada."""
    await ctx.emit_text("Hello.")
    name = await ctx.call(look_up, name="Ada")
    outcome = await ctx.call(pay, to=name.value, amount=860.5)
    await ctx.emit_text(f"{outcome.status}: {outcome.value or outcome.reason}")


PAID = ("pay", {"to": "ADA", "amount": 860.5})
LOOKED_UP = ("look_up", {"name": "Ada"})


def test_a_run_stops_at_its_first_request():
    run = run_agent(bookkeeper)

    (request,) = run.requests
    assert run.status == "interrupted"
    assert (request.message, request.tool) == ("Pay 860.5 EUR to ADA", "pay")
    assert request.is_approval
    assert run.calls == [LOOKED_UP]


def test_an_approved_call_is_made_with_the_edits():
    run = run_agent(bookkeeper, answers=[approve(amount=5)])

    assert run.status == "succeeded"
    assert run.calls == [LOOKED_UP, ("pay", {"to": "ADA", "amount": 5})]
    assert run.texts == ["Hello.", "done: paid 5.0 EUR to ADA"]


@pytest.mark.parametrize(
    ("reply", "text"),
    [(deny("too much"), "denied: too much"), (expire(), "cancelled: ")],
    ids=["denied", "expired"],
)
def test_a_call_that_was_not_approved_is_not_made(reply, text):
    run = run_agent(bookkeeper, answers=[reply])

    assert run.calls == [LOOKED_UP]
    assert run.text == text


def test_an_answer_that_the_inbox_refuses_fails_the_test():
    run = run_agent(bookkeeper)

    with pytest.raises(AssertionError, match="The inbox would refuse this answer: 'much' is not"):
        run.approve(amount="much")


def test_a_repeatable_call_whose_worker_dies_is_made_again():
    run = run_agent(bookkeeper, answers=[approve()], kill_in="look_up")

    assert run.status == "succeeded"
    assert run.calls == [LOOKED_UP, LOOKED_UP, PAID]
    assert run.texts == ["Hello.", "done: paid 860.5 EUR to ADA"]


def test_a_person_is_asked_about_a_once_call_whose_worker_dies():
    run = run_agent(bookkeeper, answers=[approve()], kill_in="pay")

    (request,) = run.requests
    assert request.message == "The worker stopped while pay was running. Did the call take effect?"

    run.answer(happened("paid by hand"))
    assert run.text == "done: paid by hand"
    assert run.calls == [LOOKED_UP, PAID]


def test_a_once_call_that_did_not_happen_is_made_again():
    run = run_agent(bookkeeper, answers=[approve(), did_not_happen()], kill_in="pay")

    assert run.text == "done: paid 860.5 EUR to ADA"
    assert run.calls == [LOOKED_UP, PAID, PAID]


def test_several_requests_resume_the_run_with_the_last_answer():
    @workflow(tools=[pay])
    async def both(ctx: WorkflowContext) -> None:
        outcomes = await ctx.call_all(
            (pay, {"to": "Ada", "amount": 1}), (pay, {"to": "Bo", "amount": 2})
        )
        await ctx.emit_text(" ".join(outcome.status for outcome in outcomes))

    run = run_agent(both)
    run.deny()
    assert (run.status, run.calls) == ("interrupted", [])

    run.approve()

    assert run.text == "denied done"


def test_questions_are_answered_with_values():
    @workflow()
    async def wizard(ctx: WorkflowContext) -> None:
        reply = await ctx.interrupt(f"Who joins {ctx.input['team']}?", response_schema=str)
        await ctx.update_state(name=reply.payload)

    run = run_agent(wizard, input={"team": "Sales"})

    assert run.requests[0].message == "Who joins Sales?"
    with pytest.raises(AssertionError, match="refuse"):
        run.answer(7)
    run = run_agent(wizard, input={"team": "Sales"}, answers=[answer("Ana")])
    assert run.state == {"name": "Ana"}


def test_messages_of_running_tools_are_texts():
    @tool(effect="idempotent")
    def report(call: ToolContext) -> None:
        """Report."""
        call.emit_text("Half of it is done.")

    @workflow(tools=[report])
    async def reporter(ctx: WorkflowContext) -> None:
        await ctx.call(report)

    assert run_agent(reporter, kill_in="report").texts == ["Half of it is done."]


def test_exceptions_of_the_agent_are_raised():
    @workflow()
    async def broken(ctx: WorkflowContext) -> None:
        print(1 / 0)

    with pytest.raises(ZeroDivisionError):
        run_agent(broken)


def test_an_agent_that_repeats_itself_differently_is_found():
    texts = iter(["one", "two"])

    @workflow(tools=[look_up])
    async def fickle(ctx: WorkflowContext) -> None:
        await ctx.emit_text(next(texts))
        await ctx.call(look_up, name="Ada")

    with pytest.raises(ReplayDiverged):
        run_agent(fickle, kill_in="look_up")


def test_a_model_is_scripted():
    model = ScriptedModel([[("pay", {"to": "Ada", "amount": 7})], "Paid."])
    clerk = LlmAgent("clerk", "Pays.", model, tools=[pay])

    run = run_agent(clerk, "Pay Ada.", answers=[approve()])

    assert run.calls == [("pay", {"to": "Ada", "amount": 7})]
    assert run.text == "Paid."


def test_agents_of_other_frameworks_run_as_well(monkeypatch):
    path = "pydantic-ai+agents.examples.pydantic_ai_desk:pydantic_refunds"
    monkeypatch.setenv(registry.AGENTS_SETTING, path)
    monkeypatch.setattr(registry, "_agents", {})

    run = run_agent(registry.get("pydantic-refunds"), "Refund A1 for 300.")
    assert run.requests[0].message == "Refund $300.00 for order A1"
    run.approve()

    assert run.calls == [("refund", {"order": "A1", "amount": 300})]
    assert run.text == "Done: refunded $300.00 for A1."


def test_a_run_that_is_over_takes_no_answer():
    run = run_agent(bookkeeper, answers=[approve()])

    with pytest.raises(AssertionError, match="No request is open; the run has succeeded"):
        run.approve()
    with pytest.raises(AssertionError, match="The thread waits for an answer to: Pay 860"):
        run_agent(bookkeeper).say("And now?")


def test_the_guide_runs_as_it_is_printed(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    names = {}
    for block in blocks:
        exec(block, names)

    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) >= 5
    for each in tests:
        each()
