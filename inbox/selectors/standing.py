"""Whether people whose pages are open may still be told something, and what of."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.sessions.models import Session
from django.utils import timezone

from inbox.domain.access import ROLE_PERMISSIONS, Actor, Permission, Role
from inbox.models import ApiKey, Membership


@dataclass(frozen=True)
class Reader:
    """Whoever an open page belongs to, and the session it was opened in; "" for a key's."""

    actor: Actor
    session_key: str = ""


@dataclass(frozen=True)
class Standing:
    """The teams that somebody belongs to, by id."""

    reads: frozenset[str] = frozenset()
    decides: frozenset[str] = frozenset()


def standings_of(readers: Sequence[Reader]) -> list[Standing | None]:
    """
    Where each of them stands; None for a session that ended and a key that was revoked.

    Three queries, however many pages are open.
    """
    sessions = _live_sessions([one.session_key for one in readers if one.session_key])
    keys = _live_keys([one.actor.key_id for one in readers if one.actor.key_id])
    members = _members({one.actor.user_id for one in readers if one.actor.user_id})
    standings: list[Standing | None] = []
    for reader in readers:
        actor = reader.actor
        if actor.key_id is not None:
            standings.append(_standing_of_key(actor) if actor.key_id in keys else None)
        elif actor.user_id is None or (reader.session_key not in sessions):
            standings.append(None)
        else:
            standings.append(members.get(actor.user_id, Standing()))
    return standings


def _live_sessions(keys: Collection[str]) -> set[str]:
    live = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return set(live.values_list("session_key", flat=True)) if keys else set()


def _live_keys(keys: Collection[UUID]) -> set[UUID]:
    live = ApiKey.objects.filter(pk__in=keys, revoked_at=None)
    return set(live.values_list("pk", flat=True)) if keys else set()


def _members(user_ids: Collection[int]) -> dict[int, Standing]:
    rows = Membership.objects.filter(user__in=user_ids, user__is_active=True)
    found: dict[int, Standing] = {}
    for user_id, team_id, role in rows.values_list("user", "team", "role"):
        allowed, name = ROLE_PERMISSIONS[Role(role)], frozenset({str(team_id)})
        before = found.get(user_id, Standing())
        found[user_id] = Standing(
            reads=before.reads | name if Permission.READ in allowed else before.reads,
            decides=before.decides | name if Permission.DECIDE in allowed else before.decides,
        )
    return found


def _standing_of_key(actor: Actor) -> Standing:
    may_read = actor.team_id is not None and Permission.READ in actor.scopes
    return Standing(reads=frozenset({str(actor.team_id)} if may_read else ()))
