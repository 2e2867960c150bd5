"""The time that a person has for an answer: set by the author, else the team's default."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final

from pydantic import TypeAdapter

_DURATION = TypeAdapter(timedelta)


class TeamDefault(Enum):
    """Where the author says nothing, the team does."""

    TEAM_DEFAULT = "team default"


TEAM_DEFAULT: Final = TeamDefault.TEAM_DEFAULT
#: None says that a request never expires.
ExpiresIn = timedelta | None | TeamDefault


def first_specified(*expiries: ExpiresIn) -> ExpiresIn:
    """Return the first that the author gave, the team's default if there is none."""
    return next((one for one in expiries if one is not TEAM_DEFAULT), TEAM_DEFAULT)


def parse_expires_in(metadata: Mapping[str, Any] | None) -> ExpiresIn:
    """
    Read `expires_in` of a framework's metadata: a timedelta, seconds, ISO 8601 ("P7D"), or None.

    Raises:
        ValueError: it is none of these.
    """
    if metadata is None or "expires_in" not in metadata:
        return TEAM_DEFAULT
    value = metadata["expires_in"]
    return None if value is None else _DURATION.validate_python(value)


def format_expires_at(expires_in: timedelta, now: datetime | None = None) -> str:
    """Write the time at which an interrupt of now expires, for `expiresAt`."""
    at = (now or datetime.now(UTC)).astimezone(UTC) + expires_in
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
