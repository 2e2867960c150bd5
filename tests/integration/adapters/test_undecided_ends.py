"""An end that nobody approved releases nothing of an agent that runs in the worker."""

import pytest

from agents import registry
from agents.adapters.in_process import FRAMEWORKS, InProcessAgent
from agents.sdk.workflow import InterruptReply, ToolOutcome
from inbox import sweeper
from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.runs.cancel_run import cancel_run
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import asking_agents
from tests.support.agents.gates import GATES, OF_SCHEMA, READS, releases
from tests.support.agents.vendor_servers import SCHEMA
from tests.support.steps import open_interrupts, resumed_run, start

SDK = "sdk"
QUESTION = {"message": "Do you approve the transfer?"}
DECLARED = {**QUESTION, "response_schema": SCHEMA}
APPROVAL = {"reason": "tool_call", "message": "Pay?"}
#: Answers that say no, and one that says yes.
WORDS = (False, "yes")
FORM = ({"approved": False, "reason": "no"}, {"approved": True})

#: What asks -> its framework, what makes it, and the answers.
ASKS = {
    "a node, in words": ("langgraph", lambda: asking_agents.of_node("Do you approve?"), WORDS),
    "a node, with an object": ("langgraph", lambda: asking_agents.of_node(QUESTION), WORDS),
    "a node, with a kind": (
        "langgraph",
        lambda: asking_agents.of_node({**QUESTION, "kind": "refund_approval"}),
        FORM,
    ),
    "a node, with options": (
        "langgraph",
        lambda: asking_agents.of_node({**QUESTION, "options": ["yes", "no"]}),
        ("no", "yes"),
    ),
    "a node, with a schema": ("langgraph", lambda: asking_agents.of_node(DECLARED), FORM),
    "a tool, in words": ("langgraph", lambda: asking_agents.of_tool("Do you approve?"), WORDS),
    "a tool, with a schema": ("langgraph", lambda: asking_agents.of_tool(DECLARED), FORM),
    "a tool, for its approval": ("langgraph", lambda: asking_agents.of_tool(APPROVAL), FORM),
    "a tool of Pydantic AI": ("pydantic-ai", asking_agents.of_pydantic_ai, FORM),
    "a tool of Microsoft's": ("maf", asking_agents.of_microsoft, FORM),
    "a tool of Genkit": ("genkit", asking_agents.of_genkit, FORM),
    "a call of the SDK": (SDK, asking_agents.of_sdk_call, FORM),
    "a tool of the SDK": (SDK, asking_agents.of_sdk_tool, FORM),
    "a tool of the SDK, with a schema": (
        SDK,
        lambda: asking_agents.of_sdk_tool(response_schema={"type": "boolean"}),
        (False, True),
    ),
    "a workflow": (
        SDK,
        lambda: asking_agents.of_sdk_question(reason="confirmation"),
        (False, True),
    ),
    "a workflow, with a schema": (
        SDK,
        lambda: asking_agents.of_sdk_question(response_schema=SCHEMA),
        FORM,
    ),
}


@pytest.fixture
def start_asking(world, as_agent, monkeypatch):
    """Start an agent that asks, and return its run."""
    monkeypatch.setattr(registry, "_agents", {})
    asking_agents.answers.clear()

    def begin(name):
        framework, build, _ = ASKS[name]
        if framework == SDK:
            agent = as_agent(build().run)
        else:
            monkeypatch.setattr(asking_agents, "target", build(), raising=False)
            path = "tests.support.agents.asking_agents:target"
            registry.register(InProcessAgent("asker", framework, path))
            agent = ensure_agent(
                team=world.team, slug="asker", implementation="asker", description="", actor=SEED
            )
        return start(world, "go", agent=agent)

    return begin


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("end", ["cancel the request", "cancel the run", "expire"])
def test_no_gate_is_passed_when_nobody_decided(start_asking, bob, later, name, end):
    run = start_asking(name)
    (interrupt,) = open_interrupts(run)

    if end == "cancel the request":
        steps.call_off(interrupt, bob)
    elif end == "cancel the run":
        cancel_run(run_id=run.pk, actor=bob)
    else:
        later(days=8)
        sweeper.sweep()
    resumed_run(run)

    assert not open_interrupts(run)
    gates = OF_SCHEMA if name == "a node, with a schema" else GATES.keys()
    for answer in asking_agents.answers:
        # The SDK's outcomes and replies are objects, which hold the answer.
        is_object = isinstance(answer, ToolOutcome | InterruptReply)
        asks = gates - {"if answer is not None"} if is_object else gates
        assert [gate for gate in asks if releases(gate, answer)] == []


@pytest.mark.parametrize("name", ASKS)
def test_no_gate_that_reads_its_answer_is_passed_by_a_rejection(start_asking, bob, name):
    rejection, _ = ASKS[name][2]
    run = start_asking(name)

    steps.answer(open_interrupts(run)[0], bob, rejection)
    resumed_run(run)

    gates = ["if answer", *READS] if rejection is False else READS
    for answer in asking_agents.answers:
        assert [gate for gate in gates if releases(gate, answer)] == []


@pytest.mark.parametrize("name", ASKS)
def test_an_approval_passes_a_gate(start_asking, bob, name):
    """Otherwise the tests above would hold for an agent that never gets an answer."""
    _, approval = ASKS[name][2]
    run = start_asking(name)

    steps.answer(open_interrupts(run)[0], bob, approval)

    assert resumed_run(run).status == "succeeded"
    assert any(releases(gate, answer) for answer in asking_agents.answers for gate in GATES)


def test_each_framework_that_runs_in_the_worker_is_asked():
    assert {framework for framework, _, _ in ASKS.values()} == {*FRAMEWORKS, SDK}
