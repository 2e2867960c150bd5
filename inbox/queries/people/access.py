"""Permissions of an actor in teams, and the rows that these permissions cover."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from inbox.models import ApiKey, ChatIdentity, DecisionLink, Membership, Team, User
from inbox.models.statements import Select
from inbox.queries.people.api_key_tokens import is_token_valid
from inbox.queries.people.live_access import live_sessions
from inbox.rules.errors import Forbidden, NetworkNotAllowed, NotFound, Unauthenticated
from inbox.rules.people.access import (
    DECIDERS,
    MISSING_PERMISSION,
    ROLE_PERMISSIONS,
    Actor,
    ActorKind,
    Permission,
    Role,
    may_enter,
)
from inbox.rules.people.auth_methods import check_fresh_sign_in
from inbox.rules.people.key_networks import is_address_allowed
from inbox.rules.text.messages import TranslatableMessage


def permissions_in(
    actor: Actor, team_id: UUID, agent_id: UUID | None = None
) -> Collection[Permission]:
    """
    Return the actor's permissions in the team; empty for anybody who is not a member.

    `agent_id` is the agent that the operation is about. The key of an agent has no permissions on
    other agents, nor on anything that belongs to no agent.
    """
    if actor.kind is ActorKind.SYSTEM:
        return frozenset(Permission)
    if actor.kind is ActorKind.KEY:
        covers_agent = actor.agent_id in (None, agent_id)
        return actor.scopes if actor.team_id == team_id and covers_agent else frozenset()
    if actor.user_id is None:
        return frozenset()
    if actor.runs_installation and is_installation_admin(actor):
        return ROLE_PERMISSIONS[Role.ADMIN]
    row = _ROLE.first(user=actor.user_id, team=team_id)
    if row is None:
        return frozenset()
    role, required_sign_in = row
    return ROLE_PERMISSIONS[Role(role)] if may_enter(actor, required_sign_in) else frozenset()


_MEMBERSHIPS = Membership.objects.filter(user__is_active=True)
_ROLE = Select(
    lambda params: _MEMBERSHIPS.filter(user=params.user, team=params.team).values_list(
        "role", "team__required_sign_in"
    )
)
_ROLES = Select(
    lambda params: _MEMBERSHIPS.filter(user=params.user).values_list(
        "team", "role", "team__required_sign_in"
    )
)
_TEAMS = Select(
    lambda params: (
        _MEMBERSHIPS.filter(user=params.user).select_related("team").order_by("team__name", "pk")
    )
)


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
    return [
        team
        for team, role, required_sign_in in _ROLES.all(user=actor.user_id)
        if permission in ROLE_PERMISSIONS[Role(role)] and may_enter(actor, required_sign_in)
    ]


def access_scope(
    actor: Actor, permission: Permission = Permission.READ
) -> tuple[list[UUID], UUID | None]:
    """Return the teams in which the actor has the permission, and the agent it is limited to."""
    if actor.agent_id is None:
        return teams_of(actor, permission), None
    is_permitted = permission in actor.scopes
    return ([actor.team_id] if actor.team_id and is_permitted else []), actor.agent_id


def access_filter(
    actor: Actor, permission: Permission = Permission.READ, *, team: str, agent: str
) -> Q:
    """Return the condition for rows in the actor's scope; `team` and `agent` are column names."""
    teams, agent_id = access_scope(actor, permission)
    condition = Q(**{f"{team}__in": teams})
    return condition if agent_id is None else condition & Q(**{agent: agent_id})


def memberships_of(actor: Actor) -> list[tuple[Team, Collection[Permission]]]:
    """Return the teams of a person, by name, with the permissions in each."""
    if actor.user_id is None:
        return []
    return [
        (row.team, ROLE_PERMISSIONS[Role(row.role)])
        for row in _TEAMS.all(user=actor.user_id)
        if may_enter(actor, row.team.required_sign_in)
    ]


def closed_teams_of(actor: Actor) -> list[Team]:
    """Return the teams of a person that their session does not enter, as it is now, by name."""
    if actor.user_id is None:
        return []
    rows = _TEAMS.all(user=actor.user_id)
    return [row.team for row in rows if not may_enter(actor, row.team.required_sign_in)]


