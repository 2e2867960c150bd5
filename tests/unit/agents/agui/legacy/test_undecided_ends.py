"""
An end that nobody decided releases nothing, however an agent reads its answer.

A cancelled and an expired request are the same to an agent: an entry with the status "cancelled".
"""

import json
from pathlib import Path

import pytest

from agents.adapters.in_process import FRAMEWORKS
from agents.agui.legacy.dialects import Dialect
from agents.agui.legacy.servers import SERVERS
from tests.support.agents import vendor_servers
from tests.support.agents.doubles import cancelled
from tests.support.agents.gates import GATES, OF_SCHEMA, READS, releases
from tests.support.agents.vendor_servers import (
    LANGGRAPH_IDS,
    SCHEMA,
    finished,
    interrupted_stage,
    started,
)

QUESTION = {"message": "Do you approve the transfer?"}
DECLARED = {**QUESTION, "responseSchema": SCHEMA}


def pauses(value, name=LANGGRAPH_IDS[0]):
    return [started(), vendor_servers.on_interrupt(value, name), finished()]


def outcome_of_langgraph(value):
    interrupt = {"id": LANGGRAPH_IDS[0], "reason": "confirmation", "message": "Go on?"}
    interrupt["metadata"] = {"langgraph": {"raw": value}}
    return [started(), finished(outcome={"type": "interrupt", "interrupts": [interrupt]})]


def of_mastra(**more):
    return pauses({"type": "mastra_suspend", "toolCallId": "tc-1", "runId": "r", **more}, "")


FEEDBACK = {"id": "f", "reason": "crewai:human_feedback", "message": "Refund?"}
FEEDBACK["metadata"] = {"crewai": {"flowId": "f"}}


def of_crewai(end):
    return [started(), {"type": "CUSTOM", "name": "on_interrupt", "value": FEEDBACK}, end]


def about_a_call(**more):
    interrupt = {"id": "i", "reason": "tool_call", "toolCallId": "tc-1", **more}
    outcome = {"type": "interrupt", "interrupts": [interrupt]}
    return [started(), *vendor_servers.call(), finished(outcome=outcome)]


def of_google():
    original = {"id": "tc-1", "name": "issue_refund", "args": vendor_servers.ARGS}
    adk = {"originalFunctionCall": original, "toolConfirmation": {}}
    calls = vendor_servers.call("adk_request_confirmation", "adk-tc-1", adk)
    return [started(), *vendor_servers.call(), *calls, finished()]


def of_microsoft():
    kind = {"agent_framework": {"type": "function_approval_request"}}
    return about_a_call(metadata=kind, responseSchema=SCHEMA)


#: What an agent sends -> whether its schema says that it reads `approved`.
ASKS = {
    "langgraph, words": (pauses("Do you approve the transfer?"), False),
    "langgraph, an object": (pauses(QUESTION), False),
    "langgraph, a kind": (pauses({**QUESTION, "kind": "refund_approval"}), False),
    "langgraph, options": (pauses({**QUESTION, "options": ["approve", "reject"]}), False),
    "langgraph, a schema": (pauses(DECLARED), True),
    "langgraph, an outcome": (outcome_of_langgraph(QUESTION), False),
    "langgraph, an outcome with a schema": (outcome_of_langgraph(DECLARED), True),
    "mastra": (of_mastra(suspendPayload=QUESTION), False),
    "mastra, a schema": (of_mastra(resumeSchema=json.dumps(SCHEMA)), True),
    "draft, words": (vendor_servers.draft_asks("Do you approve?"), False),
    "draft, a proposal": (
        vendor_servers.draft_asks({"proposal": {"args": {}}}, reason="human_approval"),
        False,
    ),
    "draft, a call": (
        vendor_servers.draft_asks({"functionName": "pay", "functionArguments": {}}, id="i"),
        True,
    ),
    "canonical": (vendor_servers.canonical_asks("tc-1"), False),
    "crewai": (of_crewai(finished()), False),
    "crewai, an outcome": (
        of_crewai(finished(outcome={"type": "interrupt", "interrupts": [FEEDBACK]})),
        False,
    ),
    "claude": (about_a_call(reason="tool_approval"), False),
    "dotnet": (about_a_call(id="ficc_tc-1", responseSchema=SCHEMA), False),
    "ag2": (about_a_call(metadata={"ag2": {"proof": "p"}}), False),
    "agno": ([started(), *vendor_servers.call(), finished()], True),
    "google": (of_google(), True),
    "microsoft": (of_microsoft(), True),
    "canonical, a schema": (vendor_servers.canonical_asks("tc-1", schema=SCHEMA), False),
}


