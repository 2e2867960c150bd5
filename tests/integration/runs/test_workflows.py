"""Workflows on the real engine: paused, resumed, and driven again by another worker."""

import json

import pytest

from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow
from inbox import engine, sweeper
from inbox.actions.runs.start_run import start_run
from inbox.agui_server.run_input import run_request
from inbox.models import Run
from tests.support import steps
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.http.agui_client import run_input
from tests.support.steps import (
    open_interrupts,
    request,
    resumed_run,
    start,
)

tool_effects: list[str] = []


@tool(effect="idempotent", approval="Ship {item}?")
def ship(item: str) -> str:
    """Ship an item."""
    tool_effects.append(item)
    return f"shipped {item}"


@workflow()
async def two_parcels(ctx: WorkflowContext) -> None:
    """Ships two parcels, one after the other."""
    for item in ("lamp", "chair"):
        await ctx.emit_text(f"Next is the {item}.")
        outcome = await ctx.call(ship, item=item)
        await ctx.emit_text(str(outcome.value))


@pytest.fixture
def shipping(world, as_agent):
    tool_effects.clear()
    return start(world, "go", agent=as_agent(two_parcels.run))


def test_a_workflow_goes_on_behind_each_pause(shipping, bob):
    (first,) = open_interrupts(shipping)
    steps.approve(first, bob)
    second_run = resumed_run(shipping)
    (second,) = open_interrupts(second_run)
    steps.approve(second, bob, editedArgs={"item": "stool"})
    last = resumed_run(second_run)

    assert (second_run.status, last.status) == ("interrupted", "succeeded")
    assert tool_effects == ["lamp", "stool"]
    texts = [
        event["delta"]
        for event in steps.events(shipping.thread_id)
        if event["type"] == "TEXT_MESSAGE_CONTENT"
    ]
    assert texts == [
        "Next is the lamp.",
        "shipped lamp",
        "Next is the chair.",
        "shipped stool",
    ]


@pytest.mark.parametrize("at", ["start_tool_calls", "finish_run"])
def test_workflow_with_a_lost_worker_continues_at_its_last_commit(
    shipping, bob, monkeypatch, later, at
):
    (first,) = open_interrupts(shipping)
    steps.approve(first, bob)
    resume = Run.objects.get(resumes=shipping)

    killed = kill_while_driving(resume, monkeypatch=monkeypatch, at=at)
    later(seconds=60)
    sweeper.sweep()
    engine.execute_run(killed.pk)

    again = steps.reread(killed)
    assert (again.status, again.attempt) == ("interrupted", 2)
    assert steps.event_types(again).count("TOOL_CALL_RESULT") == 1
    assert [interrupt.title for interrupt in open_interrupts(again)] == ["Ship chair?"]


@pytest.mark.parametrize(
    ("wrote", "operator_note"),
    [
        ("transfer 7, on paper", "transfer 7, on paper"),
        ('"transfer 7"', "transfer 7"),
        ("", ""),
        ("{", "{"),
    ],
)
def test_a_workflow_hears_what_a_person_wrote_down_of_a_doubtful_call(
    world, as_agent, alice, bob, monkeypatch, later, wrote, operator_note
):
    @tool(effect="once")
    def transfer(amount: int) -> str:
        """Transfer an amount."""
        tool_effects.append("transfer")
        return "transferred"

    @workflow()
    async def bank(ctx: WorkflowContext) -> None:
        """Transfers."""
        outcome = await ctx.call(transfer, amount=5)
        await ctx.emit_text(f"<{outcome.status}: {outcome.value}>")

    tool_effects.clear()
    accepted = start_run(agent=as_agent(bank.run), request=steps.request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()
    (doubt,) = open_interrupts(steps.reread(killed))
    steps.answer(doubt, bob, {"outcome": "happened", "result": wrote})

    resumed = steps.resumed_run(killed)

    (event,) = resumed.events.filter(type="TEXT_MESSAGE_CONTENT")
    assert json.loads(event.body)["delta"] == f"<done: {operator_note}>"
    assert tool_effects == ["transfer"]


def test_a_workflow_in_doubt_goes_on_with_what_it_was_started_with(
    world, as_agent, robot, monkeypatch, later
):
    """Who answers a doubt over the AG-UI door sends an input as well, which is not the run's."""

    @tool(effect="once")
    def send(to: str) -> str:
        """Send something."""
        tool_effects.append(to)
        return "sent"

    @workflow()
    async def sender(ctx: WorkflowContext) -> None:
        """Sends to two people."""
        await ctx.call(send, to=ctx.message)
        await ctx.call(send, to=ctx.input)

    tool_effects.clear()
    body = run_input("ann", forwardedProps={"input": "bea"})
    agent = as_agent(sender.run)
    accepted = start_run(agent=agent, request=run_request(body), actor=robot)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()
    (doubt,) = open_interrupts(steps.reread(killed))
    answer = {"outcome": "happened", "result": '"sent"'}
    entry = {"interruptId": doubt.interrupt_id, "status": "resolved", "payload": answer}
    forged = run_input(
        "eve", threadId=body["threadId"], resume=[entry], forwardedProps={"input": "eve"}
    )

    resumed = steps.drive(start_run(agent=agent, request=run_request(forged), actor=robot))

    assert resumed.status == "succeeded"
    assert tool_effects == ["ann", "bea"]


@tool(effect="idempotent")
def note(text: str) -> None:
    """Note a text."""
    tool_effects.append(text)


@workflow()
async def counter(ctx: WorkflowContext) -> None:
    """Notes how the state was after each step."""
    await ctx.update_state(first=1)
    await ctx.update_state(second=ctx.state["first"] + 1)
    await ctx.call(note, text=f"{sorted(ctx.state)}")
    await ctx.update_state(third=3)
    await ctx.call(note, text=f"{sorted(ctx.state)}")


def test_a_lost_workflow_finds_the_state_as_it_was_at_each_step(
    world, bob, as_agent, monkeypatch, later
):
    tool_effects.clear()
    accepted = start_run(agent=as_agent(counter.run), request=request("go"), actor=bob)

    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
    later(seconds=60)
    sweeper.sweep()
    engine.execute_run(killed.pk)

    again = steps.reread(killed)
    assert (again.status, again.attempt) == ("succeeded", 2)
    assert set(tool_effects) == {"['first', 'second']", "['first', 'second', 'third']"}
    assert json.loads(again.thread.state) == {"first": 1, "second": 2, "third": 3}


@tool(effect="once")
def pay(amount: int) -> str:
    """Pay an amount."""
    tool_effects.append(str(amount))
    return "paid"


@workflow()
async def treasurer(ctx: WorkflowContext) -> None:
    """Pays, and keeps the state."""
    await ctx.update_state(first=1)
    await ctx.update_state(second=2)
    outcome = await ctx.call(pay, amount=7)
    await ctx.update_state(third=outcome.value)


def test_a_workflow_in_doubt_goes_on_with_the_state_that_it_had(
    world, bob, as_agent, monkeypatch, later
):
    tool_effects.clear()
    accepted = start_run(agent=as_agent(treasurer.run), request=request("go"), actor=bob)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()
    (doubt,) = open_interrupts(steps.reread(killed))

    steps.answer(doubt, bob, {"outcome": "happened", "result": "on paper"})

    last = resumed_run(killed)
    assert (last.status, tool_effects) == ("succeeded", ["7"])
    assert json.loads(last.thread.state) == {"first": 1, "second": 2, "third": "on paper"}
