"""Actors by API token or session, and the API keys of a team."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest

from inbox.models import ApiKey, User
from inbox.models.people.sessions import SessionStore, stored_key
from inbox.platform.clock import database_now
from inbox.platform.usage_buffer import note_refusal, note_use
from inbox.queries.people.access import require
from inbox.queries.people.api_key_tokens import (
    digest_token,
    is_token_valid,
    key_by_digest,
    networks_of_tokens,
)
from inbox.rules.errors import NetworkNotAllowed, NotFound, Unauthenticated
from inbox.rules.people.access import Actor, ActorKind, Permission
from inbox.rules.people.auth_methods import last_sign_in, sign_in_method
from inbox.rules.people.key_networks import is_address_allowed
from inbox.rules.people.required_sign_in import proofs_in
from inbox.rules.text.messages import TranslatableMessage

_NETWORK_NOT_ALLOWED = TranslatableMessage("This key may not be used from your address.")


def actor_of_header(header: str, address: str) -> Actor | None:
    """
    Return the actor of an Authorization header; None unless it has a valid API key.

    `address` is that of the client, as `client_ip_of` finds it.

    Raises:
        NetworkNotAllowed.
    """
    scheme, _, token = header.partition(" ")
    return actor_of_key(token.strip(), address) if scheme.lower() == "bearer" else None


def actor_of_key(token: str, address: str = "") -> Actor | None:
    """
    Return the actor of an API token; None if the token is unknown or no longer valid.

    Raises:
        NetworkNotAllowed.
    """
    digest, now = digest_token(token), database_now()
    key = key_by_digest(digest)
    if key is None:
        return None
    if not is_token_valid(key, digest, now):
        note_refusal(key.pk, now, written_at=key.last_refused_at)
        return None
    if not is_address_allowed(address, key.networks):
        note_refusal(key.pk, now, address=address, written_at=key.last_refused_at)
        raise NetworkNotAllowed(_NETWORK_NOT_ALLOWED)
    note_use(key.pk, now, written_at=key.last_used_at)
    return Actor(
        kind=ActorKind.KEY,
        label=f"key {key.name}",
        key_id=key.pk,
        team_id=key.team_id,
        scopes=key.permissions(),
        agent_id=key.agent_id,
        token_digest=digest,
        address=address,
        method="key",
        on_behalf=key.created_by,
        maker_id=key.made_by_user_id if digest == key.digest else key.former_made_by_user_id,
        key_people=key.person_ids(now),
    )


def actor_of_user(user: User, session: SessionBase | None = None) -> Actor:
    """Return the actor of a user and session; permissions are read when they are needed."""
    steps = _sign_in_steps(user, session) if session else []
    return Actor(
        kind=ActorKind.HUMAN,
        label=user.display_name,
        user_id=user.pk,
        method=sign_in_method(steps),
        session_key=stored_key(session.session_key) if session else "",
        signed_in_at=last_sign_in(steps),
        proofs=proofs_in(steps),
    )


def check_credentials_valid(actor: Actor) -> None:
    """
    Raise unless the actor's API key or session is still valid.

    Raises:
        Unauthenticated: the token has expired or was revoked or replaced, the session has ended, or
            the user is deactivated.
    """
    if actor.key_id is not None:
        networks = networks_of_tokens({actor.token_digest}).get(actor.token_digest)
        is_valid = networks is not None and is_address_allowed(actor.address, networks)
    elif actor.session_key:
        is_valid = _is_signed_in(actor)
    else:
        is_valid = User.objects.filter(pk=actor.user_id or 0, is_active=True).exists()
    if not is_valid:
        raise Unauthenticated("The key or the session has ended. Sign in again.")


def _is_signed_in(actor: Actor) -> bool:
    """Return whether the session is valid: a changed password ends sessions that are stored."""
    request = HttpRequest()
    request.session = SessionStore.copy_of(actor.session_key)
    return get_user(request).pk == actor.user_id


def actor_of_superuser(user: User, session: SessionBase) -> Actor:
    """Return the actor of a superuser in the admin, where they administer every team."""
    return replace(actor_of_user(user, session), runs_installation=True)


def _sign_in_steps(user: User, session: SessionBase) -> Sequence[Mapping[str, Any]]:
    # The session keys in which django-allauth records the steps of signing in, and their user.
    if session.get("account_authentication_methods_user") != str(user.pk):
        return []
    steps: Sequence[Mapping[str, Any]] = session.get("account_authentication_methods", [])
    return steps


def keys_for(actor: Actor, team_id: UUID) -> Sequence[ApiKey]:
    """
    Return the keys of a team, the latest first, revoked ones last.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    rows = ApiKey.objects.filter(team=team_id).select_related("team", "agent").order_by("-pk")
    return sorted(rows, key=lambda key: key.revoked_at is not None)


def api_keys_page(
    actor: Actor, team_id: UUID, *, limit: int, after: UUID | None = None
) -> Sequence[ApiKey]:
    """
    Return up to `limit` keys of a team, the latest first, after the id `after`.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    rows = ApiKey.objects.filter(team=team_id).select_related("team", "agent").order_by("-pk")
    return list((rows if after is None else rows.filter(pk__lt=after))[:limit])


def working_keys_of(actor: Actor, team_id: UUID) -> Sequence[ApiKey]:
    """
    Return the valid keys of a team, by name; every member may see them.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    now = database_now()
    rows = ApiKey.objects.filter(team=team_id, revoked_at=None).select_related("agent")
    return [key for key in rows.order_by("name", "pk") if is_token_valid(key, key.digest, now)]


def key_for(actor: Actor, key_id: UUID) -> ApiKey:
    """
    Return a key with its team and agent.

    Raises:
        NotFound, Forbidden.
    """
    key = ApiKey.objects.select_related("team", "agent").filter(pk=key_id).first()
    if key is None:
        raise NotFound()
    require(actor, key.team_id, Permission.ADMIN)
    return key
