"""Whether people whose pages are open may still be told something, and what of."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.contrib.sessions.models import Session
from django.utils import timezone

from inbox.models import Membership
from inbox.queries.people.api_key_tokens import valid_token_digests
from inbox.rules.people.access import (
    ROLE_PERMISSIONS,
    Actor,
    Permission,
    Role,
)


@dataclass(frozen=True)
class ConnectedActor:
    """Whoever an open page belongs to, and the session it was opened in; "" for a key's."""

    actor: Actor
    session_key: str = ""


@dataclass(frozen=True)
class LiveAccess:
    """The teams that somebody belongs to, by id."""

    reads: frozenset[str] = frozenset()
    decides: frozenset[str] = frozenset()


def live_access_of(readers: Sequence[ConnectedActor]) -> list[LiveAccess | None]:
    """
    Where each of them stands; None for a session or a key's token that ended.

    Four queries, however many pages are open; the time is one of them on PostgreSQL.
    """
    sessions = live_sessions([one.session_key for one in readers if one.session_key])
    tokens = valid_token_digests({one.actor.token_digest for one in readers if one.actor.key_id})
    members = _members({one.actor.user_id for one in readers if one.actor.user_id})
    standings: list[LiveAccess | None] = []
    for reader in readers:
        actor = reader.actor
        if actor.key_id is not None:
            is_live = actor.token_digest in tokens
            standings.append(_standing_of_key(actor) if is_live else None)
        elif actor.user_id is None or (reader.session_key not in sessions):
            standings.append(None)
        else:
            standings.append(members.get(actor.user_id, LiveAccess()))
    return standings


def live_sessions(keys: Collection[str]) -> set[str]:
    """Which of these sessions have not ended."""
    live = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return set(live.values_list("session_key", flat=True)) if keys else set()


def _members(user_ids: Collection[int]) -> dict[int, LiveAccess]:
    rows = Membership.objects.filter(user__in=user_ids, user__is_active=True)
    found: dict[int, LiveAccess] = {}
    for user_id, team_id, role in rows.values_list("user", "team", "role"):
        allowed, name = ROLE_PERMISSIONS[Role(role)], frozenset({str(team_id)})
        before = found.get(user_id, LiveAccess())
        found[user_id] = LiveAccess(
            reads=before.reads | name if Permission.READ in allowed else before.reads,
            decides=before.decides | name if Permission.DECIDE in allowed else before.decides,
        )
    return found


def _standing_of_key(actor: Actor) -> LiveAccess:
    # What happens in a team is not for the key of one of its agents.
    is_whole = actor.team_id is not None and actor.agent_id is None
    may_read = is_whole and Permission.READ in actor.scopes
    return LiveAccess(reads=frozenset({str(actor.team_id)} if may_read else ()))
