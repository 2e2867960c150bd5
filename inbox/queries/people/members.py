"""Members of a team, and an actor's access to teams."""

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
    """A team with the actor's role and permissions in it; API keys have no role."""

    team: Team
    role: Role | None
    permissions: Collection[Permission]

    @property
    def administers(self) -> bool:
        return Permission.ADMIN in self.permissions


def teams_with_access(actor: Actor) -> Sequence[TeamAccess]:
    """Return the teams that the actor may read, by name."""
    if actor.kind is ActorKind.KEY:
        teams = Team.objects.filter(pk__in=teams_of(actor))
        return [TeamAccess(team, None, actor.scopes) for team in teams]
    return [
        TeamAccess(team, _role(permissions), permissions)
        for team, permissions in memberships_of(actor)
    ]


def teams_with_access_page(actor: Actor, *, limit: int, after: str = "") -> Sequence[TeamAccess]:
    """Return up to `limit` teams that the actor may read, by slug, after the slug `after`."""
    rows = sorted(teams_with_access(actor), key=lambda row: row.team.slug)
    return [row for row in rows if row.team.slug > after][:limit]


def team_access(actor: Actor, slug: str) -> TeamAccess:
    """
    Return the actor's access to a team.

    Raises:
        NotFound, Forbidden.
    """
    team = team_for(actor, slug)
    require(actor, team.pk, Permission.READ)
    permissions = permissions_in(actor, team.pk)
    role = _role(permissions) if actor.kind is ActorKind.HUMAN else None
    return TeamAccess(team, role, permissions)


def members_of(actor: Actor, team_id: UUID) -> Sequence[Membership]:
    """
    Return the members of a team with their users: the roles with most permissions first.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = Membership.objects.filter(team=team_id).select_related("user")
    return sorted(
        rows,
        key=lambda row: (-len(ROLE_PERMISSIONS[Role(row.role)]), row.user.display_name.lower()),
    )


def names_in_teams(team_ids: Collection[UUID], *, except_user: int | None = None) -> list[str]:
    """Return the user names and the names of the members of teams."""
    rows = Membership.objects.filter(team__in=team_ids).exclude(user=except_user)
    users = [row.user for row in rows.select_related("user")]
    return [name for user in users for name in (user.get_username(), user.display_name)]


def members_page(
    actor: Actor, team_id: UUID, *, limit: int, after: int = 0
) -> Sequence[Membership]:
    """
    Return up to `limit` members of a team with their users, by user id, after the id `after`.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = Membership.objects.filter(team=team_id, user__gt=after).select_related("user")
    return list(rows.order_by("user")[:limit])


def _role(permissions: Collection[Permission]) -> Role | None:
    """Return the role with exactly these permissions."""
    roles = (role for role, allowed in ROLE_PERMISSIONS.items() if allowed == permissions)
    return next(roles, None)
