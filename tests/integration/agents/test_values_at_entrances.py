"""Values that JSON or a database cannot hold, at each entrance of agents: no run fails."""

import json
from collections import UserList
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import ag_ui.core as agui
import pytest

from agents import registry
from agents.adapters.in_process import InProcessAgent
from agents.agui import strict_json
from agents.sdk.tools import tool
from agents.sdk.workflow import workflow
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.people.provisioning import ensure_agent
from inbox.rules.people.access import SEED
from tests.support.agents import vendor_servers
from tests.support.agents.agent_events import (
    about,
    asking,
    error_of,
    finished,
    message_events,
    proposed,
)
from tests.support.agents.remote_agent_server import elsewhere, new_address
from tests.support.steps import answer, approve, events, open_interrupts, resumed_run, start
from tests.web.conftest import reads_bob

__all__ = ["elsewhere", "new_address", "reads_bob"]


@dataclass(frozen=True)
class Receipt:
    """A class of an author."""

    scan: bytes


def nested(levels):
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


#: A value of an agent, and what it is stored and shown as.
VALUES = {
    "NaN": (float("nan"), "NaN"),
    "infinities": ([float("inf"), -float("inf")], ["Infinity", "-Infinity"]),
    "NUL": ("a\0b", "a\\u0000b"),
    "lone surrogate": ({"\udfff": "a\ud800b"}, {"\\udfff": "a\\ud800b"}),
    "integer of 64 bits": (9007199254740993123, 9007199254740993123),
    "integer of 5,000 digits": (10**4999, "1" + "0" * 4999),
    "bytes": ([b"caf\xc3\xa9", b"\xff\0"], ["café", "/wA="]),
    "decimal and time": (
        [Decimal("1.10"), datetime(2026, 1, 2, tzinfo=UTC)],
        ["1.10", "2026-01-02T00:00:00Z"],
    ),
    "names that are no text": ({1: 2, b"\xff": 3}, {"1": 2, "/w==": 3}),
    "object of a class": ([Receipt(b"\xff"), UserList()], [{"scan": "_w=="}, "[]"]),
    "set": ({"a"}, ["a"]),
    "nested deep": ({"a": nested(400)}, None),
}
#: JSON text can hold NUL and lone surrogates as escapes, and so tools' results keep them.
RESULTS = VALUES | {name: (VALUES[name][0], VALUES[name][0]) for name in ("NUL", "lone surrogate")}
TABLE = pytest.mark.parametrize(("value", "stored"), VALUES.values(), ids=VALUES)


def is_stored(value, stored):
    """Return whether the value is the stored one; of those nested deep the end is text."""
    if stored is not None:
        return json.dumps(value) == json.dumps(stored)
    return "[1]" in strict_json.dumps(value)


def in_interrupts(run_input, value):
    yield asking(run_input, agui.Interrupt(id="i", reason="acme:ask", metadata={"at": value}))


def in_state(run_input, value):
    yield agui.StateSnapshotEvent(snapshot={"at": value})
    yield finished(run_input)


def in_patches(run_input, value):
    yield agui.StateDeltaEvent(delta=[{"op": "add", "path": "/at", "value": value}])
    yield finished(run_input)


def in_custom_events(run_input, value):
    yield agui.CustomEvent(name="acme", value={"at": value})
    yield finished(run_input)


def in_activities(run_input, value):
    yield agui.ActivitySnapshotEvent(message_id="a", activity_type="x", content={"at": value})
    yield finished(run_input)


def in_metadata(run_input, value):
    yield agui.TextMessageStartEvent(message_id="m", role="assistant", metadata={"at": value})
    yield agui.TextMessageEndEvent(message_id="m")
    yield finished(run_input)


def in_results(run_input, value):
    yield agui.RunFinishedEvent(
        thread_id=run_input.thread_id, run_id=run_input.run_id, result={"at": value}
    )


def members_at(value):
    """Yield each value that is called `at` or whose JSON pointer is /at, at any depth."""
    if isinstance(value, dict):
        if value.get("path") == "/at":
            yield value["value"]
        yield from (member for name, member in value.items() if name == "at")
        for member in value.values():
            yield from members_at(member)
    elif isinstance(value, list):
        for item in value:
            yield from members_at(item)


EVENTS = [
    in_interrupts,
    in_state,
    in_patches,
    in_custom_events,
    in_activities,
    in_metadata,
    in_results,
]


