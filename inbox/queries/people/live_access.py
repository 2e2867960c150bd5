"""Current access of actors with open connections."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.contrib.sessions.models import Session

from inbox.models import Membership
from inbox.platform import clock
from inbox.queries.people.api_key_tokens import networks_of_tokens
from inbox.rules.people.access import (
    ROLE_PERMISSIONS,
    Actor,
    Permission,
    Role,
    may_enter,
)
from inbox.rules.people.key_networks import is_address_allowed


class TeamReader(NamedTuple):
    """An actor that follows events of a team's thread."""

    actor: Actor
    team_id: UUID


@dataclass(frozen=True)
class LiveAccess:
    """The ids of the teams that an actor may read, and decide in."""

    reads: frozenset[str] = frozenset()
    decides: frozenset[str] = frozenset()


def live_access_of(actors: Sequence[Actor]) -> list[LiveAccess | None]:
    """
    Return the access of each actor; None if its session or token is no longer valid.

    Four queries, however many connections are open; on PostgreSQL one of them reads the time.
    """
    sessions = live_sessions({actor.session_key for actor in actors if actor.session_key})
    tokens = networks_of_tokens({actor.token_digest for actor in actors if actor.key_id})
    by_user = _access_by_user({actor.user_id for actor in actors if actor.user_id})
    accesses: list[LiveAccess | None] = []
    for actor in actors:
        if actor.key_id is not None:
            networks = tokens.get(actor.token_digest)
            is_valid = networks is not None and is_address_allowed(actor.address, networks)
            accesses.append(_access_of_key(actor) if is_valid else None)
        elif actor.user_id is None or actor.session_key not in sessions:
            accesses.append(None)
        else:
            accesses.append(_access_of_person(actor, by_user.get(actor.user_id, [])))
    return accesses


def live_sessions(keys: Collection[str]) -> set[str]:
    """Return the session keys whose sessions have not ended."""
    live = Session.objects.filter(session_key__in=keys, expire_date__gt=clock.now())
    return set(live.values_list("session_key", flat=True)) if keys else set()


def _access_by_user(user_ids: Collection[int]) -> dict[int, list[tuple[UUID, str, str]]]:
    """Return the team, the role and the required sign-in of each membership, by user."""
    rows = Membership.objects.filter(user__in=user_ids, user__is_active=True)
    memberships: dict[int, list[tuple[UUID, str, str]]] = {}
    columns = ("user", "team", "role", "team__required_sign_in")
    for user_id, team_id, role, required_sign_in in rows.values_list(*columns):
        memberships.setdefault(user_id, []).append((team_id, role, required_sign_in))
    return memberships


def _access_of_person(actor: Actor, memberships: Sequence[tuple[UUID, str, str]]) -> LiveAccess:
    def teams_with(permission: Permission) -> frozenset[str]:
        return frozenset(
            str(team_id)
            for team_id, role, required_sign_in in memberships
            if permission in ROLE_PERMISSIONS[Role(role)] and may_enter(actor, required_sign_in)
        )

    return LiveAccess(reads=teams_with(Permission.READ), decides=teams_with(Permission.DECIDE))


def _access_of_key(actor: Actor) -> LiveAccess:
    # The key of an agent does not read the events of the whole team.
    is_team_key = actor.team_id is not None and actor.agent_id is None
    may_read = is_team_key and Permission.READ in actor.scopes
    return LiveAccess(reads=frozenset({str(actor.team_id)} if may_read else ()))
