"""Which teams an actor may do what in."""

from collections.abc import Collection
from uuid import UUID

from inbox.domain.access import NEEDS, ROLE_PERMISSIONS, Actor, ActorKind, Permission, Role
from inbox.domain.errors import Forbidden, NotFound
from inbox.domain.sentences import Sentence
from inbox.models import ApiKey, Membership, Team


def permissions_in(actor: Actor, team_id: UUID) -> Collection[Permission]:
    """What the actor may do in the team; empty for strangers and for people who left."""
    if actor.kind is ActorKind.SYSTEM:
        return frozenset(Permission)
    if actor.kind is ActorKind.KEY:
        return actor.scopes if actor.team_id == team_id else frozenset()
    if actor.user_id is None:
        return frozenset()
    membership = Membership.objects.filter(
        user_id=actor.user_id, team_id=team_id, user__is_active=True
    ).first()
    return ROLE_PERMISSIONS[Role(membership.role)] if membership else frozenset()


def is_allowed_still(actor: Actor, team_id: UUID) -> bool:
    """Whether an actor who was let in may stay: keys are revoked and people leave."""
    if actor.key_id is not None:
        return ApiKey.objects.filter(pk=actor.key_id, revoked_at=None).exists()
    return bool(permissions_in(actor, team_id))


def teams_of(actor: Actor, permission: Permission = Permission.READ) -> list[UUID]:
    """The teams in which the actor has the permission."""
    if actor.kind is ActorKind.KEY:
        return [actor.team_id] if actor.team_id and permission in actor.scopes else []
    if actor.user_id is None:
        return []
    roles = [role for role, allowed in ROLE_PERMISSIONS.items() if permission in allowed]
    return list(
        Membership.objects.filter(
            user_id=actor.user_id, role__in=roles, user__is_active=True
        ).values_list("team_id", flat=True)
    )


def memberships_of(actor: Actor) -> list[tuple[Team, Collection[Permission]]]:
    """The teams of a person by name, with what they may do in each."""
    if actor.user_id is None:
        return []
    found = Membership.objects.filter(user_id=actor.user_id, user__is_active=True)
    rows = found.select_related("team").order_by("team__name", "pk")
    return [(row.team, ROLE_PERMISSIONS[Role(row.role)]) for row in rows]


def decides_somewhere(actor: Actor) -> bool:
    """Whether there is a team in which the actor may decide."""
    return bool(teams_of(actor, Permission.DECIDE))


def require(actor: Actor, team_id: UUID, permission: Permission) -> None:
    """
    Raise unless the actor has the permission in the team.

    Raises:
        NotFound: the actor may not even see what belongs to the team.
        Forbidden: the actor may see it, but not do this.
    """
    allowed = permissions_in(actor, team_id)
    if permission in allowed:
        return
    if Permission.READ in allowed or (actor.kind is ActorKind.KEY and allowed):
        raise Forbidden(NEEDS[permission])
    raise NotFound()


def require_person(actor: Actor, team_id: UUID, permission: Permission) -> int:
    """
    Raise unless a person has the permission in the team; return the user's id.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, permission)
    if actor.user_id is None:
        raise Forbidden(Sentence("Only people do this; a machine decides at once."))
    return actor.user_id