@TABLE
@pytest.mark.parametrize("entrance", EVENTS)
def test_events_of_agents_are_stored_as_json(world, as_agent, entrance, value, stored):
    async def play(run_input, context):
        for event in entrance(run_input, value):
            yield event

    run = start(world, "go", agent=as_agent(play))

    assert run.status in {"succeeded", "interrupted"}, error_of(run)
    (first, *_) = members_at(events(run.thread_id))
    assert is_stored(first, stored)


def test_texts_of_events_keep_what_a_database_refuses(world, as_agent, bob):
    async def play(run_input, context):
        if run_input.resume:
            yield agui.RunErrorEvent(message="Lost a\0b", code="LO\0ST")
            return
        for event in (*message_events("a\0b"), *proposed(args='{"amount": "a\0b"}')):
            yield event
        yield agui.ToolCallResultEvent(message_id="r", tool_call_id="c1", content="a\0b")
        for event in proposed("c2"):
            yield event
        yield asking(run_input, about("c2", message="Pay a\0b?"))

    run = start(world, "go", agent=as_agent(play))
    (interrupt,) = open_interrupts(run)
    approve(interrupt, bob)
    resumed = resumed_run(run)

    assert interrupt.message == "Pay a\\u0000b?"
    assert json.loads(run.tool_calls.order_by("pk")[0].args) == {"amount": "a\0b"}
    assert error_of(resumed)["message"] == "Lost a\\u0000b"
    assert error_of(resumed)["code"] == resumed.error_code == "LO\\u0000ST"


def outcomes_of(world, function, **options):
    """Run a workflow as an agent of the team."""
    agent = workflow(name=f"author-{uuid4().hex}", description="Asks.", **options)(function)
    registry.register(agent)
    row = ensure_agent(
        team=world.team, slug=agent.name, implementation=agent.name, description="", actor=SEED
    )
    return start(world, "go", agent=row)


