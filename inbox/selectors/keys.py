"""API keys: finding the actor behind a bearer token."""

import hashlib

from inbox.domain.access import Actor, ActorKind
from inbox.models import ApiKey, User


def key_digest(token: str) -> str:
    """What is stored of a key; 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def actor_of_key(token: str) -> Actor | None:
    """The key's actor, or None if there is no such key."""
    key = ApiKey.objects.filter(digest=key_digest(token), revoked_at=None).first()
    if key is None:
        return None
    return Actor(
        kind=ActorKind.KEY,
        label=f"key {key.name}",
        key_id=key.pk,
        team_id=key.team_id,
        scopes=key.permissions(),
    )


def actor_of_user(user: User) -> Actor:
    """The person as an actor; what they may do is looked up when they do it."""
    return Actor(kind=ActorKind.HUMAN, label=user.display_name, user_id=user.pk)
