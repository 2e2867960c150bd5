"""What tools say while they work, on the real engine; and the time that a run may take."""

import asyncio
import threading

import pytest

from agents.sdk.context import ToolContext
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow
from inbox import engine, sweeper
from inbox.actions.runs import run_lease
from inbox.actions.runs.start_run import start_run
from inbox.engine import event_pipeline
from tests.support import steps
from tests.support.agents.lost_workers import WorkerKilled, die_behind
from tests.support.steps import request, start


@tool(effect="idempotent")
def pack(call: ToolContext, boxes: int) -> str:
    """Pack boxes; in a thread of its own, as functions that block are."""
    call.emit_text("I open the store.")
    for number in range(1, boxes + 1):
        call.progress("Packing", done=number, total=boxes)
    call.emit_text("I close the store.")
    return f"{boxes} packed"


@workflow()
async def packing(ctx: WorkflowContext) -> None:
    """Packs two boxes."""
    outcome = await ctx.call(pack, boxes=2)
    await ctx.emit_text(outcome.value)


@tool(effect="read")
def count_up(call: ToolContext, until: int) -> None:
    """Count."""
    for number in range(1, until + 1):
        call.progress("Counting", done=number, total=until)
    call.progress("Cleaning up")


@workflow()
async def counting(ctx: WorkflowContext) -> None:
    """Counts up to what it is told."""
    await ctx.call(count_up, until=int(ctx.message))


def texts_of(run):
    events = steps.events(run.thread_id)
    return [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]


def test_what_a_tool_says_comes_before_its_result(world, as_agent):
    run = start(world, "go", agent=as_agent(packing.run))

    events = steps.events(run.thread_id)
    kinds = [event["type"] for event in events]
    result = kinds.index("TOOL_CALL_RESULT")
    assert run.status == "succeeded"
    assert [e["delta"] for e in events[:result] if e["type"] == "TEXT_MESSAGE_CONTENT"] == [
        "I open the store.",
        "I close the store.",
    ]
    contents = [e["content"] for e in events[:result] if e["type"] == "ACTIVITY_SNAPSHOT"]
    assert contents == [
        {"label": "Packing", "done": 1, "total": 2},
        {"label": "Packing", "done": 2, "total": 2},
    ]


def test_a_call_that_is_made_again_does_not_say_it_again(
    world, alice, as_agent, monkeypatch, later
):
    attempts = []

    @tool(effect="idempotent")
    async def dig(call: ToolContext) -> str:
        """Dig, and at the first attempt do not stop before the worker is lost."""
        attempts.append(call.idempotency_key)
        call.emit_text("I dig.")
        if len(attempts) == 1:
            await asyncio.Event().wait()
        call.emit_text("I found it.")
        return "gold"

    @workflow()
    async def digging(ctx: WorkflowContext) -> None:
        """Digs."""
        outcome = await ctx.call(dig)
        await ctx.emit_text(outcome.value)

    accepted = start_run(agent=as_agent(digging.run), request=request("go"), actor=alice)
    with monkeypatch.context() as dying:
        dying.setattr(run_lease, "append_events", die_behind(run_lease.append_events, "I dig."))
        with pytest.raises(WorkerKilled):
            engine.execute_run(accepted.run.pk)
    assert texts_of(accepted.run) == ["I dig."]
    later(seconds=60)
    sweeper.sweep()

    engine.execute_run(accepted.run.pk)

    again = steps.reread(accepted.run)
    assert (again.status, again.attempt) == ("succeeded", 2)
    assert len(attempts) == 2
    assert len(set(attempts)) == 1
    assert texts_of(again) == ["I dig.", "I found it.", "gold"]


def test_a_try_that_failed_is_not_heard_twice(world, as_agent):
    tries = []

    @tool(effect="idempotent", retries=1)
    async def dig(call: ToolContext) -> str:
        """Dig."""
        tries.append(1)
        call.emit_text("I dig.")
        if len(tries) == 1:
            raise ConnectionError
        call.emit_text("I found it.")
        return "done"

    @workflow()
    async def digging(ctx: WorkflowContext) -> None:
        """Digs."""
        await ctx.call(dig)

    run = start(world, "go", agent=as_agent(digging.run))

    assert len(tries) == 2
    assert texts_of(run) == ["I dig.", "I found it."]


