"""Workflows that change while runs wait: detected, explained, finished on the old steps."""

import json
import random

import pytest

from agents import registry
from agents.sdk.tools import tool
from agents.sdk.workflow import Workflow, WorkflowContext, workflow
from agents.sdk.workflow_steps import fingerprint
from inbox.engine.start_run import retry_run
from inbox.models import Run
from tests.support import steps
from tests.support.agents.agent_events import error_of
from tests.support.steps import APPROVE, open_interrupts, resumed_run, start

paid: list[str] = []


@tool(effect="once", approval=True)
def pay(to: str) -> str:
    """Pay somebody."""
    paid.append(to)
    return f"paid {to}"


@tool(effect="read")
def look_up(name: str) -> str:
    """Look a name up."""
    return name.upper()


@workflow(tools=[pay])
async def first_version(ctx: WorkflowContext) -> None:
    """Pays Ada."""
    outcome = await ctx.call(pay, to="Ada")
    await ctx.emit_text(f"{outcome.value}")


@workflow(tools=[pay, look_up])
async def changed(ctx: WorkflowContext) -> None:
    """Looks Ada up, then pays her."""
    name = await ctx.call(look_up, name="Ada")
    await ctx.call(pay, to=name.value)


@workflow(tools=[pay, look_up], version=2)
async def versioned(ctx: WorkflowContext) -> None:
    """Looks Ada up in runs that begin now, and not in those that wait."""
    name = "Ada"
    if ctx.version >= 2:
        name = (await ctx.call(look_up, name=name)).value
    outcome = await ctx.call(pay, to=name)
    await ctx.emit_text(f"{outcome.value}")


@workflow(tools=[pay], version=2)
async def without_the_old_steps(ctx: WorkflowContext) -> None:
    """Asks first."""
    await ctx.interrupt("Pay Ada?")
    await ctx.call(pay, to="Ada")


@workflow(tools=[pay])
async def fickle(ctx: WorkflowContext) -> None:
    """Decides by chance."""
    if chance() < 0.5:
        await ctx.emit_text("I feel lucky.")
    await ctx.call(pay, to="Ada")


chance = random.random


@pytest.fixture(autouse=True)
def _nothing_paid():
    paid.clear()


@pytest.fixture
def deploy(as_agent):
    """Install a version of the workflow under one name."""
    rows = []

    def install(agent: Workflow):
        if not rows:
            rows.append(as_agent(agent.run))
        registry.get(rows[0].implementation).run = agent.run
        return rows[0]

    return install


@pytest.fixture
def waits(world, deploy):
    """A run of the first version that waits for the approval of its payment."""
    return start(world, "go", agent=deploy(first_version))


def resume(run, bob):
    steps.answer(open_interrupts(run)[0], bob, APPROVE)
    return resumed_run(run)


def test_a_run_that_waited_fails_with_what_changed(waits, deploy, bob):
    deploy(changed)

    run = resume(waits, bob)

    assert (run.status, run.error_code) == ("failed", "WORKFLOW_CHANGED")
    assert error_of(run)["message"] == (
        "The workflow changed took other steps than before the pause: step 1 was 'call pay' and is "
        "now 'call look_up'. Its code was changed while the run waited: restore the earlier steps "
        "and retry the run, or set @workflow(version=2), keep them under `if ctx.version < 2:`, "
        "and retry it."
    )
    assert paid == []


def test_a_retry_with_the_earlier_steps_uses_the_same_decision(waits, deploy, bob, world):
    deploy(changed)
    failed = resume(waits, bob)
    deploy(first_version)

    retried = steps.drive(retry_run(failed.pk, world.actor(world.bob)))

    assert retried.status == "succeeded"
    assert paid == ["Ada"]


def test_runs_that_wait_finish_on_the_steps_of_their_version(waits, deploy, bob, world):
    agent = deploy(versioned)

    old = resume(waits, bob)
    new = resume(start(world, "go", agent=agent), bob)

    assert (old.status, new.status) == ("succeeded", "succeeded")
    assert paid == ["Ada", "ADA"]


def test_a_new_version_without_the_old_steps_names_both_versions(waits, deploy, bob):
    deploy(without_the_old_steps)

    run = resume(waits, bob)

    assert error_of(run)["message"].endswith(
        "The run began with version 1, and the workflow is version 2: keep the earlier steps under "
        "`if ctx.version < 2:`, then retry the run."
    )


def test_chance_in_a_workflow_is_named_as_the_cause(world, deploy, bob, monkeypatch):
    monkeypatch.setattr(f"{__name__}.chance", iter([0.9, 0.1]).__next__)
    run = start(world, "go", agent=deploy(fickle))

    resumed = resume(run, bob)

    assert resumed.error_code == "WORKFLOW_CHANGED"
    assert (
        "Its code is the same, so its path depends on something other"
        in (error_of(resumed)["message"])
    )
    assert paid == []


def test_checkpoints_of_earlier_releases_are_of_version_one(waits, deploy, bob):
    checkpoint = json.loads(Run.objects.get(pk=waits.pk).checkpoint)["saved"]
    earlier = {name: checkpoint[name] for name in ("steps", "started_with")}
    Run.objects.filter(pk=waits.pk).update(checkpoint=json.dumps(earlier))
    deploy(versioned)

    assert resume(waits, bob).status == "succeeded"
    assert paid == ["Ada"]


def test_a_fingerprint_is_of_the_code_and_not_of_its_layout():
    def compiled(text):
        names = {}
        exec(text, names)
        return fingerprint(names["f"])

    code = "def f(x):\n    return x in {'a', 'b'} or (lambda: x + 1)()"

    assert compiled(code) == compiled(f"\n\n# a comment\n{code}  # more")
    assert compiled(code) != compiled(code.replace("+ 1", "+ 2"))
    assert compiled(code) != compiled(code.replace("'b'", "'c'"))
    assert fingerprint(len) == ""
