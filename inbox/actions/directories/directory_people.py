"""People of a directory: it creates their accounts, changes, deactivates and removes them."""

from collections.abc import Callable
from datetime import datetime
from secrets import token_hex

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.hashers import make_password
from django.db import transaction

from inbox.actions.conflicts import retry_on_conflict
from inbox.actions.directories.directories import lock_acting_directory
from inbox.actions.people.accounts import end_all_credentials, record_change, switch_account
from inbox.actions.people.invitations import check_address
from inbox.actions.people.members import delete_membership
from inbox.models import Directory, DirectoryUser, Membership, User
from inbox.models.locks import lock_superusers, lock_user
from inbox.queries.directories.directory_people import person_of
from inbox.queries.people.members import names_in_teams
from inbox.rules import errors
from inbox.rules.directories.directory_people import (
    Person,
    check_person,
    check_user_name,
    removed_user_name,
    user_name_key,
)
from inbox.rules.people.access import Actor
from inbox.rules.people.person_names import is_valid_name
from inbox.rules.text.messages import TranslatableMessage

_TAKEN = TranslatableMessage(
    "There is an account with this user name or address, and it does not belong to this directory."
)


@retry_on_conflict
@transaction.atomic(durable=True)
def add_person(*, person: Person, actor: Actor) -> DirectoryUser:
    """
    Create the account of a person, without a password and in no team.

    A directory that links accounts takes over the active account that has confirmed the address.

    Raises:
        Unauthenticated, NetworkNotAllowed: the token of the directory has ended.
        UsernameTaken: another account has the user name or the address.
        InvalidValue.
    """
    check_person(person)
    if person.email:
        check_address(person.email, field="emails")
    directory, now = lock_acting_directory(actor)
    lock_superusers()
    key = user_name_key(person.user_name)
    if DirectoryUser.objects.filter(user_name_key=key).exists():
        raise errors.UsernameTaken(_TAKEN)
    linked = _account_to_link(directory, person)
    user = linked or _make_account(person)
    row = DirectoryUser.objects.create(
        directory=directory,
        user=user,
        is_linked=linked is not None,
        external_id=person.external_id,
        user_name=person.user_name,
        user_name_key=key,
        is_active=person.is_active,
        profile=dict(person.profile),
        created_at=now,
        changed_at=now,
    )
    # First, because it locks keys and webhooks, which come before teams and their audit chains.
    switch_account(user, is_active=person.is_active, actor=actor)
    record_change(
        user.pk,
        "person.linked" if linked else "person.added",
        actor,
        username=user.username,
        email=person.email,
        external_id=person.external_id,
    )
    _apply_profile(row, person, before=None, actor=actor)
    return row


@retry_on_conflict
@transaction.atomic(durable=True)
def change_person(
    *, person_id: str, change: Callable[[DirectoryUser], Person], actor: Actor
) -> DirectoryUser:
    """
    Change a person to what `change` returns for the row as it is; called under the lock.

    A person who becomes inactive loses all sessions, keys, webhooks and invitations, in all teams.
    Safe to replay: a change without effect writes no audit entry.

    Raises:
        Unauthenticated, NetworkNotAllowed, NotFound, UsernameTaken, InvalidValue.
        Forbidden: the person is a superuser.
    """
    row, now = _lock_person(person_id, actor)
    before = described(row)
    person = change(row)
    if person == before:
        return row
    check_person(person)
    _require_no_superuser(row.user)
    if person.is_active is not before.is_active:
        # First, because it locks keys and webhooks, which come before teams and their audit chains.
        switch_account(row.user, is_active=person.is_active, actor=actor)
    row.external_id, row.is_active = person.external_id, person.is_active
    row.profile, row.changed_at = dict(person.profile), now
    if person.user_name != before.user_name:
        _rename_account(row, person.user_name, actor)
    row.save(
        update_fields=[
            *("external_id", "is_active", "profile", "changed_at", "user_name", "user_name_key"),
        ]
    )
    _apply_profile(row, person, before=before, actor=actor)
    return row


@transaction.atomic(durable=True)
def remove_person(
    *, person_id: str, check: Callable[[DirectoryUser], object], actor: Actor
) -> None:
    """
    Remove a person everywhere: they are deactivated, leave all teams, and cannot sign in again.

    `check` is called under the lock. Their decisions stay, under their name. The account has no
    password, factors and addresses any more, and its user name is free: somebody else may get it.
    Also the last administrator of a team leaves it, as superusers administer every team.

    Raises:
        Unauthenticated, NetworkNotAllowed, NotFound.
        Forbidden: the person is a superuser.
    """
    row, _ = _lock_person(person_id, actor)
    check(row)
    user = row.user
    _require_no_superuser(user)
    end_all_credentials(user, actor)
    switch_account(user, is_active=False, actor=actor)
    record_change(user.pk, "person.removed", actor, username=user.username)
    for membership in Membership.objects.filter(user=user).select_related("user").order_by("team"):
        delete_membership(membership, "member.removed", actor)
    row.delete()
    _forget_sign_in(user)


