"""What is Genkit's own: models that do not stream, and tools that look at how they were resumed."""

import json

import pytest

from agents import registry
from agents.adapters.in_process import InProcessAgent
from inbox.actions.people.provisioning import ensure_agent
from inbox.rules.people.access import SEED
from tests.integration.adapters.test_framework_desks import answers
from tests.support.agents import genkit_prompts
from tests.support.steps import (
    answer,
    open_interrupts,
    resumed_run,
    start,
)


@pytest.fixture
def shell(world, monkeypatch):
    monkeypatch.setattr(registry, "_agents", {})
    genkit_prompts.seen.clear()
    registry.register(
        InProcessAgent("shell", "genkit", "tests.support.agents.genkit_prompts:shell")
    )
    return ensure_agent(
        team=world.team, slug="shell", implementation="shell", description="", actor=SEED
    )


def test_text_of_a_model_that_does_not_stream_is_told(world, shell, bob):
    run = start(world, "go", agent=shell)
    (interrupt,) = open_interrupts(run)
    answer(interrupt, bob, {"approved": True})

    resumed = resumed_run(run)

    assert answers(run) == "Let me see."
    assert answers(resumed) == "Heard ran ls, ran rm."


def test_calls_of_one_answer_stand_in_the_message_of_its_text(world, shell):
    run = start(world, "go", agent=shell)

    messages = [
        message for message in json.loads(run.thread.messages) if message["role"] == "assistant"
    ]

    assert [(message["content"], len(message["toolCalls"])) for message in messages] == [
        ("Let me see.", 2)
    ]


def test_tool_of_the_specification_is_approved_once(world, shell, bob):
    run = start(world, "go", agent=shell)
    (interrupt,) = open_interrupts(run)
    answer(interrupt, bob, {"approved": True, "reason": "Only here."})

    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert genkit_prompts.seen[-1]["toolApproved"] is True
    assert genkit_prompts.seen[-1]["reason"] == "Only here."
