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
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage


def agents_for(actor: Actor, permission: Permission = Permission.READ) -> Sequence[Agent]:
    """The agents of the actor's teams, by name."""
    return list(_of_teams(actor, permission))


def agents_page(actor: Actor, *, limit: int, after: str = "") -> Sequence[Agent]:
    """The agents of the actor's teams by name, from the one behind the name `after` on."""
    return list(_of_teams(actor, Permission.READ).filter(slug__gt=after)[:limit])


def _of_teams(actor: Actor, permission: Permission) -> "QuerySet[Agent]":
    found = Agent.objects.filter(access_filter(actor, permission, team="team", agent="pk"))
    return found.select_related("endpoint", "team").order_by("slug")


_AGENT = Select(
    lambda params: Agent.objects.select_related("endpoint", "team").filter(slug=params.slug)
)


def agent_for(actor: Actor, slug: str) -> Agent:
    """One agent by its address. Raises NotFound for a stranger as for a wrong name."""
    found = _AGENT.first(slug=slug)
    if found is None or not permissions_in(actor, found.team_id, found.pk):
        raise NotFound(f"There is no agent {slug[:60]!r} for you to see.")
    return found


def endpoint_digest_of(agent_id: UUID) -> str:
    """Return the digest of where a remote agent is now; "" for an agent of this installation."""
    endpoint = Endpoint.objects.filter(agent=agent_id).values_list("url", "revision").first()
    return endpoint_digest(*endpoint) if endpoint else ""


# -- agents elsewhere -----------------------------------------------------------------------------


@dataclass(frozen=True)
class AgentLocation:
    """Where an agent runs; what only administrators of its team may know is empty for others."""

    is_remote: bool
    may_change: bool = False  #: whether the actor says where it is, and tests the connection
    url: str = ""
    header_names: Sequence[str] | None = ()  #: None if they cannot be read any more
    changed_at: datetime | None = None
    tested_at: datetime | None = None
    #: a report of `agents.adapters.remote.probe_report`, or of it `found` alone
    test: Mapping[str, Any] | None = None


def location_of(actor: Actor, agent: Agent) -> AgentLocation:
    """Where an agent of a team of the actor's runs."""
    endpoint: Endpoint | None = getattr(agent, "endpoint", None)
    if endpoint is None:
        return AgentLocation(is_remote=is_remote(agent.implementation))
    test = json.loads(endpoint.test) if endpoint.test else None
    if Permission.ADMIN not in permissions_in(actor, agent.team_id, agent.pk):
        found = {"found": test["found"]} if test else None
        return AgentLocation(is_remote=True, tested_at=endpoint.tested_at, test=found)
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
    The team that gets an agent of this name: the named one, that which has it, or the only one.

    Raises what `team_to_change` raises.
    """
    known = None if team_slug else Agent.objects.filter(slug=slug).first()
    if known is not None and permissions_in(actor, known.team_id, known.pk):
        return known.team_id
    several = TranslatableMessage("Choose a team for the agent.")
    return team_to_change(actor, team_slug, if_several=several)


@dataclass(frozen=True)
class RemoteEndpoint:
    """An agent that runs elsewhere: for the engine alone."""

    slug: str
    description: str
    url: str
    digest: str  #: `inbox.rules.decisions.consent.endpoint_digest`
    changed_at: datetime
    test: Mapping[str, Any] | None  #: a report of `agents.adapters.remote.probe_report`
    _sealed: str = field(repr=False)

    def read_headers(self) -> dict[str, str]:
        """
        What it is greeted with.

        Raises:
            DecryptionFailed: it was encrypted under another secret key.
        """
        headers: dict[str, str] = decrypt(self._sealed)
        return headers


def endpoint_of(agent_id: UUID) -> RemoteEndpoint | None:
    """Where an agent is, None if there is none; whoever asks decides who may know."""
    found = Endpoint.objects.select_related("agent").filter(agent=agent_id).first()
    if found is None:
        return None
    agent = found.agent
    test = json.loads(found.test) if found.test else None
    digest = endpoint_digest(found.url, found.revision)
    return RemoteEndpoint(
        agent.slug, agent.description, found.url, digest, found.changed_at, test, found.headers
    )


def header_names_of(agent: Agent) -> Sequence[str] | None:
    """What a remote agent is greeted with, without the values; None if it cannot be read."""
    try:
        return sorted(decrypt(agent.endpoint.headers))
    except DecryptionFailed:
        return None
