"""Fixtures for the agent side: a rehearsal agent on a thread of its own, and its ledger."""

import pytest

from agents.demo_agent.agent import build
from tests.support.agents.doubles import Stage, fixed_clock


@pytest.fixture
def ledger_file(tmp_path, monkeypatch):
    path = tmp_path / "ledger" / "rehearsal.sqlite3"
    monkeypatch.setenv("SIGNOFF_LEDGER", str(path))
    return path


@pytest.fixture
def stage(ledger_file):
    return Stage(build(fixed_clock()))
