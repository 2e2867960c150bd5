"""The refund desks of agents/examples that are written with other frameworks."""

from types import SimpleNamespace
from typing import Any

import pytest

from agents import registry
from agents.adapters.in_process import InProcessAgent
from agents.examples import desk
from inbox.actions.people.provisioning import ensure_agent
from inbox.rules.people.access import SEED

DESKS = {
    "pydantic-ai": "agents.examples.pydantic_ai_desk:pydantic_refunds",
    "maf": "agents.examples.maf_desk:maf_refunds",
    "genkit": "agents.examples.genkit_desk:genkit_refunds",
    "langgraph": "agents.examples.langgraph_desk:langgraph_refunds",
}


@pytest.fixture(params=DESKS)
def refunds(request, world, monkeypatch):
    """One of them as an agent of the team, and what it has paid."""
    path = DESKS[request.param]
    monkeypatch.setenv(registry.AGENTS_SETTING, f"{request.param}+{path}")
    monkeypatch.setattr(registry, "_agents", {})
    desk.paid.clear()
    name = registry.agent_name(path)
    agent = ensure_agent(
        team=world.team, slug=name, implementation=name, description="", actor=SEED
    )
    # What needs nobody waits for the calls beside it that need somebody.
    goes_ahead = request.param != "maf"
    return SimpleNamespace(agent=agent, paid=desk.paid, goes_ahead=goes_ahead)


@pytest.fixture
def as_graph(world, monkeypatch):
    """Put a graph of LangGraph, or what makes one, behind an address; returns the agent's row."""
    monkeypatch.setattr(registry, "_agents", {})
    desk.paid.clear()

    def install(target: Any) -> Any:
        from tests.support.agents import langgraph_graphs

        monkeypatch.setattr(langgraph_graphs, "target", target)
        registry.register(
            InProcessAgent("graph", "langgraph", "tests.support.agents.langgraph_graphs:target")
        )
        return ensure_agent(
            team=world.team, slug="graph", implementation="graph", description="", actor=SEED
        )

    return install
