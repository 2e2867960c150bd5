"""An agent that holds the event loop of its run is named, in the log and with the run."""

import asyncio
import threading
import time

import pytest
from django.db import connections

from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow
from inbox import engine
from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.runs.recovery import recover_run
from inbox.actions.runs.start_run import start_run
from inbox.engine import driver, loop_watch
from inbox.engine.loop_watch import LoopWatch
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import scripted_agents
from tests.support.agents.agent_events import error_of
from tests.support.steps import request

_released = threading.Event()
_blocking = threading.Event()


def hold() -> None:
    _blocking.set()
    _released.wait(60)


@tool(effect="read")
async def block() -> str:
    """Block."""
    hold()
    return "free"


@tool(effect="once")
async def pay_slowly() -> str:
    """Pay with a driver that blocks."""
    hold()
    return "paid"


@workflow(tools=[block])
async def blocked(ctx: WorkflowContext) -> None:
    """Blocks."""
    await ctx.call(block)


@workflow(tools=[pay_slowly])
async def paying(ctx: WorkflowContext) -> None:
    """Pays."""
    await ctx.call(pay_slowly)


class Drive:
    """A run that is driven in a thread, with a clock that the test moves."""

    def __init__(self, run, monkeypatch):
        self.run = run
        self.now = 0.0
        self.watch = LoopWatch(clock=lambda: self.now)
        self.watch._start = lambda: None  # the test looks by itself
        monkeypatch.setattr(driver, "watch", self.watch)
        self._thread = threading.Thread(target=self._drive)
        self._thread.start()
        assert _blocking.wait(20)

    def _drive(self):
        engine.execute_run(self.run.pk)
        connections.close_all()

    def look(self, *, at: float, times: int = 1) -> None:
        self.now = at
        for _ in range(times):
            self.watch.look()

    def end(self):
        _released.set()
        self._thread.join()
        return steps.reread(self.run)


@pytest.fixture
def drive(committed_world, monkeypatch):
    _released.clear()
    _blocking.clear()
    drives = []

    def begin(agent):
        row = ensure_agent(
            team=committed_world.team,
            slug="slow",
            implementation=scripted_agents.register(agent.run),
            description="",
            actor=SEED,
        )
        actor = committed_world.actor(committed_world.alice)
        accepted = start_run(agent=row, request=request("go"), actor=actor)
        drives.append(Drive(accepted.run, monkeypatch))
        return drives[-1]

    yield begin
    for each in drives:
        each.end()


def test_a_blocked_loop_is_named_in_the_log_and_the_run_goes_on(drive, caplog):
    blocked_run = drive(blocked)

    blocked_run.look(at=6)
    blocked_run.look(at=7)
    run = blocked_run.end()

    lines = [record.msg for record in caplog.records if "event loop" in str(record.msg)]
    assert [line["event"] for line in lines] == ["event loop blocked", "event loop free again"]
    assert lines[0]["at"].startswith("test_blocked_loops.py:")
    assert lines[0]["at"].endswith(" in hold")
    assert lines[1]["blocked_seconds"] == 7
    assert run.status == "succeeded"


def test_a_run_whose_loop_stays_blocked_says_where(drive):
    blocked_run = drive(blocked)

    blocked_run.look(at=21, times=5)
    run = blocked_run.end()

    error = error_of(run)
    assert (run.status, run.error_code, run.attempt) == ("failed", "EVENT_LOOP_BLOCKED", 1)
    assert error["message"].startswith(
        "The agent blocked its event loop for 20 seconds at test_blocked_loops.py:"
    )
    assert error["message"].endswith(
        " in hold. Make the blocking tool a plain function instead of async, or run the blocking "
        "part with asyncio.to_thread."
    )


def test_a_person_is_asked_about_a_once_call_that_blocked(drive):
    blocked_run = drive(paying)

    blocked_run.look(at=21, times=5)
    run = blocked_run.end()

    (interrupt,) = steps.open_interrupts(run)
    assert run.status == "interrupted"
    assert interrupt.message.startswith("The agent blocked its event loop while pay_slowly was")


def test_a_blocked_run_keeps_its_lease_until_the_limit(drive, later):
    blocked_run = drive(blocked)
    later(seconds=19)
    blocked_run.look(at=5, times=5)
    later(seconds=30)

    assert steps.reread(blocked_run.run).status == "running"
    assert recover_run(run_id=blocked_run.run.pk, restartable=True) is None


def test_a_process_that_was_suspended_ends_no_run(drive):
    blocked_run = drive(blocked)

    blocked_run.look(at=3600)

    assert steps.reread(blocked_run.run).status == "running"
    assert blocked_run.end().status == "succeeded"


def test_the_shared_loop_of_other_frameworks_is_watched(caplog, monkeypatch):
    from agents.adapters.background_loop import framework_loop

    monkeypatch.setattr(loop_watch, "REPORT_SECONDS", 0.0)
    _released.clear()
    _blocking.clear()

    async def hold_all() -> None:
        hold()

    future = asyncio.run_coroutine_threadsafe(hold_all(), framework_loop())
    assert _blocking.wait(20)
    watch = LoopWatch(clock=time.monotonic)
    watch.look()
    _released.set()
    future.result()

    (line,) = [record.msg for record in caplog.records if "other frameworks" in str(record.msg)]
    assert line["at"].endswith(" in hold")
