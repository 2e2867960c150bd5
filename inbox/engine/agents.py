"""Finding the agent that a row stands for: in the registry, or elsewhere."""

from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from agents import registry
from agents.adapters.remote import RemoteAgent
from agents.port import Agent
from inbox.actions.remotes import REMOTE
from inbox.selectors.agents import endpoint_of


def find(implementation: str) -> Agent:
    """
    Return the agent of this name.

    Raises:
        registry.UnknownAgent: there is none.
    """
    if not implementation.startswith(REMOTE):
        return registry.get(implementation)
    endpoint = endpoint_of(UUID(implementation.removeprefix(REMOTE)))
    if endpoint is None:
        raise registry.UnknownAgent(implementation)
    return RemoteAgent(
        name=endpoint.slug,
        description=endpoint.description,
        url=endpoint.url,
        read_headers=endpoint.read_headers,
        may_be_private=urlsplit(endpoint.url).hostname in settings.PRIVATE_AGENT_HOSTS,
    )
