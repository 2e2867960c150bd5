"""Directories of the installation and their tokens, which superusers and commands administer."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.people.api_keys import PREFIX_CHARACTERS, new_token, time_text
from inbox.models import Directory
from inbox.models.locks import lock_directory
from inbox.platform.clock import database_now
from inbox.queries.directories.directories import check_directory
from inbox.queries.people.access import is_installation_admin, require_fresh_sign_in
from inbox.queries.people.api_key_tokens import digest_token
from inbox.rules import errors
from inbox.rules.directories.directory_people import MAX_DIRECTORIES
from inbox.rules.people.access import Actor
from inbox.rules.people.api_keys import token_problems
from inbox.rules.people.key_networks import parse_networks
from inbox.rules.text.messages import TranslatableMessage

#: Another prefix than that of API keys, so that scanners of secrets can tell them apart.
TOKEN_PREFIX = "sd_"  # noqa: S105 - no token


@transaction.atomic(durable=True)
def add_directory(
    *,
    name: str,
    actor: Actor,
    days: int | None = None,
    networks: Sequence[str] = (),
    links_accounts: bool = False,
) -> tuple[Directory, str]:
    """
    Create a directory; return it with its token, which is shown only once.

    The token expires after `days`, or never with None, and works only from `networks`, if there are
    any. With `links_accounts` the directory takes over people who have confirmed the address that
    it gives; without, it can only create people.

    Raises:
        Forbidden, ReauthenticationRequired.
        InvalidValue: with `problems`; also if there are too many directories.
        AddressTaken: there is a directory of this name.
    """
    now = database_now()
    require_administrator(actor, now)
    errors.raise_for(token_problems(name=name, days=days, days_field="days"))
    if Directory.objects.filter(name=name).exists():
        raise errors.AddressTaken(
            TranslatableMessage("There is a directory with this name. Choose another one.")
        )
    if Directory.objects.filter(revoked_at=None).count() >= MAX_DIRECTORIES:
        text = TranslatableMessage(
            "There can be at most {count} directories. Revoke one first.", count=MAX_DIRECTORIES
        )
        raise errors.InvalidValue(text, problems={"name": [text]})
    token = new_token(TOKEN_PREFIX)
    directory = Directory.objects.create(
        name=name,
        prefix=token[:PREFIX_CHARACTERS],
        digest=digest_token(token),
        networks=parse_networks(networks),
        links_accounts=links_accounts,
        created_by=actor.label[:160],
        created_at=now,
        expires_at=_end(now, days),
    )
    _record(
        directory,
        "directory.added",
        actor,
        now,
        networks=directory.networks,
        links_accounts=links_accounts,
        expires_at=time_text(directory.expires_at),
    )
    return directory, token


@transaction.atomic(durable=True)
def replace_token(*, directory_id: UUID, actor: Actor, days: int | None = None) -> str:
    """
    Give a directory a new token, which is shown only once; the former one ends at once.

    Raises:
        Forbidden, ReauthenticationRequired, NotFound, InvalidValue.
        KeyEnded: the directory was revoked.
    """
    directory, now = _lock(directory_id, actor)
    errors.raise_for(token_problems(name=directory.name, days=days, days_field="days"))
    if directory.revoked_at is not None:
        raise errors.KeyEnded(TranslatableMessage("This directory was revoked. Create a new one."))
    token = new_token(TOKEN_PREFIX)
    directory.digest, directory.prefix = digest_token(token), token[:PREFIX_CHARACTERS]
    directory.replaced_at, directory.expires_at = now, _end(now, days)
    directory.save(update_fields=["digest", "prefix", "replaced_at", "expires_at"])
    expires_at = time_text(directory.expires_at)
    _record(directory, "directory.token_replaced", actor, now, expires_at=expires_at)
    return token


@transaction.atomic(durable=True)
def change_networks(*, directory_id: UUID, networks: Sequence[str], actor: Actor) -> None:
    """
    Bind the token of a directory to networks, or to none, which allows all. Safe to replay.

    Raises:
        Forbidden, ReauthenticationRequired, NotFound, InvalidValue.
    """
    directory, now = _lock(directory_id, actor)
    before, directory.networks = directory.networks, parse_networks(networks)
    if directory.networks != before:
        directory.save(update_fields=["networks"])
        _record(
            directory,
            "directory.networks_changed",
            actor,
            now,
            before=before,
            networks=directory.networks,
        )


@transaction.atomic(durable=True)
def revoke_directory(*, directory_id: UUID, actor: Actor) -> None:
    """
    Revoke the token of a directory for good. Its people keep their accounts and teams.

    They belong to no directory any more, and another one can link them. Safe to replay.

    Raises:
        Forbidden, ReauthenticationRequired, NotFound.
    """
    directory, now = _lock(directory_id, actor)
    if directory.revoked_at is None:
        directory.revoked_at = now
        directory.save(update_fields=["revoked_at"])
        people = directory.people.count()
        directory.groups.all().delete()
        directory.people.all().delete()
        _record(directory, "directory.revoked", actor, now, people=people)


def lock_acting_directory(actor: Actor) -> tuple[Directory, datetime]:
    """
    Lock the directory that acts over SCIM, and check its token as it is now.

    Raises:
        Unauthenticated, NetworkNotAllowed.
    """
    directory = lock_directory(actor.directory_id) if actor.directory_id else None
    if directory is None:
        raise errors.Unauthenticated("Only a directory can do this.")
    now = database_now()
    check_directory(directory, actor.token_digest, actor.address, now)
    return directory, now


def _lock(directory_id: UUID, actor: Actor) -> tuple[Directory, datetime]:
    directory = lock_directory(directory_id)
    now = database_now()
    require_administrator(actor, now)
    if directory is None:
        raise errors.NotFound()
    return directory, now


def require_administrator(actor: Actor, now: datetime) -> None:
    """Raise unless a superuser with a fresh sign-in acts: Forbidden, ReauthenticationRequired."""
    if actor.directory_id is not None or not is_installation_admin(actor):
        raise errors.Forbidden(TranslatableMessage("Only superusers can do this."))
    require_fresh_sign_in(actor, now)


def _end(now: datetime, days: int | None) -> datetime | None:
    return None if days is None else now + timedelta(days=days)


def _record(directory: Directory, action: str, actor: Actor, now: datetime, **detail: Any) -> None:
    audit_trail.record(
        action, actor, now, directory=directory.name, prefix=directory.prefix, **detail
    )
