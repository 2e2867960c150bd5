"""The agents an actor may see and run."""

from collections.abc import Sequence

from inbox.domain.access import Actor, Permission
from inbox.domain.errors import NotFound
from inbox.models import Agent
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
