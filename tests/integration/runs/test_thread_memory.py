"""What an agent keeps for the next run of its thread: with the run's end, or not at all."""

import ag_ui.core as agui
import pytest

from agents.port import MAX_MEMORY_CHARACTERS
from tests.support import steps
from tests.support.agents.agent_events import asking, finished
from tests.support.steps import open_interrupts, start


class Broken(Exception):
    """What an agent raises until it is repaired."""


class Diarist:
    """An agent that notes each of its runs, asks when told to, and breaks when told to."""

    def __init__(self):
        self.found = []

    async def play(self, run_input, ctx):
        self.found.append(ctx.memory)
        ctx.save_memory([*(ctx.memory or []), run_input.messages[-1].content])
        if run_input.messages[-1].content == "break":
            raise Broken
        if run_input.messages[-1].content == "ask" and not ctx.answers:
            yield asking(run_input, agui.Interrupt(id="i1", reason="confirmation"))
            return
        yield finished(run_input)


@pytest.fixture
def diarist(as_agent):
    diarist = Diarist()
    diarist.agent = as_agent(diarist.play)
    return diarist


def test_what_a_run_keeps_is_there_for_the_next_run_of_the_thread_only(world, diarist):
    start(world, "one", agent=diarist.agent, thread_id="t1")
    start(world, "two", agent=diarist.agent, thread_id="t1")
    start(world, "three", agent=diarist.agent, thread_id="t2")

    assert diarist.found == [None, ["one"], None]


def test_memory_of_a_paused_run_reaches_the_resuming_run(world, diarist, bob):
    run = start(world, "ask", agent=diarist.agent, thread_id="t1")
    steps.answer(open_interrupts(run)[0], bob, True)
    steps.resumed_run(run)

    assert diarist.found == [None, ["ask"]]


def test_a_run_that_fails_keeps_nothing(world, diarist):
    start(world, "one", agent=diarist.agent, thread_id="t1")
    run = start(world, "break", agent=diarist.agent, thread_id="t1")
    start(world, "two", agent=diarist.agent, thread_id="t1")

    assert run.status == "failed"
    assert diarist.found == [None, ["one"], ["one"]]


@pytest.mark.parametrize(
    "value",
    [{1, 2}, float("nan"), "x" * MAX_MEMORY_CHARACTERS],
    ids=["a set", "not a number", "too long"],
)
def test_what_cannot_be_kept_fails_the_run_and_leaves_what_there_was(world, as_agent, value):
    checkpoints = []

    async def play(run_input, ctx):
        checkpoints.append(ctx.memory)
        ctx.save_memory("this" if len(checkpoints) == 1 else value)
        yield finished(run_input)

    agent = as_agent(play)
    runs = [start(world, "go", agent=agent, thread_id="t1") for _ in range(3)]

    assert [run.status for run in runs] == ["succeeded", "failed", "failed"]
    assert checkpoints == [None, "this", "this"]
