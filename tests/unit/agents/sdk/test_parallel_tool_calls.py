"""The calls of one context: they start together, fail each for itself, and answer in order."""

import asyncio
import json
import threading
from typing import Any

import ag_ui.core as agui
import pytest

from agents.port import Effect
from agents.sdk.context import ToolContext
from agents.sdk.scripted import ScriptedAgent
from agents.sdk.tool_execution import OnceToolPaused
from agents.sdk.tools import tool
from tests.support.agents.doubles import Stage, fixed_clock

APPROVE = {"approved": True}


def put_on_stage(*calls):
    """Put an agent on a stage that proposes these calls, (tool, args), and then says good-bye."""

    async def propose(context):
        yield context.text_message("Let me see.")
        for proposed, args in calls:
            yield context.propose(proposed, args)

    async def leave(context):
        yield context.text_message("Bye.")

    return Stage(
        ScriptedAgent(
            name="tester",
            description="Tests.",
            tools=tuple({tool.name: tool for tool, _ in calls}.values()),
            choose=lambda _run_input: "script",
            steps=lambda _script: [propose, leave],
            clock=fixed_clock(),
        )
    )


def meeting(number, *, approval):
    """Make a blocking tool whose calls wait until so many of them are running."""
    barrier = threading.Barrier(number)

    @tool(effect=Effect.IDEMPOTENT, approval=approval)
    def meet(call: ToolContext, name: str) -> dict[str, Any]:
        """Meet the others."""
        barrier.wait(timeout=10)
        return {"name": name}

    return meet


def in_reverse(names, *, approval):
    """Make a tool whose calls finish in the reverse of this order."""
    done = {name: asyncio.Event() for name in names}

    @tool(effect=Effect.IDEMPOTENT, approval=approval)
    async def reverse(call: ToolContext, name: str) -> dict[str, Any]:
        """Wait for the calls that were asked about later."""
        later = names.index(name) + 1
        if later < len(names):
            async with asyncio.timeout(5):
                await done[names[later]].wait()
        done[name].set()
        return {"name": name}

    return reverse


def failing(effect, *, approval="Fail?"):
    """Make a tool that raises, with a secret in the text."""

    @tool(effect=effect, approval=approval)
    def fail(call: ToolContext) -> dict[str, Any]:
        """Fail."""
        raise ConnectionError("postgres://user:hunter2@host refused")

    return fail


@tool(effect=Effect.IDEMPOTENT, approval="Work on {name}?")
async def work(call: ToolContext, name: str) -> dict[str, Any]:
    """Work on something for a while."""
    await asyncio.sleep(0)
    return {"name": name}


def _ask_twice(call: ToolContext, amount: int) -> str:
    if call.resumed is not None and amount > 10:
        call.interrupt(f"Really pay {amount}?")
    return f"Pay {amount}?"


@tool(effect=Effect.ONCE, approval=_ask_twice)
def pay(call: ToolContext, amount: int) -> dict[str, Any]:
    """Pay something."""
    return {"paid": amount}


NAMES = ["a", "b", "c"]


async def test_all_approved_calls_of_a_turn_start_together():
    """S2: three that wait for each other all finish."""
    meet = meeting(3, approval="Meet {name}?")
    stage = put_on_stage(*[(meet, {"name": name}) for name in NAMES])
    await stage.say("go")

    await stage.answer(APPROVE, APPROVE, APPROVE)

    assert stage.results == [{"name": name} for name in NAMES]
    assert stage.outcome == "success"


async def test_all_calls_that_need_nobody_start_together():
    """S2."""
    meet = meeting(3, approval=False)
    stage = put_on_stage(*[(meet, {"name": name}) for name in NAMES])

    await stage.say("go")

    assert stage.results == [{"name": name} for name in NAMES]


async def test_results_come_in_the_order_asked_whoever_finishes_first():
    reverse = in_reverse(NAMES, approval="Go on with {name}?")
    stage = put_on_stage(*[(reverse, {"name": name}) for name in NAMES])
    await stage.say("go")
    first = list(await stage.answer(APPROVE, APPROVE, APPROVE))

    again = list(await stage.drive())

    assert stage.results == [{"name": name} for name in NAMES]
    assert again == first
    results = stage.of(agui.ToolCallResultEvent)
    assert [result.message_id for result in results] == ["run2-r1", "run2-r2", "run2-r3"]
    assert [result.tool_call_id for result in results] == ["run1-t1", "run1-t2", "run1-t3"]


async def test_results_of_calls_that_need_nobody_come_in_the_order_asked():
    reverse = in_reverse(NAMES, approval=False)
    stage = put_on_stage(*[(reverse, {"name": name}) for name in NAMES])

    await stage.say("go")

    assert stage.results == [{"name": name} for name in NAMES]


async def test_the_others_settle_before_an_error_ends_the_run():
    fail = failing(Effect.ONCE)
    stage = put_on_stage((work, {"name": "a"}), (fail, {}), (work, {"name": "b"}))
    await stage.say("go")
    before, failed, behind = (interrupt.tool_call_id for interrupt in stage.interrupts)

    with pytest.raises(ConnectionError):
        await stage.answer(APPROVE, APPROVE, APPROVE)

    assert stage.journal.results == {before: '{"name":"a"}', behind: '{"name":"b"}'}
    assert [tool_call_id for tool_call_id, _ in stage.journal.begun] == [before, failed, behind]
    assert stage.results == [{"name": "a"}]


