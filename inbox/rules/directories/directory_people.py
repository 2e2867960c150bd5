"""People and groups of directories: bounds, names and addresses, and the role that groups give."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from unicodedata import normalize

from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.people.access import ROLE_PERMISSIONS, Role
from inbox.rules.people.person_names import MAX_NAME_CHARACTERS, check_person_name
from inbox.rules.text.messages import TranslatableMessage

#: Of display names and external ids.
MAX_TEXT_CHARACTERS: Final = 255
MAX_PROFILE_CHARACTERS: Final = 8_000
MAX_GROUP_MEMBERS: Final = 5_000
MAX_DIRECTORIES: Final = 20


@dataclass(frozen=True)
class Person:
    """A person as a directory describes them."""

    user_name: str
    is_active: bool = True
    external_id: str = ""
    profile: Mapping[str, Any] = field(default_factory=dict)  #: displayName, name and emails

    @property
    def full_name(self) -> str:
        """Return the name to show, "" without one."""
        name = self.profile.get("name") or {}
        parts = (name.get("givenName"), name.get("familyName"))
        candidates = (
            self.profile.get("displayName"),
            name.get("formatted"),
            " ".join(filter(None, parts)),
        )
        texts = (" ".join((text or "").split()) for text in candidates)
        return next(filter(None, texts), "")

    @property
    def email(self) -> str:
        """
        Return the primary address in lower case, or else the first, "" without one.

        Most mail servers deliver to ASCII names only (RFC 6531 is an extension): a person with
        another address only has none here, and is created all the same.
        """
        emails = [
            email
            for email in self.profile.get("emails") or ()
            if email.get("value") and email["value"].rpartition("@")[0].isascii()
        ]
        primary = [email for email in emails if email.get("primary")]
        return str((primary or emails)[0]["value"]).strip().lower() if emails else ""


@dataclass(frozen=True)
class PeopleGroup:
    """A group as a directory describes it; members are ids of its people."""

    display_name: str
    external_id: str = ""
    members: frozenset[str] = frozenset()


def user_name_key(user_name: str) -> str:
    """Return what is the same for user names that differ in capitals only."""
    return normalize("NFC", normalize("NFC", user_name).lower())


def check_person(person: Person) -> None:
    """Raise InvalidValue unless the texts of a person have a length that is stored."""
    _check_text("userName", person.user_name, most=MAX_NAME_CHARACTERS)
    _check_text("externalId", person.external_id)
    if len(canonical_json(person.profile)) > MAX_PROFILE_CHARACTERS:
        raise _invalid(
            "profile",
            TranslatableMessage(
                "Names and addresses of a person can have {most} characters in total.",
                most=MAX_PROFILE_CHARACTERS,
            ),
        )


def check_user_name(user_name: str) -> None:
    """Raise InvalidValue unless an account may have this user name."""
    check_person_name(user_name, field="userName")


def check_group(group: PeopleGroup) -> None:
    """Raise InvalidValue unless a group may have this name and so many members."""
    if not group.display_name.strip():
        raise _invalid("displayName", TranslatableMessage("A group needs a name."))
    _check_text("displayName", group.display_name)
    _check_text("externalId", group.external_id)
    if len(group.members) > MAX_GROUP_MEMBERS:
        raise _invalid(
            "members",
            TranslatableMessage("A group can have up to {most} members.", most=MAX_GROUP_MEMBERS),
        )


def strongest_role(roles: Collection[str]) -> Role | None:
    """Return the role with most permissions, None without roles."""
    by_permissions = sorted(map(Role, roles), key=lambda role: len(ROLE_PERMISSIONS[role]))
    return by_permissions[-1] if by_permissions else None


def removed_user_name(user_name: str, suffix: str) -> str:
    """
    Return the user name of an account that was removed, so that its name is free again.

    Nobody can have guessed the suffix, and taken the name before.
    """
    return f"{user_name[: MAX_NAME_CHARACTERS - 30]}.removed-{suffix}"


def _check_text(name: str, text: str, *, most: int = MAX_TEXT_CHARACTERS) -> None:
    if len(text) > most or "\0" in text:
        raise _invalid(
            name,
            TranslatableMessage(
                "{name} can have up to {most} characters, without NUL.",
                name=name,
                most=most,
            ),
        )


def _invalid(name: str, message: TranslatableMessage) -> errors.InvalidValue:
    return errors.InvalidValue(message, problems={name: [message]})
