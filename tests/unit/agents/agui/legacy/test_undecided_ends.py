"""
An end that nobody decided releases nothing, however an agent reads its answer.

A cancelled and an expired request are the same to an agent: an entry with the status "cancelled".
"""

import json

import pytest

from tests.support.agents import vendor_servers
from tests.support.agents.doubles import cancelled
from tests.support.agents.vendor_servers import (
    LANGGRAPH_IDS,
    SCHEMA,
    finished,
    interrupted_stage,
    started,
)

#: How agents ask whether they may go on; an exception is no release.
GATES = {
    "if answer": bool,
    "if answer is not None": lambda answer: answer is not None,
    "answer['approved']": lambda answer: answer["approved"],
    "answer.get('approved')": lambda answer: answer.get("approved"),
    "answer == 'yes'": lambda answer: answer == "yes",
    "answer is True": lambda answer: answer is True,
    "answer['type'] == 'approve'": lambda answer: answer["type"] == "approve",
    "answer['type'] == 'accept'": lambda answer: answer["type"] == "accept",
    "answer['behavior'] == 'allow'": lambda answer: answer["behavior"] == "allow",
    "answer.get('accepted')": lambda answer: answer.get("accepted"),
    "'approve' in str(answer).split()": lambda answer: "approve" in str(answer).split(),
}
#: Those of agents whose schema has `approved`, so that they read it.
OF_SCHEMA = {"answer['approved']", "answer.get('approved')", "answer is True"}
OF_SCHEMA |= {"answer.get('accepted')", "answer['behavior'] == 'allow'"}

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


def releases(gate, answer):
    try:
        return bool(gate(answer))
    except (TypeError, KeyError, AttributeError):
        return False


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
    assert not releases(GATES[gate], answer_in(server.last))


#: Questions that are no calls; CrewAI is answered in words.
QUESTIONS = [name for name in ASKS if name.startswith(("langgraph", "mastra", "draft, words"))]
#: Gates that read what a rejection says; the others would take any answer for a yes.
READS = sorted(GATES.keys() - {"if answer", "if answer is not None"})


@pytest.mark.parametrize("gate", READS)
@pytest.mark.parametrize("question", ASKS)
async def test_a_rejection_releases_nothing(question, gate):
    events, _ = ASKS[question]
    stage, server = await interrupted_stage(events, [started(), finished()])

    await stage.answer({"approved": False, "reason": "no"})

    assert not releases(GATES[gate], answer_in(server.last))


@pytest.mark.parametrize("gate", ["if answer", *READS])
@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_plain_no_is_false(question, gate):
    events, _ = ASKS[question]
    stage, server = await interrupted_stage(events, [started(), finished()])

    await stage.answer(False)

    assert not releases(GATES[gate], answer_in(server.last))