async def test_a_run_goes_on_where_the_error_was_once_its_outcome_is_decided():
    fail = failing(Effect.ONCE)
    stage = put_on_stage((work, {"name": "a"}), (fail, {}), (work, {"name": "b"}))
    await stage.say("go")
    failed = stage.interrupts[1].tool_call_id
    with pytest.raises(ConnectionError):
        await stage.answer(APPROVE, APPROVE, APPROVE)
    first_events = list(stage.events)
    stage.journal.results[failed] = '{"outcome":"happened"}'

    events = await stage.drive()

    assert events[: len(first_events)] == first_events
    assert stage.results == [{"name": "a"}, {"outcome": "happened"}, {"name": "b"}]
    assert stage.outcome == "success"


async def test_of_several_errors_the_first_in_order_ends_the_run(caplog):
    @tool(effect=Effect.ONCE, approval="Break?")
    async def break_down(call: ToolContext) -> None:
        """Fail sooner than the other one."""
        raise ZeroDivisionError

    stage = put_on_stage((failing(Effect.ONCE), {}), (break_down, {}))
    await stage.say("go")

    with pytest.raises(ConnectionError):
        await stage.answer(APPROVE, APPROVE)

    assert "never retrieved" not in caplog.text


@pytest.mark.parametrize("effect", [Effect.READ, Effect.IDEMPOTENT])
@pytest.mark.parametrize("approval", [False, "Fail?"])
async def test_an_error_of_a_tool_that_may_be_called_again_is_its_result(effect, approval, caplog):
    stage = put_on_stage((failing(effect, approval=approval), {}))
    await stage.say("go")
    if approval:
        await stage.answer(APPROVE)

    assert stage.results == [{"ok": False, "error": "ConnectionError"}]
    assert stage.outcome == "success"
    assert stage.text.endswith("Bye.")
    (settled,) = stage.journal.results.values()
    assert json.loads(settled) == stage.results[0]
    assert "The tool fail failed in call run1-t1." in caplog.messages


@pytest.mark.parametrize(
    ("result", "stored"),
    [(float("nan"), "NaN"), ("\ud800", "\ud800"), (ConnectionError("down"), "down")],
)
async def test_a_result_that_is_no_json_becomes_text(result, stored):
    @tool(effect=Effect.READ)
    def look(call: ToolContext) -> Any:
        """Return what cannot be sent."""
        return result

    stage = put_on_stage((look, {}))

    await stage.say("go")

    assert stage.results == [stored]


async def test_an_error_of_the_journal_is_no_result_of_the_tool():
    stage = put_on_stage((work, {"name": "a"}))
    await stage.say("go")
    stage.journal.dies_at_settle = True

    with pytest.raises(Exception, match=r"^$") as raised:
        await stage.answer(APPROVE)

    assert raised.type.__name__ == "WorkerLost"


async def test_a_call_that_pauses_again_keeps_the_results_of_the_others():
    """S2: its guard asks once more, and the run is interrupted for this one only."""
    stage = put_on_stage((work, {"name": "a"}), (pay, {"amount": 50}), (work, {"name": "b"}))
    await stage.say("go")
    tool_call_ids = [interrupt.tool_call_id for interrupt in stage.interrupts]

    await stage.answer(APPROVE, APPROVE, APPROVE)

    assert stage.results == [{"name": "a"}, {"name": "b"}]
    assert [interrupt.tool_call_id for interrupt in stage.interrupts] == [tool_call_ids[1]]
    assert stage.interrupts[0].message == "Really pay 50?"
    await stage.answer({"approved": True, "editedArgs": {"amount": 5}})
    assert stage.results == [{"paid": 5}]
    assert len(stage.journal.results) == 3
    assert stage.text == "Bye."


async def test_a_guard_that_fails_ends_the_run_before_any_call_is_made():
    def check(call: ToolContext) -> str:
        if call.resumed is not None:
            raise ZeroDivisionError
        return "Look?"

    @tool(effect=Effect.READ, approval=check)
    def look(call: ToolContext) -> None:
        """Never get here."""

    stage = put_on_stage((work, {"name": "a"}), (look, {}))
    await stage.say("go")

    with pytest.raises(ZeroDivisionError):
        await stage.answer(APPROVE, APPROVE)

    assert stage.journal.begun == []


@pytest.mark.parametrize("effect", [Effect.READ, Effect.IDEMPOTENT])
async def test_function_that_interrupts_itself_behaves_like_a_guarded_tool(effect):
    """S1."""

    @tool(effect=effect)
    def look(call: ToolContext) -> dict[str, Any]:
        """Look only with consent."""
        if call.resumed is None:
            call.interrupt("May I look?")
        return {"seen": True}

    stage = put_on_stage((look, {}))
    await stage.say("go")
    message = stage.interrupts[0].message

    await stage.answer(APPROVE)

    assert message == "May I look?"
    assert stage.results == [{"seen": True}]


async def test_a_function_that_is_never_called_twice_cannot_pause_by_itself():
    def ask(call: ToolContext) -> None:
        call.interrupt("May I?")

    @tool(effect=Effect.ONCE)
    def pay(call: ToolContext) -> None:
        """Pay, but ask too late, and where the declaration of the tool does not show it."""
        ask(call)

    with pytest.raises(OnceToolPaused, match=r"pay: .* Ask in its approval="):
        await put_on_stage((pay, {})).say("go")


async def test_calls_nobody_waits_for_any_more_are_stopped():
    started, stopped = asyncio.Event(), asyncio.Event()

    @tool(effect=Effect.READ)
    async def wait(call: ToolContext) -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    stage = put_on_stage((wait, {}))
    run = asyncio.ensure_future(stage.say("go"))
    await started.wait()

    run.cancel()
    await asyncio.wait([run])

    async with asyncio.timeout(5):
        await stopped.wait()
