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
    "'approve' in str(answer).split()": lambda answer: "approve" in str(answer).split(),
}
#: Those of agents whose schema has `approved`, so that they read it.
OF_SCHEMA = {"answer['approved']", "answer.get('approved')", "answer is True"}

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
    if isinstance(resume, dict):
        return resume["payload"]
    (entry,) = resume
    assert entry["status"] == "cancelled"
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
