"""The registry of agents by name; an agent is imported when it is first used."""

import os
from importlib import import_module

from agents.adapters.in_process import FRAMEWORKS, InProcessAgent
from agents.port import Agent

_BUILT_IN = {
    "rehearsal": "agents.demo_agent.agent:build",
    "refund-desk": "agents.examples.refund_desk:refund_desk",
    "release-train": "agents.examples.release_train:release_train",
    "database-steward": "agents.examples.database_steward:database_steward",
    "onboarding": "agents.examples.onboarding:onboarding",
    "importer": "agents.examples.error_recovery:importer",
    "expense-desk": "agents.examples.expenses:expense_desk",
    "treasury": "agents.examples.policy_hold:treasury",
    "showcase": "agents.examples.showcase:showcase",
}

#: The variable with custom agents, separated by commas: `my_agents:refund_desk` is the agent
#: refund-desk, and `langgraph+my_graphs:refund_desk` one written with that framework.
AGENTS_SETTING = "SIGNOFF_AGENTS"

_agents: dict[str, Agent] = {}


class UnknownAgent(LookupError):
    """No agent has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no agent '{name}'; choose one of: {', '.join(names())}.")


class UnknownFramework(UnknownAgent):
    """There is no adapter for this framework."""

    def __init__(self, framework: str) -> None:
        LookupError.__init__(
            self, f"There is no adapter for {framework!r}; choose one of: {', '.join(FRAMEWORKS)}."
        )


def get(name: str) -> Agent:
    """
    Return the agent of this name, the same object every time.

    Raises:
        UnknownAgent: it is not registered, or its framework has no adapter.
    """
    agent = _agents.get(name)
    if agent is None:
        paths = _BUILT_IN | configured_agents()
        if name not in paths:
            raise UnknownAgent(name)
        agent = _agents[name] = _load(paths[name])
    return agent


def names() -> list[str]:
    """List the names of all agents, sorted, without importing them."""
    return sorted(_BUILT_IN.keys() | configured_agents().keys() | _agents.keys())


def configured_agents() -> dict[str, str]:
    """Return the agents of SIGNOFF_AGENTS: name -> path."""
    paths = [path.strip() for path in os.environ.get(AGENTS_SETTING, "").split(",") if path.strip()]
    return {agent_name(path): path for path in paths}


def agent_name(path: str) -> str:
    """Return the name of the agent at "module:attribute"."""
    return path.partition(":")[2].replace("_", "-")


def register(agent: Agent) -> None:
    """Add an agent under its own name; an earlier one of that name is replaced."""
    _agents[agent.name] = agent


def _load(path: str) -> Agent:
    framework, _, framework_path = path.rpartition("+")
    if framework and framework not in FRAMEWORKS:
        raise UnknownFramework(framework)
    if framework:
        return InProcessAgent(agent_name(framework_path), framework, framework_path)
    module, _, attribute = path.partition(":")
    target = getattr(import_module(module), attribute)
    # A workflow is an agent already; others are built by a function.
    agent: Agent = target if hasattr(target, "run") else target()
    return agent
