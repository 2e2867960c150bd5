"""API keys: scopes, validity, and the limits of agents' keys."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

MAX_KEYS, MAX_NAME_CHARACTERS = 100, 80
#: The validity that a form suggests, and the maximum for a key that expires.
DEFAULT_DAYS_VALID, MAX_DAYS = 90, 3_650
#: How long the former token stays valid after a rotation.
DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS = 24, 7 * 24
#: A key that expires within this time is highlighted.
EXPIRES_SOON = timedelta(days=14)
#: The permissions that the key of an agent may have; it never decides.
AGENT_KEY_PERMISSIONS = frozenset({Permission.READ, Permission.RUN})


class KeyState(StrEnum):
    """The state of a key, for display."""

    WORKING = "working"
    UNUSED = "unused"  #: valid and never used
    ENDING = "ending"  #: valid and expires within EXPIRES_SOON
    EXPIRED = "expired"
    REVOKED = "revoked"


def permissions_of_key(scopes: Iterable[str], *, of_agent: bool) -> frozenset[Permission]:
    """Return the permissions of a key; the scopes of an agent's key are limited."""
    permissions = frozenset(Permission(scope) for scope in scopes)
    return permissions & AGENT_KEY_PERMISSIONS if of_agent else permissions


def check_not_agent_key(actor: Actor) -> None:
    """
    Raise if the actor is the key of an agent: agents do not decide.

    Raises:
        Forbidden.
    """
    if actor.agent_id is not None:
        raise errors.Forbidden(TranslatableMessage("An agent's key cannot decide."))


def token_problems(
    *, name: str, days: int | None, days_field: str
) -> dict[str, list[TranslatableMessage]]:
    """Return what is wrong with the name and the days of a key or directory, by field."""
    problems: dict[str, list[TranslatableMessage]] = {}
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not name.isprintable():
        problems["name"] = [
            TranslatableMessage(
                "A name must have 1 to {most} characters, all of them visible.",
                most=MAX_NAME_CHARACTERS,
            )
        ]
    if days is not None and not 1 <= days <= MAX_DAYS:
        problems[days_field] = [
            TranslatableMessage("A key can expire after 1 to {most} days, or never.", most=MAX_DAYS)
        ]
    return problems


def check_key(
    *,
    name: str,
    scopes: Collection[Permission],
    days: int | None,
    of_agent: bool,
    may_give: Collection[Permission],
) -> None:
    """
    Raise unless a key with these values is allowed; `may_give` are its creator's permissions.

    Raises:
        InvalidValue: with all `problems` by field.
        MoreThanOwn: the key would have more permissions than its creator.
    """
    problems = token_problems(name=name, days=days, days_field="expires_in_days")
    if not scopes:
        problems["scopes"] = [TranslatableMessage("Choose at least one scope for the key.")]
    elif of_agent and not set(scopes) <= AGENT_KEY_PERMISSIONS:
        problems["scopes"] = [
            TranslatableMessage("An agent's key can have the scopes read and run only.")
        ]
    errors.raise_for(problems)
    check_within_own(scopes=scopes, may_give=may_give)


def check_within_own(*, scopes: Collection[Permission], may_give: Collection[Permission]) -> None:
    """Raise MoreThanOwn unless `may_give` includes all scopes."""
    beyond = [scope.value for scope in Permission if scope in scopes and scope not in may_give]
    if beyond:
        raise errors.MoreThanOwn(
            TranslatableMessage(
                "A key cannot have more scopes than the person who creates it: {beyond}.",
                beyond=", ".join(beyond),
            ),
            beyond=beyond,
        )


def check_expiry_within_maker(
    *, expires_at: datetime | None, maker_ends_at: datetime | None
) -> None:
    """Raise MoreThanOwn if a key would be valid longer than the key that creates it."""
    if maker_ends_at is not None and (expires_at is None or expires_at > maker_ends_at):
        raise errors.MoreThanOwn(
            TranslatableMessage("A key cannot create a key that expires after it."),
            beyond=["expires_in_days"],
        )


def check_overlap(hours: int) -> None:
    """Raise InvalidValue unless the former token may stay valid for so many hours."""
    if not 0 <= hours <= MAX_OVERLAP_HOURS:
        text = TranslatableMessage(
            "The old token can expire after 0 to {most} hours.", most=MAX_OVERLAP_HOURS
        )
        raise errors.InvalidValue(text, problems={"overlap_hours": [text]})


def is_key_valid(
    *, revoked_at: datetime | None, expires_at: datetime | None, now: datetime
) -> bool:
    return revoked_at is None and (expires_at is None or now < expires_at)


def key_state(
    *,
    revoked_at: datetime | None,
    expires_at: datetime | None,
    last_used_at: datetime | None,
    now: datetime,
) -> KeyState:
    """Return the state of a key; ENDING takes precedence over UNUSED."""
    if revoked_at is not None:
        return KeyState.REVOKED
    if expires_at is not None and now >= expires_at:
        return KeyState.EXPIRED
    if expires_at is not None and expires_at - now <= EXPIRES_SOON:
        return KeyState.ENDING
    return KeyState.UNUSED if last_used_at is None else KeyState.WORKING
