"""Agents are found by name, and imported no earlier than that."""

import subprocess
import sys
from pathlib import Path

import pytest

from agents import registry
from tests.support.agents.doubles import fixed_clock

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def forget_registrations(monkeypatch):
    monkeypatch.setattr(registry, "_agents", {})


def test_the_rehearsal_agent_is_built_in():
    assert "rehearsal" in registry.names()
    assert registry.get("rehearsal").name == "rehearsal"


def test_an_agent_is_made_once():
    assert registry.get("rehearsal") is registry.get("rehearsal")


def test_an_unknown_agent_is_refused_with_the_names_of_the_others():
    with pytest.raises(
        registry.UnknownAgent, match=r"no agent 'nobody'; choose one of: .*rehearsal"
    ):
        registry.get("nobody")


def test_an_agent_can_be_registered_under_its_own_name():
    from agents.sdk.scripted import ScriptedAgent

    mine = ScriptedAgent("mine", "Does nothing.", lambda _: "", lambda _: [], clock=fixed_clock())

    registry.register(mine)

    assert registry.get("mine") is mine
    assert "mine" in registry.names()


def test_agents_are_not_imported_before_somebody_asks():
    program = (
        "import sys; from agents import registry; registry.names();"
        "assert 'agents.demo_agent.agent' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_the_agent_side_needs_no_django():
    program = (
        "import sys; from agents import registry; registry.get('rehearsal');"
        "bad = {'django', 'celery', 'channels', 'inbox'} & set(sys.modules); assert not bad, bad"
    )

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
