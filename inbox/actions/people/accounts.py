"""Accounts of people, their sessions, and superusers."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessLog
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.people.credentials import end_credentials
from inbox.models import ChatLinkCode, Membership, Team, User
from inbox.models.locks import lock_credentials, lock_superusers, lock_teams, lock_user
from inbox.models.people.sessions import stored_key
from inbox.platform import clock
from inbox.platform.clock import database_now
from inbox.queries.people.access import is_installation_admin, require_fresh_sign_in
from inbox.queries.people.accounts import user_by_login
from inbox.queries.people.credentials import rows_of
from inbox.queries.people.invitations import open_invitations_to
from inbox.queries.people.members import names_in_teams
from inbox.rules import errors
from inbox.rules.people.access import SIGN_IN, Actor
from inbox.rules.people.person_names import check_person_name
from inbox.rules.text.messages import TranslatableMessage

#: django-axes reads attempts of the last quarter of an hour.
ATTEMPTS_KEPT = timedelta(days=1)
#: An address counts as known to a person for this long after a sign-in.
SIGN_INS_KEPT = timedelta(days=90)


@transaction.atomic(durable=True)
def record_sign_in(*, actor: Actor) -> None:
    record_change(actor.user_id, "person.signed_in", actor, method=actor.method)


@transaction.atomic(durable=True)
def record_lockout(*, login: str, address: str) -> None:
    """Audit a lockout after too many sign-in attempts, if the name or e-mail is a user's."""
    user = user_by_login(login)
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
        raise errors.NotFound(f"No user has the name or e-mail address {username!r}.")
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
    Change the actor's name.

    Safe to replay: the same name again writes no audit entry.

    Raises:
        InvalidValue: also if it looks like the name of a member of one of the actor's teams.
    """
    name = " ".join(full_name.split())
    user: User = User.objects.get(pk=actor.ident)
    before = user.get_full_name()
    if before == name != "":
        return
    teams = list(Membership.objects.filter(user=user).values_list("team", flat=True))
    check_person_name(name, names_in_teams(teams, except_user=user.pk))
    user.first_name, _, user.last_name = name.partition(" ")
    user.save(update_fields=["first_name", "last_name"])
    record_change(user.pk, "person.renamed", actor, before=before, name=name)


@transaction.atomic(durable=True)
def end_session(*, session_id: int, actor: Actor) -> None:
    """
    End one of the actor's sessions; its pages and streams end within seconds.

    Raises:
        NotFound, ReauthenticationRequired.
    """
    session = UserSession.objects.filter(pk=session_id, user_id=actor.user_id).first()
    if session is None:
        raise errors.NotFound()
    require_fresh_sign_in(actor, database_now())
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()
    record_change(actor.user_id, "session.ended", actor, address=session.ip, count=1)


@transaction.atomic(durable=True)
def end_other_sessions(*, actor: Actor) -> None:
    """
    End all of the actor's sessions except the current one.

    Raises:
        ReauthenticationRequired.
    """
    require_fresh_sign_in(actor, database_now())
    if actor.user_id is not None and (count := end_sessions(actor.user_id, keep=actor.session_key)):
        record_change(actor.user_id, "session.ended", actor, count=count)


def end_sessions(user_id: int, *, keep: str = "") -> int:
    """End all sessions of a person except `keep`; return how many. Writes no audit entry."""
    others = UserSession.objects.filter(user_id=user_id).exclude(session_key=keep)
    keys = list(others.values_list("session_key", flat=True))
    count, _ = Session.objects.filter(session_key__in=keys).delete()
    others.delete()
    return count


@transaction.atomic
def renew_session(session: SessionBase) -> None:
    """
    Give a session a new key after its person has proved again who they are.

    The former key opens nothing any more, whoever has it. The record of the session, its beginning
    and its limits stay. Sockets of the former key end, and pages connect again with the new cookie.
    """
    former_key = stored_key(session.session_key)
    session.cycle_key()
    record = UserSession.objects.filter(session_key=former_key)
    record.update(session_key=stored_key(session.session_key))
    session.save()  # `cycle_key` has stored an empty session, which others may meet meanwhile


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


@transaction.atomic(durable=True)
def set_active(*, user_id: int, is_active: bool, actor: Actor) -> None:
    """
    Activate a person, or deactivate them.

    Deactivation ends all their sessions, and in every team their keys, webhooks and invitations as
    `end_credentials` does. They do not come back when the person is activated again.

    The last administrator of a team may be deactivated, as superusers administer every team. Safe
    to replay: a call without effect writes no audit entry.

    Raises:
        Forbidden, NotFound.
        LastAdmin: no active superuser would be left.
    """
    user = _lock_user(actor, pk=user_id)
    if user.is_active is not is_active and not is_active:
        _check_other_superuser(user)
    switch_account(user, is_active=is_active, actor=actor)


def switch_account(user: User, *, is_active: bool, actor: Actor) -> None:
    """Do what `set_active` does for a person whom the caller has locked after the superusers."""
    if user.is_active is is_active:
        return
    if not is_active:
        end_sessions(user.pk)
        end_all_credentials(user, actor)
    user.is_active = is_active
    user.save(update_fields=["is_active"])
    action = "person.activated" if is_active else "person.deactivated"
    record_change(user.pk, action, actor, username=user.username)


@transaction.atomic(durable=True)
def set_superuser(*, username: str, is_superuser: bool, actor: Actor) -> None:
    """
    Make a person a superuser, or end that. Safe to replay.

    Raises:
        Forbidden, NotFound, LastAdmin.
    """
    user = _lock_user(actor, username=username)
    if user.is_superuser is is_superuser:
        return
    if not is_superuser:
        _check_other_superuser(user)
    user.is_superuser = user.is_staff = is_superuser
    user.save(update_fields=["is_superuser", "is_staff"])
    action = "superuser.added" if is_superuser else "superuser.removed"
    record_change(user.pk, action, actor, username=user.username)


def end_all_credentials(user: User, actor: Actor) -> None:
    """End the keys, webhooks and invitations of a person, and those to them, in all teams."""
    lock_credentials([user.pk])
    teams = Team.objects.values_list("pk", flat=True)
    owned = rows_of(user.pk, list(teams))
    # Their present teams as well: they may be making their first key there at this moment.
    memberships = Membership.objects.filter(user=user).values_list("team", flat=True)
    rows = [*owned.all(), *open_invitations_to(user.pk)]
    team_ids = {row.team_id for row in rows}.union(memberships)
    lock_teams(team_ids)
    end_credentials(user_id=user.pk, team_ids=team_ids, actor=actor, now=database_now())


def _lock_user(actor: Actor, **lookup: Any) -> User:
    """
    Lock and return a person.

    All superusers are locked first, in one order, so that these actions wait for each other.
    """
    lock_superusers()
    if not is_installation_admin(actor):
        raise errors.Forbidden(TranslatableMessage("Only superusers can do this."))
    user = lock_user(**lookup)
    if user is None:
        raise errors.NotFound()
    return user


def _check_other_superuser(user: User) -> None:
    if not user.is_superuser or not user.is_active:
        return
    if not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk).exists():
        raise errors.LastAdmin(
            TranslatableMessage(
                "Signoff needs at least one superuser. Make someone else a superuser first."
            )
        )


@transaction.atomic(durable=True)
def delete_stale_rows() -> int:
    """Delete old attempts and sign-ins, expired sessions and codes; return the number of rows."""
    now = clock.now()
    sessions = Session.objects.values("session_key")
    stale_rows = (
        AccessAttempt.objects.filter(attempt_time__lt=now - ATTEMPTS_KEPT),
        AccessLog.objects.filter(attempt_time__lt=now - SIGN_INS_KEPT),
        Session.objects.filter(expire_date__lt=now),
        UserSession.objects.exclude(session_key__in=sessions),  # after the sessions themselves
        ChatLinkCode.objects.filter(expires_at__lt=now),
    )
    return sum(rows.delete()[0] for rows in stale_rows)
