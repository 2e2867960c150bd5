"""Creating, rotating and revoking API keys."""

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.idempotency import IdempotencyKey, existing_result
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Agent, ApiKey
from inbox.models.locks import lock_api_key
from inbox.platform.clock import database_now
from inbox.queries.people.access import permissions_in
from inbox.queries.people.api_key_tokens import digest_token
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.people.api_keys import (
    DEFAULT_OVERLAP_HOURS,
    MAX_KEYS,
    check_expiry_within_maker,
    check_key,
    check_overlap,
    check_within_own,
    is_key_valid,
)
from inbox.rules.people.key_networks import check_within_networks, parse_networks
from inbox.rules.text.messages import TranslatableMessage

KEY_PREFIX = "so_"
#: The characters of a token that are stored and shown.
PREFIX_CHARACTERS = 9
_TOKEN_COLUMNS = ("digest", "prefix", "former_digest", "former_until")


class Unchanged(Enum):
    """The default of parameters for which None is a value."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


def make_key(
    *,
    team_id: UUID,
    name: str,
    scopes: Collection[Permission],
    actor: Actor,
    days: int | None = None,
    agent: str = "",
    networks: Sequence[str] = (),
    idempotency: IdempotencyKey | None = None,
) -> tuple[ApiKey, str]:
    """
    Create a key of a team; return it with its token, which is shown only once.

    Safe to replay with `idempotency`: the existing key is returned, with "" for its token. The key
    expires after `days`, or never with None. It works only from `networks`, if there are any. With
    an `agent` slug it is the agent's own key, which may read and run that agent only.

    Raises:
        NotFound, Forbidden, IdempotencyConflict.
        InvalidValue: with `problems` by field; also if the team has too many keys.
        MoreThanOwn: the key would have more permissions than the actor, or last longer.
    """
    idempotency = idempotency or IdempotencyKey()
    with _audit_rejected(actor, team_id=team_id, name=name):
        # Locked: concurrent requests must not exceed the limit.
        lock_permitted_team(team_id, actor, Permission.ADMIN, fresh_sign_in=True)
        check_key(
            name=name,
            scopes=scopes,
            days=days,
            of_agent=bool(agent),
            may_give=permissions_in(actor, team_id),
        )
        key_networks = _networks(networks, actor)
        now = database_now()
        if earlier := existing_result(idempotency, actor=actor, now=now):
            return ApiKey.objects.get(pk=earlier), ""
        if ApiKey.objects.filter(team=team_id, revoked_at=None).count() >= MAX_KEYS:
            text = TranslatableMessage(
                "A team can have at most {count} keys. Revoke one first.", count=MAX_KEYS
            )
            raise errors.InvalidValue(text, problems={"team": [text]})
        token = new_token(KEY_PREFIX)
        key = ApiKey.objects.create(
            pk=idempotency.result_id,
            team_id=team_id,
            agent=_agent_of(team_id, agent),
            name=name,
            prefix=token[:PREFIX_CHARACTERS],
            digest=digest_token(token),
            scopes=sorted(scopes),
            networks=key_networks,
            created_by=actor.label[:160],
            made_by_user_id=actor.person_id,
            owner_id=actor.person_id,
            token_people=sorted(actor.person_ids),
            created_at=now,
            expires_at=_end(actor, now, days),
        )
        record(
            key,
            "key.created",
            actor,
            now,
            scopes=key.scopes,
            expires_at=time_text(key.expires_at),
            networks=key.networks,
        )
        return key, token


def rotate_key(
    *,
    key_id: UUID,
    actor: Actor,
    overlap_hours: int = DEFAULT_OVERLAP_HOURS,
    days: int | Unchanged | None = UNCHANGED,
) -> tuple[ApiKey, str]:
    """
    Give a key a new token, shown only once, and with `days` a new expiry.

    The previous token stays valid for `overlap_hours` (0 to 168); an older one ends now.

    Raises:
        NotFound, Forbidden, InvalidValue.
        MoreThanOwn: the key has permissions that the actor does not have, or the actor is a key
            that works in fewer networks.
        KeyEnded.
    """
    with _audit_rejected(actor, key_id=key_id):
        key, now = _lock_key(key_id, actor, fresh_sign_in=True)
        check_within_own(scopes=key.permissions(), may_give=permissions_in(actor, key.team_id))
        check_within_networks(key.networks, _networks_of(actor))
        check_overlap(overlap_hours)
        if not is_key_valid(revoked_at=key.revoked_at, expires_at=key.expires_at, now=now):
            raise errors.KeyEnded(
                TranslatableMessage("This key has expired or was revoked. Create a new one.")
            )
        token = new_token(KEY_PREFIX)
        key.former_digest = key.digest if overlap_hours else None
        key.former_until = now + timedelta(hours=overlap_hours) if overlap_hours else None
        key.digest, key.prefix = digest_token(token), token[:PREFIX_CHARACTERS]
        key.rotated_at = now
        key.former_made_by_user_id = key.made_by_user_id if overlap_hours else None
        key.former_people = sorted(key.person_ids()) if overlap_hours else []
        key.made_by_user_id = actor.person_id or key.made_by_user_id
        key.owner_id = actor.person_id or key.owner_id
        # With a key that creates keys, everybody who has it receives the token.
        key.token_people = sorted(actor.person_ids or key.token_people)
        if days is not UNCHANGED:
            check_key(
                name=key.name,
                scopes=key.permissions(),
                days=days,
                of_agent=key.agent_id is not None,
                may_give=key.permissions(),
            )
            key.expires_at = _end(actor, now, days)
        else:
            check_expiry_within_maker(expires_at=key.expires_at, maker_ends_at=_end_of(actor))
        key.save(
            update_fields=[
                *(*_TOKEN_COLUMNS, "rotated_at", "expires_at"),
                *("made_by_user", "former_made_by_user", "owner"),
                *("token_people", "former_people"),
            ]
        )
        record(
            key,
            "key.rotated",
            actor,
            now,
            former_until=time_text(key.former_until),
            expires_at=time_text(key.expires_at),
        )
        return key, token


def change_networks(*, key_id: UUID, networks: Sequence[str], actor: Actor) -> ApiKey:
    """
    Bind a key to networks, or to none, which allows all; open connections from elsewhere end.

    Safe to replay: the same networks again write no audit entry.

    Raises:
        NotFound, Forbidden, InvalidValue.
        MoreThanOwn: the actor is a key that works in fewer networks.
    """
    with _audit_rejected(actor, key_id=key_id):
        key, now = _lock_key(key_id, actor, fresh_sign_in=True)
        key_networks = _networks(networks, actor)
        if key.networks != key_networks:
            before, key.networks = key.networks, key_networks
            key.save(update_fields=["networks"])
            record(key, "key.networks_changed", actor, now, before=before, networks=key.networks)
        return key


def _networks(texts: Sequence[str], actor: Actor) -> list[str]:
    """Return the networks for a key. Raises InvalidValue, MoreThanOwn."""
    networks = parse_networks(texts)
    check_within_networks(networks, _networks_of(actor))
    return networks


def _networks_of(actor: Actor) -> list[str]:
    """Return the networks of the key that acts, none for people and commands."""
    if actor.key_id is None:
        return []
    networks: list[str] = ApiKey.objects.values_list("networks", flat=True).get(pk=actor.key_id)
    return networks


@transaction.atomic(durable=True)
def revoke_key(*, key_id: UUID, actor: Actor) -> ApiKey:
    """
    Revoke a key, which ends its streams and connections.

    Safe to replay: a revoked key is returned unchanged.

    Raises:
        NotFound, Forbidden.
    """
    key, now = _lock_key(key_id, actor)
    if key.revoked_at is None:
        key.revoked_at = now
        key.save(update_fields=["revoked_at"])
        record(key, "key.revoked", actor, now)
    return key


def _lock_key(
    key_id: UUID, actor: Actor, *, fresh_sign_in: bool = False
) -> tuple[ApiKey, datetime]:
    """Lock and return a key of a team that the actor administers."""
    key = lock_api_key(key_id)
    if key is None:
        raise errors.NotFound()
    # Locked: whoever is removed meanwhile must not receive a token afterwards.
    lock_permitted_team(key.team_id, actor, Permission.ADMIN, fresh_sign_in=fresh_sign_in)
    return key, database_now()


def _agent_of(team_id: UUID, slug: str) -> Agent | None:
    if not slug:
        return None
    agent = Agent.objects.filter(team=team_id, slug=slug).first()
    if agent is None:
        text = TranslatableMessage("The team has no agent with this name.")
        raise errors.InvalidValue(text, problems={"agent": [text]})
    return agent


def _end(actor: Actor, now: datetime, days: int | None) -> datetime | None:
    expires_at = None if days is None else now + timedelta(days=days)
    check_expiry_within_maker(expires_at=expires_at, maker_ends_at=_end_of(actor))
    return expires_at


def _end_of(actor: Actor) -> datetime | None:
    """Return when the actor expires, if it is a key."""
    if actor.key_id is None:
        return None
    return ApiKey.objects.values_list("expires_at", flat=True).get(pk=actor.key_id)


def new_token(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(32)


def time_text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def record(key: ApiKey, action: str, actor: Actor, now: datetime, **detail: Any) -> None:
    about = {"key": str(key.pk), "name": key.name, "prefix": key.prefix}
    if key.agent is not None:
        about["agent"] = key.agent.slug
    audit_trail.record(action, actor, now, team_id=key.team_id, **about, **detail)


@contextmanager
def _audit_rejected(
    actor: Actor, *, team_id: UUID | None = None, name: str = "", key_id: UUID | None = None
) -> Iterator[None]:
    """Run the block in a transaction; if it raises MoreThanOwn, audit that in another one."""
    try:
        with transaction.atomic(durable=True):
            yield
    except errors.MoreThanOwn as rejection:
        about = {"name": name[:80]}
        if key_id is not None:
            key = ApiKey.objects.get(pk=key_id)
            team_id, about = key.team_id, {"key": str(key.pk), "name": key.name}
        beyond = rejection.detail["beyond"]
        with transaction.atomic(durable=True):
            audit_trail.record(
                "key.refused", actor, database_now(), team_id=team_id, beyond=beyond, **about
            )
        raise
