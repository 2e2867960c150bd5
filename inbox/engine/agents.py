"""Finding the agent that a row names, in the registry or at a remote address."""

import subprocess
import sys
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.conf import settings

from agents import registry
from agents.adapters.remote.probe_report import human_in_the_loop
from agents.adapters.remote.remote_agent import RemoteAgent
from agents.port import Agent
from inbox.platform.outgoing_hosts import agent_hosts
from inbox.queries.agents.agents import RemoteEndpoint, endpoint_of
from inbox.rules.agents.remote_agents import REMOTE
from inbox.rules.errors import NotFound

log = structlog.get_logger(__name__)


class LocatedAgent(NamedTuple):
    """An agent, and the digest of the address at which it is called."""

    agent: Agent | None  #: None if it is not installed
    endpoint_digest: str  #: "" for an agent of this installation


def find_agent(implementation: str) -> Agent:
    """
    Return the agent of this name.

    Raises:
        registry.UnknownAgent: there is none.
    """
    if not implementation.startswith(REMOTE):
        return registry.get(implementation)
    agent = locate_agent(implementation).agent
    if agent is None:
        raise registry.UnknownAgent(implementation)
    return agent


def locate_agent(implementation: str) -> LocatedAgent:
    """
    Return the agent of this name, and the digest of the address that it will be called at.

    Both come from one read, so that the agent is called at the address of the digest even if its
    row changes meanwhile.
    """
    if implementation.startswith(REMOTE):
        endpoint = endpoint_of(UUID(implementation.removeprefix(REMOTE)))
        if endpoint is None:
            return LocatedAgent(None, "")
        return LocatedAgent(remote_agent(endpoint), endpoint.digest)
    try:
        return LocatedAgent(registry.get(implementation), "")
    except registry.UnknownAgent as error:
        log.warning("agent not available", agent=implementation, why=str(error))
        return LocatedAgent(None, "")


def remote_agent(endpoint: RemoteEndpoint) -> RemoteAgent:
    """Build the client of a remote agent."""
    hosts = agent_hosts()
    return RemoteAgent(
        name=endpoint.slug,
        description=endpoint.description,
        url=endpoint.url,
        read_headers=endpoint.read_headers,
        hosts=hosts,
        proxy="" if hosts.is_private(endpoint.url) else settings.EGRESS_PROXY,
        human_in_the_loop=human_in_the_loop(endpoint.test) if endpoint.test else None,
    )


def is_restartable(implementation: str) -> bool:
    """Return whether the agent is installed and may be driven again after a lost worker."""
    agent, _ = locate_agent(implementation)
    return agent is not None and agent.restartable


def check_installed_agents(*, with_frameworks: bool) -> list[str]:
    """
    Import the agents that the operator has installed; return what is wrong with them.

    Each problem is a sentence for the operator. Agents of other frameworks, whose imports take
    seconds, are imported only `with_frameworks`.
    """
    for name in registry.replaced_agents():
        log.warning("built-in agent replaced", agent=name, setting=registry.AGENTS_SETTING)
    return registry.problems(with_frameworks=with_frameworks)


def agent_problems_in_new_process() -> list[str]:
    """Return what is wrong with the installed agents, as their files are now."""
    program = (
        "from agents.registry import problems; print(*problems(with_frameworks=True), sep='\\n')"
    )
    result = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    output = result.stdout if result.returncode == 0 else result.stderr
    return [line for line in output.splitlines() if line]


def installed_agents() -> list[str]:
    """Return the names of the agents that the operator has installed."""
    return list(registry.configured_agents())


def description_of(implementation: str) -> str:
    """
    Return the agent's description of itself, one sentence.

    Raises:
        NotFound: the agent is not installed in this process.
    """
    return _installed_agent(implementation).description


def input_schema_of(implementation: str) -> dict[str, Any] | None:
    """Return the JSON Schema of the agent's input; None if it is started with a message only."""
    try:
        schema = find_agent(implementation).input_schema
    except registry.UnknownAgent:
        return None
    return None if schema is None else dict(schema)


def capabilities_of(implementation: str) -> dict[str, Any]:
    """
    Return the agent's AgentCapabilities as JSON.

    Raises:
        NotFound: the agent is not installed in this process.
    """
    capabilities = _installed_agent(implementation).capabilities()
    return capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)


def _installed_agent(implementation: str) -> Agent:
    try:
        return find_agent(implementation)
    except registry.UnknownAgent as error:
        raise NotFound("This agent is not installed here.") from error
