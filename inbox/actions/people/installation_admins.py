"""Superusers, and deactivating people."""

from typing import Any

from django.db import transaction

from inbox.actions.people.accounts import end_sessions, record_change
from inbox.models import User
from inbox.models.locks import lock_superusers, lock_user
from inbox.queries.people.access import is_installation_admin
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage


@transaction.atomic(durable=True)
def set_active(*, user_id: int, is_active: bool, actor: Actor) -> None:
    """
    Activate a person, or deactivate them and end all their sessions.

    The last administrator of a team may be deactivated, as superusers administer every team. Safe
    to replay: a call without effect writes no audit entry.

    Raises:
        Forbidden, NotFound.
        LastAdmin: no active superuser would be left.
    """
    user = _lock(actor, pk=user_id)
    if user.is_active is is_active:
        return
    if not is_active:
        _check_other_superuser(user)
        end_sessions(user.pk)
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
    user = _lock(actor, username=username)
    if user.is_superuser is is_superuser:
        return
    if not is_superuser:
        _check_other_superuser(user)
    user.is_superuser = user.is_staff = is_superuser
    user.save(update_fields=["is_superuser", "is_staff"])
    action = "superuser.added" if is_superuser else "superuser.removed"
    record_change(user.pk, action, actor, username=user.username)


def _lock(actor: Actor, **who: Any) -> User:
    """
    Lock and return a person.

    All superusers are locked first, in one order, so that these actions wait for each other.
    """
    lock_superusers()
    if not is_installation_admin(actor):
        raise errors.Forbidden(TranslatableMessage("Only superusers can do this."))
    user = lock_user(**who)
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
