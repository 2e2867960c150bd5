"""Recordings of real servers: they are asked about, and get the answers that they read."""

import json

import pytest

from tests.support.agents.doubles import Stage
from tests.support.agents.vendor_servers import ARGS, RECORDINGS, Server, body_of, remote

#: Its flow asks in words, without a call.
FLOWS = {"crewai"}
SERVERS = {
    "adk",
    "adk-outcome",
    "ag2",
    "agent-framework",
    "agno",
    "crewai",
    "genkit",
    "langgraph",
    "langgraph-outcome",
    "openai-agents",
    "pydantic-ai",
    "strands",
}


@pytest.mark.parametrize("name", sorted(SERVERS))
async def test_a_server_is_asked_about_and_reads_the_answer(name):
    recording = json.loads((RECORDINGS / f"{name}.json").read_text())
    server = Server(*(run["events"] for run in recording["runs"]))
    stage = Stage(remote(server), repeats_calls=True)

    await stage.say("refund")
    (interrupt,) = stage.interrupts
    if name not in FLOWS:
        proposal = stage.journal.proposals[interrupt.tool_call_id]
        assert (proposal.name, proposal.args) == ("issue_refund", ARGS)
    assert [interrupt.model_dump(by_alias=True, exclude_none=True)] == recording["asked"]
    await stage.answer(recording["answer"])

    assert stage.outcome == "success"
    assert list(map(body_of, server.requests)) == [run["sent"] for run in recording["runs"]]
    assert recording["ran"] == [{"tool": "issue_refund", "args": ARGS}]


def test_each_recording_is_replayed():
    assert {path.stem for path in RECORDINGS.glob("*.json")} == SERVERS