def may_decide_anywhere(actor: Actor) -> bool:
    return bool(teams_of(actor, Permission.DECIDE))


def has_two_deciders(team_id: UUID) -> bool:
    """Return whether at least two people can decide the team's interrupts."""
    people = _MEMBERSHIPS.filter(team=team_id, role__in=DECIDERS).values_list("pk", flat=True)
    return len(people[:2]) == 2


def is_installation_admin(actor: Actor) -> bool:
    """Return whether the actor is a superuser or the system."""
    if actor.kind is ActorKind.SYSTEM:
        return True
    if actor.user_id is None:
        return False
    return User.objects.filter(pk=actor.user_id, is_superuser=True, is_active=True).exists()


def require(
    actor: Actor, team_id: UUID, permission: Permission, agent_id: UUID | None = None
) -> None:
    """
    Raise unless the actor has the permission in the team, or on one agent of it.

    Raises:
        NotFound: the actor may not see anything of the team.
        Forbidden: the actor may see it, but lacks this permission.
    """
    allowed = permissions_in(actor, team_id, agent_id)
    if permission in allowed:
        return
    if Permission.READ in allowed or (actor.kind is ActorKind.KEY and allowed):
        raise Forbidden(MISSING_PERMISSION[permission])
    raise NotFound()


_KEY = Select(lambda params: ApiKey.objects.filter(pk=params.pk))
_LINK = Select(
    lambda params: DecisionLink.objects.filter(
        pk=params.pk, user=params.user, used_at=None, expires_at__gt=params.now
    ).values_list("pk", flat=True)
)


def require_current(
    actor: Actor,
    team_id: UUID,
    permission: Permission,
    agent_id: UUID | None = None,
    *,
    now: datetime,
) -> None:
    """
    Raise unless the actor still has the permission.

    Reads the key, the link, the account in a chat, the session, the user and the membership again.
    Call it after taking a lock.

    Raises:
        Unauthenticated: the key was revoked, replaced or has expired, the link or the session has
            ended, the account in a chat was disconnected, or the user is deactivated.
        NotFound, Forbidden.
    """
    if actor.key_id is not None:
        key = _KEY.first(pk=actor.key_id)
        if key is None or not is_token_valid(key, actor.token_digest, now):
            raise Unauthenticated(TranslatableMessage("This key has expired or was revoked."))
        if not is_address_allowed(actor.address, key.networks):
            raise NetworkNotAllowed(
                TranslatableMessage("This key may not be used from your address.")
            )
        actor = replace(actor, scopes=key.permissions())
    elif actor.link_id is not None:
        if not _LINK.all(pk=actor.link_id, user=actor.user_id, now=now):
            raise Unauthenticated(TranslatableMessage("This link was used or has expired."))
    elif actor.session_key and not live_sessions([actor.session_key]):
        raise Unauthenticated(TranslatableMessage("You have been signed out. Sign in again."))
    elif actor.chat_identity_id is not None and not _is_connected(actor):
        raise Unauthenticated(TranslatableMessage("Your chat account is not connected any more."))
    try:
        require(actor, team_id, permission, agent_id)
    except NotFound:
        if actor.user_id and not User.objects.filter(pk=actor.user_id, is_active=True).exists():
            raise Unauthenticated(TranslatableMessage("This account is deactivated.")) from None
        raise


def _is_connected(actor: Actor) -> bool:
    identities = ChatIdentity.objects.filter(user=actor.user_id)
    return identities.filter(pk__in=[actor.chat_identity_id]).exists()


def require_fresh_sign_in(actor: Actor, now: datetime) -> None:
    """
    Raise unless the actor's session has a fresh sign-in; keys and the system need none.

    Call it after `require`, so that it does not reveal what exists.

    Raises:
        ReauthenticationRequired.
    """
    if actor.kind is ActorKind.HUMAN and actor.session_key:
        within = timedelta(minutes=settings.REAUTHENTICATION_MINUTES)
        check_fresh_sign_in(actor.signed_in_at, now, within=within)


def require_person(actor: Actor, team_id: UUID, permission: Permission) -> int:
    """
    Return the user's id; raise unless the actor is a person with the permission in the team.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, permission)
    if actor.user_id is None:
        raise Forbidden(
            TranslatableMessage("Only people can do this. API clients decide directly.")
        )
    return actor.user_id
