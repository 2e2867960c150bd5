"""Recordings of real servers: they are asked about, and get the answers that they read."""

import json
from pathlib import Path

import pytest

from tests.support.agents.vendor_servers import body_of, interrupted_stage

RECORDINGS = sorted((Path(__file__).parents[4] / "support/agents/recordings").glob("*.json"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
async def test_a_server_gets_what_its_package_read_back(path):
    recording = json.loads(path.read_text())
    request, resume = recording["runs"]
    stage, server = await interrupted_stage(request["events"], resume["events"])

    await stage.answer(recording["answer"])

    sent = body_of(server.requests[-1])
    expected = resume["sent"]
    assert stage.outcome == "success"
    assert recording["ran"] == [{"tool": "issue_refund", "args": {"order": "A1", "amount": 47.5}}]
    for name in ("interruptId", "status", "payload"):
        entries = [entry.get(name) for entry in sent.get("resume") or ()]
        assert entries == [entry.get(name) for entry in expected.get("resume") or ()]
    if "message" in expected:
        assert sent["messages"][-1] == expected["message"]


def test_there_are_recordings_of_servers():
    assert [path.stem for path in RECORDINGS] == ["ag2", "strands"]
