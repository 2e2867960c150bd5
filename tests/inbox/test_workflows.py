"""Workflows on the real engine: paused, resumed, and driven again by another worker."""

import pytest

from agents.sdk.flow import Flow
from agents.sdk.tools import tool
from agents.sdk.workflow import workflow
from inbox import engine, sweeper
from inbox.models import Run
from tests import steps
from tests.inbox.test_recovery import kill_while_driving
from tests.steps import open_interrupts, resumed_run, start

made: list[str] = []


@tool(effect="idempotent", approval="Ship {item}?")
def ship(item: str) -> str:
    """Ship an item."""
    made.append(item)
    return f"shipped {item}"


@workflow()
async def two_parcels(ctx: Flow) -> None:
    """Ships two parcels, one after the other."""
    for item in ("lamp", "chair"):
        await ctx.emit_text(f"Next is the {item}.")
        outcome = await ctx.call(ship, item=item)
        await ctx.emit_text(str(outcome.value))


@pytest.fixture
def shipping(world, as_agent):
    made.clear()
    return start(world, "go", agent=as_agent(two_parcels.run))


def test_a_workflow_goes_on_behind_each_pause(shipping, bob):
    (first,) = open_interrupts(shipping)
    steps.approve(first, bob)
    second_run = resumed_run(shipping)
    (second,) = open_interrupts(second_run)
    steps.approve(second, bob, editedArgs={"item": "stool"})
    last = resumed_run(second_run)

    assert (second_run.status, last.status) == ("interrupted", "succeeded")
    assert made == ["lamp", "stool"]
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


@pytest.mark.parametrize("at", ["begin_tool_calls", "finish_run"])
def test_a_workflow_whose_worker_was_lost_goes_on_where_its_last_commit_was(
    shipping, bob, monkeypatch, later, at
):
    (first,) = open_interrupts(shipping)
    steps.approve(first, bob)
    resume = Run.objects.get(resumes=shipping)

    killed = kill_while_driving(resume, monkeypatch=monkeypatch, at=at)
    later(seconds=60)
    sweeper.sweep()
    engine.execute(killed.pk)

    again = steps.reread(killed)
    assert (again.status, again.attempt) == ("interrupted", 2)
    assert steps.event_types(again).count("TOOL_CALL_RESULT") == 1
    assert [one.title for one in open_interrupts(again)] == ["Ship chair?"]
