"""The refund desks of agents/examples that are written with other frameworks."""

from types import SimpleNamespace

import pytest

from agents import registry
from agents.examples import desk
from inbox.actions.people import ensure_agent
from inbox.domain.access import SEED

DESKS = {"pydantic-ai": "agents.examples.pydantic_ai_desk:refunds"}


@pytest.fixture(params=DESKS)
def refunds(request, world, monkeypatch):
    """One of them as an agent of the team, and what it has paid."""
    path = DESKS[request.param]
    monkeypatch.setenv(registry.OWN_AGENTS, f"{request.param}+{path}")
    monkeypatch.setattr(registry, "_agents", {})
    desk.paid.clear()
    agent = ensure_agent(
        team=world.team, slug="refunds", implementation="refunds", description="", actor=SEED
    )
    return SimpleNamespace(agent=agent, paid=desk.paid, framework=request.param)
