"""Validators of new passwords, for Django's AUTH_PASSWORD_VALIDATORS."""

import hashlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from inbox.models import Invitation, Membership, User
from inbox.rules.people.passwords import is_built_of

_PRODUCT: Final = "signoff"


def validate_password_of_invited(
    invitation: Invitation, username: str, full_name: str, password: str
) -> None:
    """Raise ValidationError unless a person who accepts an invitation may have this password."""
    user = User(username=username, first_name=full_name, email=invitation.email)
    validate_password(password, user)
    ContextValidator().validate(password, user, (invitation.team.name, invitation.team.slug))


class ContextValidator:
    """Reject passwords of little more than the user's name and address, a team, or the product."""

    def validate(self, password: str, user: Any = None, more_texts: Collection[str] = ()) -> None:
        if is_built_of(password, (_PRODUCT, *more_texts, *_texts_about(user))):
            raise ValidationError(
                gettext("Use a password without your name, your address or your team's name."),
                code="password_of_context",
            )

    def get_help_text(self) -> str:
        return gettext("Your password cannot be made of your name, address or team.")


class BreachedPasswordValidator:
    """
    Reject passwords of the file SIGNOFF_BREACHED_PASSWORDS, without a network.

    It has a line for each password, sorted: its SHA-1 in hex, and what follows a colon is ignored.
    This is the format of the Pwned Passwords downloader of Have I Been Pwned.
    """

    def validate(self, password: str, user: Any = None) -> None:
        path = settings.BREACHED_PASSWORDS
        if path and is_listed(Path(path), password):
            raise ValidationError(
                gettext("This password is known from a data breach. Choose another one."),
                code="password_breached",
            )

    def get_help_text(self) -> str:
        return gettext("Your password cannot be one that is known from a data breach.")


def is_listed(path: Path, password: str) -> bool:
    """Return whether a file of sorted SHA-1 digests has the password; raises OSError."""
    digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper().encode()
    with path.open("rb") as file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            line_digest = _digest_after(file, middle)
            if line_digest == digest:
                return True
            if line_digest and line_digest < digest:
                low = middle + 1
            else:
                high = middle
        return _digest_after(file, low) == digest


def _digest_after(file: BinaryIO, offset: int) -> bytes:
    """Return the digest of the first line that begins at the offset or later, b"" at the end."""
    if offset:
        file.seek(offset - 1)
        file.readline()
    else:
        file.seek(0)
    return file.readline().partition(b":")[0].strip().upper()


def _texts_about(user: Any) -> Iterable[str]:
    if user is None:
        return
    yield from (user.get_username(), user.get_full_name(), user.email)
    if user.pk is not None:
        yield from user.emailaddress_set.values_list("email", flat=True)
        memberships = Membership.objects.filter(user=user.pk)
        for names in memberships.values_list("team__name", "team__slug"):
            yield from names
