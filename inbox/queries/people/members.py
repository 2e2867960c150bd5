"""Who belongs to a team."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from inbox.models import Membership, Team
from inbox.queries.people.access import (
    memberships_of,
    permissions_in,
    require,
    teams_of,
)
from inbox.queries.people.teams import team_for
from inbox.rules.people.access import (
    ROLE_PERMISSIONS,
    Actor,
    ActorKind,
    Permission,
    Role,
)


@dataclass(frozen=True)
class TeamAccess:
    """A team, and what the actor is and may do there; machines have no role."""

    team: Team
    role: Role | None
    permissions: Collection[Permission]

    @property
    def administers(self) -> bool:
        return Permission.ADMIN in self.permissions


def teams_with_access(actor: Actor) -> Sequence[TeamAccess]:
    """The teams that the actor reads, by name."""
    if actor.kind is ActorKind.KEY:
        teams = Team.objects.filter(pk__in=teams_of(actor))
        return [TeamAccess(team, None, actor.scopes) for team in teams]
    return [TeamAccess(team, _role(may), may) for team, may in memberships_of(actor)]


def teams_with_access_page(actor: Actor, *, limit: int, after: str = "") -> Sequence[TeamAccess]:
    """The teams that the actor reads by slug, from the one behind the slug `after` on."""
    rows = sorted(teams_with_access(actor), key=lambda row: row.team.slug)
    return [row for row in rows if row.team.slug > after][:limit]


def team_access(actor: Actor, slug: str) -> TeamAccess:
    """
    One team.

    Raises:
        NotFound, Forbidden.
    """
    team = team_for(actor, slug)
    require(actor, team.pk, Permission.READ)
    may = permissions_in(actor, team.pk)
    return TeamAccess(team, _role(may) if actor.kind is ActorKind.HUMAN else None, may)


def members_of(actor: Actor, team_id: UUID) -> Sequence[Membership]:
    """
    The members of a team with their users, those first who may do most there.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = Membership.objects.filter(team=team_id).select_related("user")
    return sorted(
        rows,
        key=lambda row: (-len(ROLE_PERMISSIONS[Role(row.role)]), row.user.display_name.lower()),
    )


def members_page(
    actor: Actor, team_id: UUID, *, limit: int, after: int = 0
) -> Sequence[Membership]:
    """
    The members of a team with their users, by the numbers of those, from behind `after` on.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = Membership.objects.filter(team=team_id, user__gt=after).select_related("user")
    return list(rows.order_by("user")[:limit])


def _role(may: Collection[Permission]) -> Role | None:
    """The role that allows just this."""
    return next((role for role, allowed in ROLE_PERMISSIONS.items() if allowed == may), None)