@pytest.mark.parametrize(("value", "stored"), RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("effect", ["once", "idempotent"])
def test_results_of_tools_of_the_sdk_are_json(world, value, stored, effect):
    deliveries = []

    @tool(effect=effect)
    def measure() -> Any:
        """Measure."""
        return {"at": value}

    async def author(ctx):
        outcome = await ctx.call(measure)
        deliveries.append(outcome.value["at"])

    run = outcomes_of(world, author, tools=[measure])

    assert run.status == "succeeded", error_of(run)
    assert is_stored(deliveries[0], stored)


def test_texts_of_tools_that_are_annotated_are_json(world):
    @tool(effect="once")
    def read() -> str:
        """Read."""
        return "a\ud800b"

    async def author(ctx):
        await ctx.emit_text("a\ud800b\0")
        await ctx.progress("a\ud800b")
        outcome = await ctx.call(read)
        await ctx.emit_text(outcome.value)

    run = outcomes_of(world, author, tools=[read])

    assert run.status == "succeeded", error_of(run)
    texts = [event["delta"] for event in events(run.thread_id) if "delta" in event]
    assert texts == ["a\\ud800b\\u0000", "{}", "a\\ud800b"]


@TABLE
def test_states_and_questions_of_the_sdk_are_json(world, bob, value, stored):
    states = []

    async def author(ctx):
        await ctx.update_state(at=value)
        await ctx.interrupt("Is a\ud800\0b right?", metadata={"at": value})
        states.append(ctx.state["at"])

    run = outcomes_of(world, author)
    assert run.status == "interrupted", error_of(run)
    (interrupt,) = open_interrupts(run)
    answer(interrupt, bob, "yes")
    resumed = resumed_run(run)

    assert resumed.status == "succeeded", error_of(resumed)
    assert interrupt.message == "Is a\\ud800\\u0000b right?"
    assert is_stored(next(members_at(json.loads(interrupt.body))), stored)
    assert is_stored(states[0], stored)


#: An event of a remote agent as text, and what people see of it.
TEXTS = {
    "NaN": ("[NaN, -Infinity, 1e999]", ["NaN", "-Infinity", "Infinity"]),
    "NUL": ('"a\\u0000b"', "a\\u0000b"),
    "lone surrogate": ('{"\\ud800": "a\\udfffb"}', {"\\ud800": "a\\udfffb"}),
    "integer of 64 bits": ("9007199254740993123", 9007199254740993123),
    "integer of 5,000 digits": ("1" * 5_000, "1" * 5_000),
    "name that comes twice": ('{"a": 1, "a": 2}', {"a": 2}),
    "nested deep": ("[" * 400 + "1" + "]" * 400, None),
    "20,000 values": (json.dumps(list(range(20_000))), list(range(20_000))),
}


@pytest.mark.parametrize(("text", "stored"), TEXTS.values(), ids=TEXTS)
def test_events_of_remote_agents_are_stored_as_json(world, bob, elsewhere, text, stored):
    ending = json.dumps(
        vendor_servers.finished(
            outcome={
                "type": "interrupt",
                "interrupts": [{"id": "i", "reason": "acme:ask", "metadata": {"at": "VALUE"}}],
            }
        )
    )
    state = '{"type": "STATE_SNAPSHOT", "snapshot": {"at": VALUE}}'
    elsewhere.runs = [
        [
            vendor_servers.started(),
            state.replace("VALUE", text),
            ending.replace('"VALUE"', text),
        ],
        [vendor_servers.started(), vendor_servers.finished()],
    ]
    agent = set_remote_agent(
        team_id=world.team.pk, slug="elsewhere", url=elsewhere.url, headers={}, actor=SEED
    ).agent
    run = start(world, "go", agent=agent)
    assert run.status == "interrupted", error_of(run)
    answer(open_interrupts(run)[0], bob, "yes")
    resumed = resumed_run(run)

    assert resumed.status == "succeeded", error_of(resumed)
    values = [*members_at(events(run.thread_id))]
    assert len(values) >= 3
    assert all(is_stored(value, stored) for value in values)
    assert is_stored(elsewhere.sent[1]["state"]["at"], stored)


@pytest.fixture
def as_framework(world, monkeypatch):
    """Put an agent of a framework behind an address; returns the agent's row."""
    from tests.support.agents import langgraph_graphs

    monkeypatch.setattr(registry, "_agents", {})

    def install(framework: str, target: Any) -> Any:
        monkeypatch.setattr(langgraph_graphs, "target", target)
        path = "tests.support.agents.langgraph_graphs:target"
        registry.register(InProcessAgent("desk", framework, path))
        return ensure_agent(
            team=world.team, slug="desk", implementation="desk", description="", actor=SEED
        )

    return install


#: What the frameworks themselves take: they store values and give them to a model.
OF_FRAMEWORKS = {
    name: case
    for name, case in VALUES.items()
    if name
    not in {"NUL", "lone surrogate", "integer of 5,000 digits", "object of a class", "nested deep"}
}
FRAMEWORK_TABLE = pytest.mark.parametrize(
    ("value", "stored"), OF_FRAMEWORKS.values(), ids=OF_FRAMEWORKS
)


@FRAMEWORK_TABLE
def test_values_that_graphs_ask_about_are_json(world, as_framework, bob, value, stored):
    from langchain_core.messages import AIMessage
    from langgraph.types import interrupt

    from tests.support.agents.langgraph_graphs import one_node

    def node(_state: Any) -> Any:
        interrupt({"question": "Is a\0b right?", "at": value})
        return {"messages": [AIMessage("a\0b")]}

    run = start(world, "go", agent=as_framework("langgraph", one_node(node)))
    assert run.status == "interrupted", error_of(run)
    (question,) = open_interrupts(run)
    answer(question, bob, "yes")
    resumed = resumed_run(run)

    assert resumed.status == "succeeded", error_of(resumed)
    assert is_stored(next(members_at(json.loads(question.body))), stored)
    assert question.message == "Is a\\u0000b right?"


@FRAMEWORK_TABLE
def test_results_of_graph_tools_are_text(world, as_framework, value, stored):
    from tests.support.agents.langgraph_graphs import call, classic, wants

    def measure() -> Any:
        """Measure."""
        return {"at": value}

    graph = classic(wants(call("measure")), "a\ud800b", tools=[measure])
    run = start(world, "go", agent=as_framework("langgraph", graph))

    assert run.status == "succeeded", error_of(run)


@FRAMEWORK_TABLE
def test_results_of_pydantic_ai_tools_are_json(world, as_framework, value, stored):
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel(custom_output_text="a\0b"))

    @agent.tool_plain(metadata={"effect": "once"})
    def measure() -> Any:
        """Measure."""
        return {"at": value}

    run = start(world, "go", agent=as_framework("pydantic-ai", agent))

    assert run.status == "succeeded", error_of(run)
    (result,) = run.events.filter(type="TOOL_CALL_RESULT")
    assert is_stored(json.loads(json.loads(result.body)["content"])["at"], stored)
