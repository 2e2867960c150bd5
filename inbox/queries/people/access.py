"""Which teams an actor may do what in."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from inbox.models import ApiKey, Membership, Team, User
from inbox.models.statements import Select
from inbox.queries.people.api_key_tokens import is_token_valid, valid_token_digests
from inbox.queries.people.live_access import live_sessions
from inbox.rules.errors import Forbidden, NotFound, Unauthenticated
from inbox.rules.people.access import (
    MISSING_PERMISSION,
    ROLE_PERMISSIONS,
    Actor,
    ActorKind,
    Permission,
    Role,
)
from inbox.rules.text.messages import TranslatableMessage


def permissions_in(
    actor: Actor, team_id: UUID, agent_id: UUID | None = None
) -> Collection[Permission]:
    """
    What the actor may do in the team; empty for strangers and for people who left.

    `agent_id` is the agent that it is about, if it is about one: the key of an agent may do
    nothing with what belongs to no agent, or to another one.
    """
    if actor.kind is ActorKind.SYSTEM:
        return frozenset(Permission)
    if actor.kind is ActorKind.KEY:
        is_about_it = actor.agent_id in (None, agent_id)
        return actor.scopes if actor.team_id == team_id and is_about_it else frozenset()
    if actor.user_id is None:
        return frozenset()
    if actor.runs_installation and is_installation_admin(actor):
        return ROLE_PERMISSIONS[Role.ADMIN]
    membership = Membership.objects.filter(
        user_id=actor.user_id, team_id=team_id, user__is_active=True
    ).first()
    return ROLE_PERMISSIONS[Role(membership.role)] if membership else frozenset()


def is_still_allowed(actor: Actor, team_id: UUID) -> bool:
    """Whether an actor who was let in may stay: tokens and sessions end, and people leave."""
    if actor.session_key and not live_sessions([actor.session_key]):
        return False
    if actor.key_id is not None:
        return bool(valid_token_digests({actor.token_digest}))
    return bool(permissions_in(actor, team_id))


def teams_of(actor: Actor, permission: Permission = Permission.READ) -> list[UUID]:
    """
    Return the teams in which the actor has the permission on everything.

    Empty for the key of an agent; see `access_scope`.
    """
    if actor.agent_id is not None:
        return []
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


def access_scope(
    actor: Actor, permission: Permission = Permission.READ
) -> tuple[list[UUID], UUID | None]:
    """The teams in which the actor has the permission, and the only agent there that counts."""
    if actor.agent_id is None:
        return teams_of(actor, permission), None
    has_it = actor.team_id is not None and permission in actor.scopes
    return ([actor.team_id] if actor.team_id and has_it else []), actor.agent_id


def access_filter(
    actor: Actor, permission: Permission = Permission.READ, *, team: str, agent: str
) -> Q:
    """The rows that the actor reaches; `team` and `agent` are the names of their columns."""
    teams, only = access_scope(actor, permission)
    found = Q(**{f"{team}__in": teams})
    return found if only is None else found & Q(**{agent: only})


def memberships_of(actor: Actor) -> list[tuple[Team, Collection[Permission]]]:
    """The teams of a person by name, with what they may do in each."""
    if actor.user_id is None:
        return []
    found = Membership.objects.filter(user_id=actor.user_id, user__is_active=True)
    rows = found.select_related("team").order_by("team__name", "pk")
    return [(row.team, ROLE_PERMISSIONS[Role(row.role)]) for row in rows]


def may_decide_anywhere(actor: Actor) -> bool:
    """Whether there is a team in which the actor may decide."""
    return bool(teams_of(actor, Permission.DECIDE))


def is_installation_admin(actor: Actor) -> bool:
    """Whether the actor runs the installation: a superuser, or one of its commands."""
    if actor.kind is ActorKind.SYSTEM:
        return True
    if actor.user_id is None:
        return False
    return User.objects.filter(pk=actor.user_id, is_superuser=True, is_active=True).exists()


def require(
    actor: Actor, team_id: UUID, permission: Permission, agent_id: UUID | None = None
) -> None:
    """
    Raise unless the actor has the permission in the team, or in what belongs to one agent of it.

    Raises:
        NotFound: the actor may not even see what belongs to the team.
        Forbidden: the actor may see it, but not do this.
    """
    allowed = permissions_in(actor, team_id, agent_id)
    if permission in allowed:
        return
    if Permission.READ in allowed or (actor.kind is ActorKind.KEY and allowed):
        raise Forbidden(MISSING_PERMISSION[permission])
    raise NotFound()


_KEY = Select(lambda params: ApiKey.objects.filter(pk=params.pk))


def require_current(
    actor: Actor,
    team_id: UUID,
    permission: Permission,
    agent_id: UUID | None = None,
    *,
    now: datetime,
) -> None:
    """
    Raise unless the actor has the permission now, whatever was true when the request arrived.

    The key, the session, the person and the membership are read again. Belongs behind a lock.

    Raises:
        Unauthenticated: the key was revoked, replaced or has expired, the session has ended, or the
            person was deactivated.
        NotFound, Forbidden.
    """
    if actor.key_id is not None:
        key = _KEY.first(pk=actor.key_id)
        if key is None or not is_token_valid(key, actor.token_digest, now):
            raise Unauthenticated(TranslatableMessage("This key has expired or was revoked."))
        actor = replace(actor, scopes=key.permissions())
    elif actor.session_key and not live_sessions([actor.session_key]):
        raise Unauthenticated(TranslatableMessage("You have been signed out. Sign in again."))
    try:
        require(actor, team_id, permission, agent_id)
    except NotFound:
        if actor.user_id and not User.objects.filter(pk=actor.user_id, is_active=True).exists():
            raise Unauthenticated(TranslatableMessage("This account is deactivated.")) from None
        raise


def require_person(actor: Actor, team_id: UUID, permission: Permission) -> int:
    """
    Raise unless a person has the permission in the team; return the user's id.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, permission)
    if actor.user_id is None:
        raise Forbidden(
            TranslatableMessage("Only people can do this. API clients decide directly.")
        )
    return actor.user_id