def test_a_tool_may_count_as_fast_as_it_likes(world, as_agent, monkeypatch):
    monkeypatch.setattr(event_pipeline, "MAX_EVENTS", 200)
    run = start(world, "5000", agent=as_agent(counting.run))

    contents = [event["content"] for event in steps.events(run.thread_id) if "content" in event]
    progress = [content for content in contents if isinstance(content, dict)]
    assert run.status == "succeeded"
    assert progress[0] == {"label": "Counting", "done": 1, "total": 5000}
    assert progress[-2] == {"label": "Counting", "done": 5000, "total": 5000}
    assert progress[-1] == {"label": "Cleaning up"}


def test_a_tool_that_never_stops_talking_ends_its_run(world, as_agent, monkeypatch):
    monkeypatch.setattr(event_pipeline, "MAX_EVENTS", 200)

    @tool(effect="read")
    async def chatter(call: ToolContext) -> None:
        """Say too much."""
        while True:
            call.emit_text("Still talking.")
            await asyncio.sleep(0)

    @workflow()
    async def chatting(ctx: WorkflowContext) -> None:
        """Chats."""
        await ctx.call(chatter)

    run = start(world, "go", agent=as_agent(chatting.run))

    assert (run.status, run.error_code) == ("failed", "LIMIT_EXCEEDED")


def test_one_text_of_a_tool_is_bounded_as_every_event_is(world, as_agent, monkeypatch):
    monkeypatch.setattr(event_pipeline, "MAX_EVENT_CHARACTERS", 1_000)

    @tool(effect="read")
    def recite(call: ToolContext) -> None:
        """Recite a poem."""
        call.emit_text("x" * 2_000)

    @workflow()
    async def reciting(ctx: WorkflowContext) -> None:
        """Recites."""
        await ctx.call(recite)

    run = start(world, "go", agent=as_agent(reciting.run))

    assert (run.status, run.error_code) == ("failed", "LIMIT_EXCEEDED")


def test_a_result_cannot_be_smuggled_in_from_the_side(world, as_agent):
    @workflow()
    async def smuggling(ctx: WorkflowContext) -> None:
        """Smuggles."""

        @tool(effect="read")
        def smuggle(call: ToolContext) -> None:
            """Say what only the engine may say."""
            context = ctx._context
            call.emit([context.tool_result(call.tool_call_id, '"all paid"')])

        await ctx.call(smuggle)

    run = start(world, "go", agent=as_agent(smuggling.run))

    assert (run.status, run.error_code) == ("failed", "PROTOCOL_VIOLATION")
    assert steps.results(run) == []


def test_a_thread_that_outlives_its_run_talks_to_nobody(world, as_agent):
    may_go_on, is_over = threading.Event(), threading.Event()

    @tool(effect="read")
    def lag(call: ToolContext) -> str:
        """Go on in a thread that nobody waits for."""

        def late() -> None:
            may_go_on.wait(10)
            call.emit_text("Too late.")
            is_over.set()

        threading.Thread(target=late, daemon=True).start()
        return "done"

    @workflow()
    async def lagging(ctx: WorkflowContext) -> None:
        """Lags."""
        await ctx.call(lag)

    run = start(world, "go", agent=as_agent(lagging.run))
    may_go_on.set()

    assert is_over.wait(10)
    assert steps.reread(run).status == "succeeded"
    assert "TEXT_MESSAGE_CONTENT" not in steps.event_types(run)


def test_a_run_that_takes_too_long_is_ended(world, as_agent, settings):
    settings.RUN_SECONDS = 0.05

    @workflow()
    async def waiting(ctx: WorkflowContext) -> None:
        """Waits for ever."""
        await asyncio.Event().wait()

    run = start(world, "go", agent=as_agent(waiting.run))

    assert (run.status, run.error_code) == ("failed", "LIMIT_EXCEEDED")
