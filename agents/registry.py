"""Which agents there are: name -> agent, imported when first asked for."""

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
    "treasury": "agents.examples.policy_hold:treasury",
}

#: Agents of one's own, by comma: `my_agents:refund_desk` is the agent refund-desk, and
#: `langgraph+my_graphs:refund_desk` one that is written with that framework.
AGENTS_SETTING = "SIGNOFF_AGENTS"

_agents: dict[str, Agent] = {}


class UnknownAgent(LookupError):
    """No agent has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no agent '{name}'; there are: {', '.join(names())}.")


class UnknownFramework(UnknownAgent):
    """No adapter is for this framework."""

    def __init__(self, framework: str) -> None:
        LookupError.__init__(
            self, f"No adapter is for {framework!r}; there are: {', '.join(FRAMEWORKS)}."
        )


def get(name: str) -> Agent:
    """
    Return the agent of this name, the same object every time.

    Raises:
        UnknownAgent: nobody registered it, or not under a framework that there is.
    """
    agent = _agents.get(name)
    if agent is None:
        paths = _BUILT_IN | configured_agents()
        if name not in paths:
            raise UnknownAgent(name)
        agent = _agents[name] = _load(paths[name])
    return agent


def names() -> list[str]:
    """List the names of all agents, sorted; nothing is imported for it."""
    return sorted(_BUILT_IN.keys() | configured_agents().keys() | _agents.keys())


def configured_agents() -> dict[str, str]:
    """The agents that SIGNOFF_AGENTS names, each with where it is."""
    paths = [path.strip() for path in os.environ.get(AGENTS_SETTING, "").split(",") if path.strip()]
    return {agent_name(path): path for path in paths}


def agent_name(path: str) -> str:
    """The name of the agent at "module:attribute"."""
    return path.partition(":")[2].replace("_", "-")


def register(agent: Agent) -> None:
    """Add an agent under its own name, in place of an earlier one of that name."""
    _agents[agent.name] = agent


def _build_in_process_agent(framework: str, path: str) -> Agent:
    if framework not in FRAMEWORKS:
        raise UnknownFramework(framework)
    return InProcessAgent(agent_name(path), framework, path)


def _load(path: str) -> Agent:
    framework, _, elsewhere = path.rpartition("+")
    if framework:
        return _build_in_process_agent(framework, elsewhere)
    module, _, attribute = path.partition(":")
    found = getattr(import_module(module), attribute)
    # A workflow is an agent already; others are made by a function.
    agent: Agent = found if hasattr(found, "run") else found()
    return agent
