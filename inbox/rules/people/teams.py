"""Names of teams, and rules for changes of roles."""

import re
from collections.abc import Collection

from inbox.rules import errors
from inbox.rules.people.access import ROLE_PERMISSIONS, Permission, Role
from inbox.rules.people.api_keys import check_within_own
from inbox.rules.text.messages import TranslatableMessage

MAX_NAME_CHARACTERS, MAX_SLUG_CHARACTERS = 80, 50
#: The pattern of a team's slug, of up to MAX_SLUG_CHARACTERS characters.
SLUG = r"^[a-z0-9][a-z0-9_-]*\Z"


def check_team(*, name: str | None, slug: str | None = None) -> None:
    """Raise InvalidValue unless a team may have this name and slug; None: no change."""
    problems: dict[str, list[TranslatableMessage]] = {}
    if name is not None and not (
        1 <= len(name.strip()) <= MAX_NAME_CHARACTERS and name.isprintable()
    ):
        problems["name"] = [
            TranslatableMessage(
                "A name must have 1 to {most} characters, all of them visible.",
                most=MAX_NAME_CHARACTERS,
            )
        ]
    if slug is not None and not (len(slug) <= MAX_SLUG_CHARACTERS and re.match(SLUG, slug)):
        problems["slug"] = [
            TranslatableMessage(
                "An address can have at most {most} characters: lowercase letters, "
                "digits, - and _.",
                most=MAX_SLUG_CHARACTERS,
            )
        ]
    errors.raise_for(problems)


def check_role_given(*, role: Role, before: Role | None, may_give: Collection[Permission]) -> None:
    """Raise MoreThanOwn if the new role adds a permission that is not in `may_give`."""
    permissions = ROLE_PERMISSIONS[before] if before else frozenset()
    check_within_own(scopes=ROLE_PERMISSIONS[role] - permissions, may_give=may_give)


def check_admin_stays(*, before: Role, after: Role | None, other_admins: int) -> None:
    """Raise LastAdmin if the team would have no active administrator."""
    if before is Role.ADMIN and after is not Role.ADMIN and not other_admins:
        raise errors.LastAdmin(
            TranslatableMessage(
                "A team needs at least one admin. Make someone else an admin first."
            )
        )