def answer_in(body):
    """Return what the agent's code gets for its question; None if it gets none."""
    command = (body.get("forwardedProps") or {}).get("command") or {}
    if "interruptEvent" in command and command["resume"] is False:
        return None  # Mastra's bridge ends the run, and does not resume the call
    if "resume" in command:
        answer = command["resume"]
        is_map = isinstance(answer, dict) and answer.keys() <= set(LANGGRAPH_IDS)
        return next(iter(answer.values())) if is_map else answer
    resume = body.get("resume")
    if resume is None:  # a tool message answers an open call
        return json.loads(body["messages"][-1]["content"])
    if isinstance(resume, dict):
        return resume["payload"]
    (entry,) = resume
    return entry.get("payload")


CASES = [
    (question, gate)
    for question, (_, reads_approved) in ASKS.items()
    for gate in GATES
    if gate in OF_SCHEMA or not reads_approved
]


@pytest.mark.parametrize(("question", "gate"), CASES)
async def test_an_end_that_nobody_decided_releases_nothing(question, gate):
    events, _ = ASKS[question]
    stage, server = await interrupted_stage(events, [started(), finished()])

    await stage.answer(cancelled(stage.interrupts[0]))

    if len(server.requests) == 1:  # the agent was not resumed
        assert stage.outcome == "cancelled"
        return
    assert not releases(gate, answer_in(server.last))


#: Questions that are no calls; CrewAI is answered in words.
QUESTIONS = [name for name in ASKS if name.startswith(("langgraph", "mastra", "draft, words"))]


@pytest.mark.parametrize("gate", READS)
@pytest.mark.parametrize("question", ASKS)
async def test_a_rejection_releases_nothing(question, gate):
    events, _ = ASKS[question]
    stage, server = await interrupted_stage(events, [started(), finished()])

    await stage.answer({"approved": False, "reason": "no"})

    assert not releases(gate, answer_in(server.last))


@pytest.mark.parametrize("gate", ["if answer", *READS])
@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_plain_no_is_false(question, gate):
    events, _ = ASKS[question]
    stage, server = await interrupted_stage(events, [started(), finished()])

    await stage.answer(False)

    assert not releases(gate, answer_in(server.last))


#: How the table of the documentation names dialects and servers.
NAMES = {
    Dialect.CANONICAL: "AG-UI 1.0",
    Dialect.DRAFT: "draft",
    Dialect.LANGGRAPH: "LangGraph",
    Dialect.MASTRA: "Mastra",
    Dialect.GOOGLE: "Google",
    Dialect.MICROSOFT: "Microsoft",
    Dialect.RESULTS: "open calls",
    "ag-ui-claude-sdk": "Claude Agent SDK",
    "ag2": "AG2",
    "AGUI.Server (.NET)": ".NET",
    "any with `toolCall` in its schema": "others with `toolCall` in the schema",
    "ag-ui-crewai": "CrewAI",
}


def test_the_documentation_has_the_ends_of_each_dialect_and_adapter():
    text = (Path(__file__).parents[5] / "docs/agents.md").read_text()
    table = text.partition("| Asked by | Rejection | Cancelled or expired |")[2].partition("\n\n")[
        0
    ]
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    in_worker = [row.removesuffix(" in the worker") for row in rows if row.endswith("the worker")]
    remote = [row for row in rows if not row.endswith("the worker")]

    expected = {NAMES[key] for key in (*Dialect, *(server.package for server in SERVERS))}

    assert expected <= set(", ".join(remote).split(", "))
    assert {framework.title for framework in FRAMEWORKS.values()} == set(
        ", ".join(in_worker).replace(" and ", ", ").split(", ")
    )
    assert "SDK" in remote


async def test_each_dialect_is_asked():
    dialects = set()
    for events, _ in ASKS.values():
        stage, _ = await interrupted_stage(events)
        dialects.add(stage.run.saved["dialect"])

    assert dialects == set(Dialect)
