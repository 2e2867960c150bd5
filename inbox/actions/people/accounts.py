"""What people do with their own accounts, written down in each of their teams."""

from typing import Any, Literal
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import Membership, User
from inbox.models.clock import database_now
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt
from inbox.queries.people.accounts import user_by_login
from inbox.rules.errors import InvalidValue, NotFound
from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.text.messages import TranslatableMessage

_GUARD = Actor(kind=ActorKind.SYSTEM, label="system:sign-in")
_LONGEST_NAME = 150
AddressChange = Literal["added", "confirmed", "removed", "first"]


@transaction.atomic(durable=True)
def record_sign_in(*, actor: Actor) -> None:
    """Write down that somebody has signed in."""
    _record(actor.user_id, "person.signed_in", actor, method=actor.method)


@transaction.atomic(durable=True)
def record_lockout(*, typed: str, address: str) -> None:
    """Write down that a name or e-mail was tried too often from an address, if it is somebody's."""
    user = user_by_login(typed)
    if user is not None:
        _record(user.pk, "person.locked_out", _GUARD, username=user.username, address=address)


@transaction.atomic
def record_factor(*, user_id: int, kind: str, added: bool, actor: Actor) -> None:
    """Write down, in the transaction that does it, that a factor was added or removed."""
    _record(user_id, "factor.added" if added else "factor.removed", actor, factor=kind)


@transaction.atomic(durable=True)
def reset_factors(*, username: str, actor: Actor) -> int:
    """
    Remove a person's second factors (passkeys, authenticator app, recovery codes); return how many.

    Ends all of their sessions: a lost device may still be signed in. Safe to replay: without
    factors nothing changes and no audit entry is written.

    Raises:
        NotFound: nobody has this user name or e-mail address.
    """
    user = user_by_login(username)
    if user is None:
        raise NotFound(f"There is nobody called {username!r}.")
    factors = Authenticator.objects.filter(user=user).order_by("pk")
    kinds = [factor.type for factor in factors]
    if kinds:
        factors.delete()
        ended = end_sessions(user.pk)
        _record(
            user.pk, "factors.reset", actor, username=user.username, factors=kinds, sessions=ended
        )
    return len(kinds)


@transaction.atomic
def record_address(*, user_id: int, email: str, change: AddressChange, actor: Actor) -> None:
    """Write down, in the transaction that does it, what became of an e-mail address."""
    _record(user_id, f"address.{change}", actor, email=email)


@transaction.atomic(durable=True)
def change_password(*, user: User, password: str, actor: Actor) -> None:
    """Give a person another password, and end all of their sessions but the actor's own."""
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user.pk, keep=actor.session_key)
    _record(user.pk, "password.changed", actor, username=user.username)


@transaction.atomic(durable=True)
def change_own_name(*, full_name: str, actor: Actor) -> None:
    """
    Give the actor another name, 1 to 150 characters.

    Safe to replay: the same name again leaves no audit entry.

    Raises:
        InvalidValue.
    """
    name = " ".join(full_name.split())
    if not 1 <= len(name) <= _LONGEST_NAME:
        raise InvalidValue(
            TranslatableMessage("A name must have 1 to {count} characters.", count=_LONGEST_NAME)
        )
    user: User = User.objects.get(pk=actor.ident)
    if user.get_full_name() == name:
        return
    user.first_name, _, user.last_name = name.partition(" ")
    user.save(update_fields=["first_name", "last_name"])
    _record(user.pk, "person.renamed", actor, name=name)


@transaction.atomic(durable=True)
def end_session(*, session_id: int, actor: Actor) -> None:
    """
    End a session of the actor's own, wherever it is; its pages and streams end within seconds.

    Raises:
        NotFound.
    """
    found = UserSession.objects.filter(pk=session_id, user_id=actor.user_id).first()
    if found is None:
        raise NotFound()
    Session.objects.filter(session_key=found.session_key).delete()
    found.delete()
    _record(actor.user_id, "session.ended", actor, address=found.ip, count=1)


@transaction.atomic(durable=True)
def end_other_sessions(*, actor: Actor) -> None:
    """End all sessions of the actor's own but the one they act in."""
    if actor.user_id is not None and (count := end_sessions(actor.user_id, keep=actor.session_key)):
        _record(actor.user_id, "session.ended", actor, count=count)


def encrypt_seed(seed: str) -> str:
    """What is stored of the seed of codes."""
    return encrypt(seed)


def decrypt_seed(sealed: str) -> str | None:
    """The seed, or None if it was sealed under another secret key."""
    try:
        return str(decrypt(sealed))
    except DecryptionFailed:
        return None


def end_sessions(user_id: int, *, keep: str = "") -> int:
    """End all sessions of a person, but one to keep; return how many. Writes nothing down."""
    others = UserSession.objects.filter(user_id=user_id).exclude(session_key=keep)
    keys = list(others.values_list("session_key", flat=True))
    count, _ = Session.objects.filter(session_key__in=keys).delete()
    others.delete()
    return count


def _record(user_id: int | None, action: str, actor: Actor, **detail: Any) -> None:
    now = database_now()
    memberships = Membership.objects.filter(user=user_id)
    teams: list[UUID | None] = list(memberships.values_list("team", flat=True))
    # Whoever runs the installation may belong to no team; that they come in is told all the same.
    audit_trail.record_all(
        audit_trail.build_entry(action=action, actor=actor, now=now, team_id=team_id, **detail)
        for team_id in teams or [None]
    )
