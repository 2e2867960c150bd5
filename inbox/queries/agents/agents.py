"""The agents an actor may see and run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from inbox.models import Agent, Endpoint
from inbox.models.statements import Select
from inbox.platform.encryption import DecryptionFailed, decrypt
from inbox.queries.people.access import access_filter, permissions_in
from inbox.queries.people.teams import team_to_change
from inbox.rules.agents.remote_agents import is_remote
from inbox.rules.decisions.consent import endpoint_digest
from inbox.rules.errors import InvalidValue, NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage


def agents_for(actor: Actor, permission: Permission = Permission.READ) -> Sequence[Agent]:
    """Return the agents in the actor's scope, by slug."""
    return list(_of_teams(actor, permission))


def agents_page(actor: Actor, *, limit: int, after: str = "") -> Sequence[Agent]:
    """Return up to `limit` agents in the actor's scope, by slug, after the slug `after`."""
    return list(_of_teams(actor, Permission.READ).filter(slug__gt=after)[:limit])


def _of_teams(actor: Actor, permission: Permission) -> "QuerySet[Agent]":
    agents = Agent.objects.filter(access_filter(actor, permission, team="team", agent="pk"))
    return agents.select_related("endpoint", "team").order_by("slug")


_AGENT = Select(
    lambda params: Agent.objects.select_related("endpoint", "team").filter(slug=params.slug)
)


def agent_for(actor: Actor, slug: str) -> Agent:
    """Return an agent by slug. Raises NotFound also if the actor may not see it."""
    agent = _AGENT.first(slug=slug)
    if agent is None or not permissions_in(actor, agent.team_id, agent.pk):
        raise NotFound(f"Agent {slug[:60]!r} not found, or you don't have access.")
    return agent


def agent_to_ask(actor: Actor, slug: str) -> Agent:
    """
    Return the agent for which a program asks: the named one, or that of the agent's key.

    Raises:
        NotFound: also if the actor may not see it.
        InvalidValue: none is named, and the key is not that of an agent.
    """
    if not slug:
        own = Agent.objects.filter(pk=actor.agent_id) if actor.agent_id else Agent.objects.none()
        slug = own.values_list("slug", flat=True).first() or ""
        if not slug:
            raise InvalidValue("Send `agent`, or use the key of an agent.")
    return agent_for(actor, slug)


def endpoint_digest_of(agent_id: UUID) -> str:
    """Return the digest of a remote agent's current endpoint; "" for a local agent."""
    endpoint = Endpoint.objects.filter(agent=agent_id).values_list("url", "revision").first()
    return endpoint_digest(*endpoint) if endpoint else ""


# -- remote agents --------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgentLocation:
    """The location of an agent; fields for administrators of its team are empty for others."""

    is_remote: bool
    may_change: bool = False  #: the actor may change the endpoint and test the connection
    url: str = ""
    header_names: Sequence[str] | None = ()  #: None if they cannot be decrypted
    changed_at: datetime | None = None
    tested_at: datetime | None = None
    #: a ProbeReport as JSON; for others than administrators only its `found`
    test: Mapping[str, Any] | None = None


def location_of(actor: Actor, agent: Agent) -> AgentLocation:
    """Return the location of an agent as the actor may see it."""
    endpoint: Endpoint | None = getattr(agent, "endpoint", None)
    if endpoint is None:
        return AgentLocation(is_remote=is_remote(agent.implementation))
    test = json.loads(endpoint.test_report) if endpoint.test_report else None
    if Permission.ADMIN not in permissions_in(actor, agent.team_id, agent.pk):
        result = {"found": test["found"]} if test else None
        return AgentLocation(is_remote=True, tested_at=endpoint.tested_at, test=result)
    return AgentLocation(
        is_remote=True,
        may_change=True,
        url=endpoint.url,
        header_names=header_names_of(agent),
        changed_at=endpoint.changed_at,
        tested_at=endpoint.tested_at,
        test=test,
    )


def team_for_agent(actor: Actor, slug: str, team_slug: str = "") -> UUID:
    """
    Return the team for an agent with this slug: the named one, the agent's, or the only one.

    Raises the errors of `team_to_change`.
    """
    agent = None if team_slug else Agent.objects.filter(slug=slug).first()
    if agent is not None and permissions_in(actor, agent.team_id, agent.pk):
        return agent.team_id
    several = TranslatableMessage("Choose a team for the agent.")
    return team_to_change(actor, team_slug, if_several=several)


@dataclass(frozen=True)
class RemoteEndpoint:
    """The endpoint of a remote agent with its secrets; for the engine only."""

    slug: str
    description: str
    url: str
    digest: str  #: `inbox.rules.decisions.consent.endpoint_digest`
    changed_at: datetime
    test: Mapping[str, Any] | None  #: a report of `agents.adapters.remote.probe_report`
    _encrypted_headers: str = field(repr=False)

    def read_headers(self) -> dict[str, str]:
        """
        Return the decrypted headers of its requests.

        Raises:
            DecryptionFailed: they were encrypted under another secret key.
        """
        headers: dict[str, str] = decrypt(self._encrypted_headers)
        return headers


def endpoint_of(agent_id: UUID) -> RemoteEndpoint | None:
    """Return the endpoint of a remote agent, None for a local one; checks no permission."""
    row = Endpoint.objects.select_related("agent").filter(agent=agent_id).first()
    if row is None:
        return None
    return RemoteEndpoint(
        row.agent.slug,
        row.agent.description,
        row.url,
        endpoint_digest(row.url, row.revision),
        row.changed_at,
        json.loads(row.test_report) if row.test_report else None,
        row.headers,
    )


def header_names_of(agent: Agent) -> Sequence[str] | None:
    """Return the names of a remote agent's request headers; None if they cannot be decrypted."""
    try:
        return sorted(decrypt(agent.endpoint.headers))
    except DecryptionFailed:
        return None
