"""Changes of people's own accounts, audited in each of their teams."""

from typing import Any
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
from inbox.rules.people.access import SIGN_IN, Actor
from inbox.rules.text.messages import TranslatableMessage

_MAX_NAME_CHARACTERS = 150


@transaction.atomic(durable=True)
def record_sign_in(*, actor: Actor) -> None:
    record_change(actor.user_id, "person.signed_in", actor, method=actor.method)


@transaction.atomic(durable=True)
def record_lockout(*, typed: str, address: str) -> None:
    """Audit a lockout after too many sign-in attempts, if the name or e-mail is a user's."""
    user = user_by_login(typed)
    if user is not None:
        record_change(
            user.pk, "person.locked_out", SIGN_IN, username=user.username, address=address
        )


@transaction.atomic(durable=True)
def reset_factors(*, username: str, actor: Actor) -> int:
    """
    Remove a person's second factors (passkeys, authenticator app, recovery codes); return how many.

    Ends all sessions of the person, because a lost device may be signed in. Safe to replay: without
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
        record_change(
            user.pk, "factors.reset", actor, username=user.username, factors=kinds, sessions=ended
        )
    return len(kinds)


@transaction.atomic(durable=True)
def change_password(*, user: User, password: str, actor: Actor) -> None:
    """Set a person's password, and end all their sessions except the actor's current one."""
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user.pk, keep=actor.session_key)
    action = "password.changed" if actor.user_id == user.pk else "password.set"
    record_change(user.pk, action, actor, username=user.username)


@transaction.atomic(durable=True)
def change_own_name(*, full_name: str, actor: Actor) -> None:
    """
    Change the actor's name to one of 1 to 150 characters.

    Safe to replay: the same name again writes no audit entry.

    Raises:
        InvalidValue.
    """
    name = " ".join(full_name.split())
    if not 1 <= len(name) <= _MAX_NAME_CHARACTERS:
        raise InvalidValue(
            TranslatableMessage(
                "A name must have 1 to {count} characters.", count=_MAX_NAME_CHARACTERS
            )
        )
    user: User = User.objects.get(pk=actor.ident)
    if user.get_full_name() == name:
        return
    user.first_name, _, user.last_name = name.partition(" ")
    user.save(update_fields=["first_name", "last_name"])
    record_change(user.pk, "person.renamed", actor, name=name)


@transaction.atomic(durable=True)
def end_session(*, session_id: int, actor: Actor) -> None:
    """
    End one of the actor's sessions; its pages and streams end within seconds.

    Raises:
        NotFound.
    """
    session = UserSession.objects.filter(pk=session_id, user_id=actor.user_id).first()
    if session is None:
        raise NotFound()
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()
    record_change(actor.user_id, "session.ended", actor, address=session.ip, count=1)


@transaction.atomic(durable=True)
def end_other_sessions(*, actor: Actor) -> None:
    """End all of the actor's sessions except the current one."""
    if actor.user_id is not None and (count := end_sessions(actor.user_id, keep=actor.session_key)):
        record_change(actor.user_id, "session.ended", actor, count=count)


def encrypt_seed(seed: str) -> str:
    return encrypt(seed)


def decrypt_seed(encrypted: str) -> str | None:
    """Return the seed, or None if it was encrypted with another secret key."""
    try:
        return str(decrypt(encrypted))
    except DecryptionFailed:
        return None


def end_sessions(user_id: int, *, keep: str = "") -> int:
    """End all sessions of a person except `keep`; return how many. Writes no audit entry."""
    others = UserSession.objects.filter(user_id=user_id).exclude(session_key=keep)
    keys = list(others.values_list("session_key", flat=True))
    count, _ = Session.objects.filter(session_key__in=keys).delete()
    others.delete()
    return count


@transaction.atomic
def record_change(user_id: int | None, action: str, actor: Actor, **detail: Any) -> None:
    """
    Audit a change of a person's account, in its transaction and in each of their teams.

    The installation's chain has the changes of a person without a team, such as a superuser.
    """
    now = database_now()
    memberships = Membership.objects.filter(user=user_id)
    teams: list[UUID | None] = list(memberships.values_list("team", flat=True))
    audit_trail.record_all(
        audit_trail.build_entry(action, actor, now, team_id=team_id, **detail)
        for team_id in teams or [None]
    )
