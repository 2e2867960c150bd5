"""Waiting for a decision: progress, the end of the time, and changes."""

import json
import subprocess
import sys
from uuid import uuid4

import pytest

from inbox.feed import hubs
from inbox.feed.hubs import Hub, hub
from inbox.mcp_server.holds import Progress, hold
from inbox.mcp_server.outcomes import Outcome
from inbox.mcp_server.tools import TOOLS


@pytest.fixture(autouse=True)
def _deaf(monkeypatch):
    """Wake-ups come from the tests."""
    monkeypatch.setattr(Hub, "listen", lambda hub: None)
    monkeypatch.setattr(hubs, "latest_changes", lambda thread_ids: {})


async def test_a_hold_tells_its_progress_and_ends():
    steps = [
        step
        async for step in hold(uuid4(), lambda: None, seconds=0.2, message="Waiting", every=0.05)
    ]

    *progress, last = steps
    assert last is None
    assert all(isinstance(step, Progress) and step.message == "Waiting" for step in progress)
    seconds = [step.seconds for step in progress]
    assert seconds[0] == 0
    assert len(seconds) > 1
    assert seconds == sorted(set(seconds))


async def test_a_hold_of_no_time_reads_once():
    calls = []

    steps = [
        step async for step in hold(uuid4(), lambda: calls.append(1), seconds=0, message="Waiting")
    ]

    assert (len(calls), steps[-1]) == (1, None)


async def test_a_hold_reads_again_after_a_change():
    thread_id = uuid4()
    calls = []

    def read():
        calls.append(1)
        return "decided" if len(calls) == 2 else None

    steps = []
    async for step in hold(thread_id, read, seconds=60, message="Waiting", every=0.01):
        steps.append(step)
        if len(steps) == 3:
            hub()._dispatch({"type": "wakeup.team", "team": "", "thread": str(thread_id)})

    assert (steps[-1], len(calls)) == ("decided", 2)


def test_claude_code_is_told_to_repeat_a_call_that_nobody_has_answered():
    members = {"status": "open", "request_id": "r", "url": "https://signoff.example.com/threads/t/"}

    result = TOOLS["approve_tool"].result(Outcome("Nobody has answered yet.", members))

    permission = json.loads(result["content"][0]["text"])
    assert permission["behavior"] == "deny"
    assert "Issue the same call again" in permission["message"]
    assert members["url"] in permission["message"]


def test_the_types_of_mcp_are_loaded_with_the_first_message_only():
    script = "import sys, inbox.config.asgi; print('mcp_types' in sys.modules)"

    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert printed.stdout.splitlines()[-1] == "False"
