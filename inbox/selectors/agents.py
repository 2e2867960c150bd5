"""The agents an actor may see and run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from inbox.domain.access import Actor, Permission
from inbox.domain.errors import NotFound
from inbox.models import Agent, Endpoint
from inbox.models.sealed import unseal
from inbox.selectors.access import permissions_in, teams_of


def agents_for(actor: Actor, permission: Permission = Permission.READ) -> Sequence[Agent]:
    """The agents of the actor's teams, by name."""
    return list(Agent.objects.filter(team__in=teams_of(actor, permission)).order_by("slug"))


def agent_for(actor: Actor, slug: str) -> Agent:
    """One agent by its address. Raises NotFound for a stranger as for a wrong name."""
    found = Agent.objects.filter(slug=slug).first()
    if found is None or not permissions_in(actor, found.team_id):
        raise NotFound(f"There is no agent {slug[:60]!r} for you to see.")
    return found


@dataclass(frozen=True)
class Elsewhere:
    """An agent that runs elsewhere: for the engine alone."""

    slug: str
    description: str
    url: str
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
    return Elsewhere(found.agent.slug, found.agent.description, found.url, found.headers)
