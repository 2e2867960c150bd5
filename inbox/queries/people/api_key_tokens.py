"""Validity of API tokens: the key has not ended, and the token was not replaced."""

import hashlib
from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from inbox.models import ApiKey
from inbox.models.statements import Select
from inbox.platform.clock import database_now
from inbox.rules.people.api_keys import is_key_valid


def digest_token(token: str) -> str:
    """Return the digest that is stored of a token; 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def key_by_digest(digest: str) -> ApiKey | None:
    """Return the key with this current or former token, valid or not."""
    return _KEY.first(digest=digest)


_KEY = Select(
    lambda params: ApiKey.objects.filter(
        Q(digest=params.digest) | Q(former_digest=params.digest)
    ).order_by("pk")[:1]
)


def is_token_valid(key: ApiKey, digest: str, now: datetime) -> bool:
    """Return whether this token of the key is valid."""
    if digest != key.digest and (key.former_until is None or now >= key.former_until):
        return False
    return is_key_valid(revoked_at=key.revoked_at, expires_at=key.expires_at, now=now)


def networks_of_tokens(digests: Collection[str]) -> dict[str, list[str]]:
    """Return the digests whose tokens are valid now, with the networks of their keys."""
    if not digests:
        return {}
    now = database_now()
    keys = ApiKey.objects.filter(Q(digest__in=digests) | Q(former_digest__in=digests))
    return {
        digest: key.networks
        for key in keys
        for digest in (key.digest, key.former_digest)
        if digest and digest in digests and is_token_valid(key, digest, now)
    }
