"""Finding the agent that a row stands for: in the registry, or elsewhere."""

import threading
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from agents import registry
from agents.adapters.remote.http_client import run_alone
from agents.adapters.remote.probe import probe
from agents.adapters.remote.probe_report import Found, Report, human_in_the_loop
from agents.adapters.remote.remote_agent import RemoteAgent
from agents.port import Agent
from inbox.actions.agents.remote_agents import record_test
from inbox.platform.encryption import Unreadable
from inbox.queries.agents.agents import Elsewhere, agent_for, endpoint_of
from inbox.queries.people.access import require
from inbox.rules.agents.remote_agents import REMOTE
from inbox.rules.errors import NotRemote, TooManyTests
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

#: A test keeps a thread that pages need as well, for seconds: there are a dozen of them.
_AT_ONCE = 2
_free = threading.BoundedSemaphore(_AT_ONCE)


class Located(NamedTuple):
    """The agent of a run, and where it is."""

    agent: Agent | None  #: None if there is none
    endpoint_digest: str  #: "" for an agent of this installation


def find(implementation: str) -> Agent:
    """
    Return the agent of this name.

    Raises:
        registry.UnknownAgent: there is none.
    """
    if not implementation.startswith(REMOTE):
        return registry.get(implementation)
    agent = locate(implementation).agent
    if agent is None:
        raise registry.UnknownAgent(implementation)
    return agent


def locate(implementation: str) -> Located:
    """
    Return the agent of this name, and the digest of the address that it will be called at.

    Both come from one read: an agent that moves meanwhile is called at the address of the digest.
    """
    if implementation.startswith(REMOTE):
        endpoint = endpoint_of(UUID(implementation.removeprefix(REMOTE)))
        return Located(_remote(endpoint), endpoint.digest) if endpoint else Located(None, "")
    try:
        return Located(registry.get(implementation), "")
    except registry.UnknownAgent:
        return Located(None, "")


def try_connection(slug: str, actor: Actor) -> dict[str, Any]:
    """
    Ask a remote agent who it is, keep what was found and return it: a `Report` as JSON.

    Takes ten seconds at most, in this thread, and holds no transaction meanwhile.

    Raises:
        NotFound, Forbidden.
        NotRemote: the agent runs here.
        TooManyTests: this process has enough to do with others.
    """
    agent = agent_for(actor, slug)
    require(actor, agent.team_id, Permission.ADMIN, agent.pk)
    endpoint = endpoint_of(agent.pk)
    if endpoint is None:
        raise NotRemote(
            TranslatableMessage("This agent runs here: there is no connection to test.")
        )
    if not _free.acquire(blocking=False):
        raise TooManyTests(
            TranslatableMessage("Other connections are being tested: try again in a moment.")
        )
    try:
        report = _probe(endpoint).to_json()
    finally:
        _free.release()
    record_test(agent_id=agent.pk, changed_at=endpoint.changed_at, report=report, actor=actor)
    return report


def _probe(endpoint: Elsewhere) -> Report:
    try:
        return run_alone(probe(_remote(endpoint)))
    except Unreadable:
        return Report(Found.HEADERS_UNREADABLE)


def _remote(endpoint: Elsewhere) -> RemoteAgent:
    is_ours = urlsplit(endpoint.url).hostname in settings.PRIVATE_AGENT_HOSTS
    return RemoteAgent(
        name=endpoint.slug,
        description=endpoint.description,
        url=endpoint.url,
        read_headers=endpoint.read_headers,
        may_be_private=is_ours,
        proxy="" if is_ours else settings.EGRESS_PROXY,
        human_in_the_loop=human_in_the_loop(endpoint.test) if endpoint.test else None,
    )
