"""The agents an actor may see and run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.domain.access import NEEDS, Actor, Permission
from inbox.domain.errors import Forbidden, InvalidInput, NotFound
from inbox.domain.remotes import is_remote
from inbox.domain.sentences import Sentence
from inbox.models import Agent, Endpoint, Team
from inbox.models.sealed import Unreadable, unseal
from inbox.selectors.access import permissions_in, teams_of


def agents_for(actor: Actor, permission: Permission = Permission.READ) -> Sequence[Agent]:
    """The agents of the actor's teams, by name."""
    found = Agent.objects.filter(team__in=teams_of(actor, permission))
    return list(found.select_related("endpoint", "team").order_by("slug"))


def agent_for(actor: Actor, slug: str) -> Agent:
    """One agent by its address. Raises NotFound for a stranger as for a wrong name."""
    found = Agent.objects.select_related("endpoint", "team").filter(slug=slug).first()
    if found is None or not permissions_in(actor, found.team_id):
        raise NotFound(f"There is no agent {slug[:60]!r} for you to see.")
    return found


# -- agents elsewhere -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where an agent runs; what only administrators of its team may know is empty for others."""

    is_remote: bool
    may_change: bool = False  #: whether the actor says where it is, and tests the connection
    url: str = ""
    header_names: Sequence[str] | None = ()  #: None if they cannot be read any more
    changed_at: datetime | None = None
    tested_at: datetime | None = None
    #: a report of `agents.adapters.reports`, or of it `found` alone
    test: Mapping[str, Any] | None = None


def place_of(actor: Actor, agent: Agent) -> Place:
    """Where an agent of a team of the actor's runs."""
    endpoint: Endpoint | None = getattr(agent, "endpoint", None)
    if endpoint is None:
        return Place(is_remote=is_remote(agent.implementation))
    test = json.loads(endpoint.test) if endpoint.test else None
    if Permission.ADMIN not in permissions_in(actor, agent.team_id):
        found = {"found": test["found"]} if test else None
        return Place(is_remote=True, tested_at=endpoint.tested_at, test=found)
    return Place(
        is_remote=True,
        may_change=True,
        url=endpoint.url,
        header_names=_names(endpoint),
        changed_at=endpoint.changed_at,
        tested_at=endpoint.tested_at,
        test=test,
    )


def team_for_agent(actor: Actor, slug: str, team_slug: str = "") -> UUID:
    """
    The team that gets an agent of this name: that which has it, or the only one that can be meant.

    Whether the actor may give it one is for the action to say.

    Raises:
        NotFound: the actor does not know of the team.
        Forbidden: there is no team whose agents the actor may change.
        InvalidInput: there are several.
    """
    if team_slug:
        team = Team.objects.filter(slug=team_slug).first()
        if team is None or not permissions_in(actor, team.pk):
            raise NotFound()
        return team.pk
    known = Agent.objects.filter(slug=slug).first()
    if known is not None and permissions_in(actor, known.team_id):
        return known.team_id
    teams = teams_of(actor, Permission.ADMIN)
    if not teams:
        raise Forbidden(NEEDS[Permission.ADMIN])
    if len(teams) > 1:
        text = Sentence("Say which team gets the agent.")
        raise InvalidInput(text, problems={"team": [text]})
    return teams[0]


@dataclass(frozen=True)
class Elsewhere:
    """An agent that runs elsewhere: for the engine alone."""

    slug: str
    description: str
    url: str
    changed_at: datetime
    _sealed: str = field(repr=False)

    def read_headers(self) -> dict[str, str]:
        """
        What it is greeted with.

        Raises:
            Unreadable: that was sealed under another secret key.
        """
        headers: dict[str, str] = unseal(self._sealed)
        return headers


def endpoint_of(agent_id: UUID) -> Elsewhere | None:
    """Where an agent is, None if there is none; whoever asks decides who may know."""
    found = Endpoint.objects.select_related("agent").filter(agent=agent_id).first()
    if found is None:
        return None
    agent = found.agent
    return Elsewhere(agent.slug, agent.description, found.url, found.changed_at, found.headers)


def _names(endpoint: Endpoint) -> Sequence[str] | None:
    try:
        return sorted(unseal(endpoint.headers))
    except Unreadable:
        return None