def described(row: DirectoryUser) -> Person:
    """Return a person as the directory described them last."""
    return Person(
        user_name=row.user_name,
        is_active=row.is_active,
        external_id=row.external_id,
        profile=row.profile,
    )


def _lock_person(person_id: str, actor: Actor) -> tuple[DirectoryUser, datetime]:
    _, now = lock_acting_directory(actor)
    lock_superusers()
    row = person_of(actor, person_id)
    user = lock_user(pk=row.user_id)
    if user is None:
        raise errors.NotFound()
    row.user = user
    return row, now


def _require_no_superuser(user: User) -> None:
    if user.is_superuser:
        raise errors.Forbidden(
            TranslatableMessage(
                "Directories cannot change superusers. Run manage.py set_superuser --remove first."
            )
        )


def _account_to_link(directory: Directory, person: Person) -> User | None:
    """
    Return the account that the directory takes over, None for a new one.

    Raises:
        UsernameTaken.
    """
    address = EmailAddress.objects.filter(email=person.email or None, verified=True).first()
    if address is not None and directory.links_accounts:
        user: User | None = lock_user(pk=address.user_id)
        is_free = not DirectoryUser.objects.filter(user=address.user_id).exists()
        if user is not None and is_free and user.is_active and not user.is_superuser:
            return user
    if address is not None or User.objects.filter(username__iexact=person.user_name).exists():
        raise errors.UsernameTaken(_TAKEN)
    return None


def _make_account(person: Person) -> User:
    check_user_name(person.user_name)
    user = User(username=person.user_name, password=make_password(None))
    user.save(force_insert=True)
    return user


def _rename_account(row: DirectoryUser, user_name: str, actor: Actor) -> None:
    """Give a person another user name; accounts that were there before keep theirs."""
    key = user_name_key(user_name)
    if DirectoryUser.objects.filter(user_name_key=key).exclude(pk=row.pk).exists():
        raise errors.UsernameTaken(_TAKEN)
    row.user_name, row.user_name_key = user_name, key
    user = row.user
    if row.is_linked or user.username == user_name:
        return
    check_user_name(user_name)
    if User.objects.filter(username__iexact=user_name).exclude(pk=user.pk).exists():
        raise errors.UsernameTaken(_TAKEN)
    before, user.username = user.username, user_name
    user.save(update_fields=["username"])
    record_change(user.pk, "username.changed", actor, before=before, username=user_name)


def _apply_profile(
    row: DirectoryUser, person: Person, *, before: Person | None, actor: Actor
) -> None:
    """Give an account the name and the address that the directory has changed."""
    if before is None or person.full_name != before.full_name:
        _apply_name(row.user, person.full_name, actor, is_new=before is None)
    if before is None or person.email != before.email:
        _apply_address(row.user, person.email, before.email if before else "", actor)


def _apply_name(user: User, full_name: str, actor: Actor, *, is_new: bool) -> None:
    """Rename a person; one whose name is not allowed is shown by their user name."""
    teams = list(Membership.objects.filter(user=user).values_list("team", flat=True))
    name = full_name if is_valid_name(full_name, names_in_teams(teams, except_user=user.pk)) else ""
    previous = user.get_full_name()
    if name == previous:
        return
    user.first_name, _, user.last_name = name.partition(" ")
    user.save(update_fields=["first_name", "last_name"])
    if not is_new or previous:
        record_change(user.pk, "person.renamed", actor, before=previous, name=name)


def _apply_address(user: User, email: str, former: str, actor: Actor) -> None:
    """
    Make an address the confirmed, primary one of a person, and remove the directory's former one.

    A former address may belong to somebody else now, and could reset the password.
    """
    addresses = EmailAddress.objects.filter(user=user)
    if former:
        addresses.filter(email=former).delete()
    if not email:
        return
    check_address(email, field="emails")
    if EmailAddress.objects.filter(email=email, verified=True).exclude(user=user).exists():
        raise errors.UsernameTaken(_TAKEN)
    addresses.filter(primary=True).exclude(email=email).update(primary=False)
    addresses.update_or_create(
        email=email, defaults={"user": user, "verified": True, "primary": True}
    )
    if former:
        record_change(user.pk, "address.first", actor, before=former, email=email)


def _forget_sign_in(user: User) -> None:
    """Remove everything by which the person could sign in again, and free the user name."""
    Authenticator.objects.filter(user=user).delete()
    EmailAddress.objects.filter(user=user).delete()
    if apps.is_installed("allauth.socialaccount"):
        from allauth.socialaccount.models import SocialAccount  # noqa: PLC0415 - optional

        SocialAccount._default_manager.filter(user=user).delete()  # noqa: SLF001 - for mypy
    user.username = removed_user_name(user.username, token_hex(8))
    user.password = make_password(None)
    user.save(update_fields=["username", "password"])
