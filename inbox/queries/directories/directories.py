"""The directory of a SCIM request, and whether its token is valid."""

from datetime import datetime

from inbox.models import Directory
from inbox.models.statements import Select
from inbox.platform.clock import database_now
from inbox.platform.usage_buffer import note_refusal, note_use
from inbox.queries.people.api_key_tokens import digest_token
from inbox.rules.errors import NetworkNotAllowed, Unauthenticated
from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.people.api_keys import is_key_valid
from inbox.rules.people.key_networks import is_address_allowed
from inbox.rules.text.messages import TranslatableMessage

_DIRECTORY = Select(lambda params: Directory.objects.filter(digest=params.digest))


def directory_actor(header: str, address: str) -> Actor:
    """
    Return the actor of an Authorization header with the token of a directory.

    Raises:
        Unauthenticated, NetworkNotAllowed.
    """
    scheme, _, token = header.partition(" ")
    digest, now = digest_token(token.strip()), database_now()
    directory = _DIRECTORY.first(digest=digest) if scheme.lower() == "bearer" else None
    if directory is None:
        raise Unauthenticated("Send `Authorization: Bearer <token of a directory>`.")
    try:
        check_directory(directory, digest, address, now)
    except NetworkNotAllowed:
        note_refusal(directory.pk, now, address=address, written_at=directory.last_refused_at)
        raise
    except Unauthenticated:
        note_refusal(directory.pk, now, written_at=directory.last_refused_at)
        raise
    note_use(directory.pk, now, written_at=directory.last_used_at)
    return Actor(
        kind=ActorKind.SYSTEM,
        label=f"directory {directory.name}",
        directory_id=directory.pk,
        token_digest=digest,
        address=address,
        method="directory",
    )


def check_directory(directory: Directory, digest: str, address: str, now: datetime) -> None:
    """
    Raise unless a token of the directory is valid for a client at this address.

    Raises:
        Unauthenticated, NetworkNotAllowed.
    """
    is_valid = is_key_valid(
        revoked_at=directory.revoked_at, expires_at=directory.expires_at, now=now
    )
    if digest != directory.digest or not is_valid:
        raise Unauthenticated(
            TranslatableMessage("This token of a directory has expired or was revoked.")
        )
    if not is_address_allowed(address, directory.networks):
        raise NetworkNotAllowed(
            TranslatableMessage("This token may not be used from your address.")
        )
