"""Runs of a language model whose worker is lost: it is not asked twice for what it said."""

import asyncio

import pytest

from agents.sdk.llm import LlmAgent
from agents.sdk.models import AnswerPart, ToolCallRequest
from agents.sdk.tools import tool
from inbox import engine, sweeper
from inbox.actions.runs import run_lease
from inbox.actions.runs.start_run import start_run
from inbox.models import Run
from tests.integration.runs.test_tool_progress import texts_of
from tests.support import steps
from tests.support.agents.lost_workers import WorkerKilled, die_behind, kill_while_driving
from tests.support.steps import open_interrupts, request, start

tool_effects: list[str] = []


@tool(effect="idempotent")
def look_up(order: str) -> dict[str, float]:
    """Look an order up."""
    tool_effects.append(order)
    return {"paid": 58}


@tool(effect="idempotent", approval="Refund {amount}?")
def refund(amount: float) -> str:
    """Refund a customer."""
    tool_effects.append(f"{amount:g}")
    return "refunded"


class Moody:
    """A model that numbers its answers, so that no two are the same; after None it is silent."""

    def __init__(self, *lines):
        self._lines = list(lines)
        self.prompts = []

    async def answer(self, *, instructions, messages, tools):
        self.prompts.append([(message.role, message.content) for message in messages])
        self.calls = [
            call.function.arguments
            for message in messages
            for call in getattr(message, "tool_calls", None) or ()
        ]
        for part in self._lines.pop(0):
            if part is None:
                await asyncio.Event().wait()
            elif isinstance(part, str):
                yield AnswerPart(text=f"{len(self.prompts)}: {part}")
            else:
                yield AnswerPart(
                    tool_calls=[ToolCallRequest(name, arguments) for name, arguments in part]
                )


@pytest.fixture(autouse=True)
def nothing_made():
    tool_effects.clear()


def played_by(model):
    return LlmAgent(name="desk", description="Refunds.", model=model, tools=(look_up, refund)).run


def drive_again(run, later, *, seconds=60):
    later(seconds=seconds)
    sweeper.sweep()
    engine.execute_run(run.pk)
    return steps.reread(run)


@pytest.mark.parametrize(("at", "calls"), [("start_tool_calls", 2), ("finish_run", 3)])
def test_a_model_is_not_asked_again_for_what_is_committed(
    world, alice, as_agent, monkeypatch, later, at, calls
):
    wishes = [("look_up", '{"order": "7"}'), ("dance", "{}"), ("look_up", '{"sum": 1}')]
    model = Moody(["I look.", wishes], ["It was 58."], ["It was 58, as I said."])
    accepted = start_run(
        agent=as_agent(played_by(model)), request=request("How much?"), actor=alice
    )
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at=at)

    again = drive_again(killed, later)

    assert (again.status, again.attempt) == ("succeeded", 2)
    assert len(model.prompts) == calls
    assert len(texts_of(again)) == 2
    assert texts_of(again)[0] == "1: I look."
    assert [result.get("error", result) for result in steps.results(again)] == [
        "There is no tool 'dance'; use one of: look_up, refund.",
        (
            "look_up cannot take these arguments: order: Field required; "
            "sum: Extra inputs are not permitted"
        ),
        {"paid": 58},
    ]
    roles = [role for role, _ in model.prompts[-1]]
    assert roles == ["user", "assistant", "tool", "tool", "tool"]
    assert model.calls == ['{"order":"7"}', "{}", "{}"]


def test_interrupted_model_output_is_kept_and_the_model_called_again(
    world, alice, as_agent, monkeypatch, later
):
    model = Moody(["Let me ", None], ["It was 58."])
    accepted = start_run(
        agent=as_agent(played_by(model)), request=request("How much?"), actor=alice
    )
    with monkeypatch.context() as dying:
        dying.setattr(run_lease, "append_events", die_behind(run_lease.append_events, "Let me"))
        with pytest.raises(WorkerKilled):
            engine.execute_run(accepted.run.pk)

    again = drive_again(accepted.run, later)

    assert again.status == "succeeded"
    assert texts_of(again) == ["1: Let me ", "2: It was 58."]
    assert steps.event_types(again).count("TEXT_MESSAGE_END") == 2
    assert model.prompts[1] == [("user", "How much?"), ("assistant", "1: Let me ")]


def test_a_pause_is_reached_again_and_gone_on_from(world, alice, bob, as_agent, monkeypatch, later):
    wish = [("refund", '{"amount": 5}')]
    model = Moody([wish], [wish], ["Done."], ["Done, as I said."])
    agent = as_agent(played_by(model))
    accepted = start_run(agent=agent, request=request("Refund it."), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
    model_calls = drive_again(killed, later)
    steps.approve(open_interrupts(model_calls)[0], bob)
    resume = Run.objects.get(resumes=model_calls)
    killed = kill_while_driving(resume, monkeypatch=monkeypatch, at="finish_run")

    again = drive_again(killed, later, seconds=120)

    assert again.status == "succeeded"
    assert steps.results(again) == ["refunded"]
    assert texts_of(again) == ["4: Done, as I said."]
    assert tool_effects == ["5", "5"]


def test_retried_run_continues_after_the_stored_model_output(world, alice, as_agent):
    class Away(Exception):
        """The model's server is not there."""

    class Failing(Moody):
        async def answer(self, **options):
            if len(self.prompts) == 1 and not self.has_failed:
                self.has_failed = True
                raise Away
            async for part in super().answer(**options):
                yield part

    model = Failing([[("look_up", '{"order": "7"}')]], ["It was 58."])
    model.has_failed = False
    failed = start(world, "How much?", agent=as_agent(played_by(model)))
    assert failed.status == "failed"

    again = steps.drive(engine.retry_run(failed.pk, alice))

    assert again.status == "succeeded"
    assert tool_effects == ["7"]
    assert len(model.prompts) == 2
