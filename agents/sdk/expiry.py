"""Expiry of interrupts: set by the author, else the team's default."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final

from pydantic import TypeAdapter

from agents.port import AgentMistake

_DURATION = TypeAdapter(timedelta)


class TeamDefault(Enum):
    """The type of `TEAM_DEFAULT`: the author set no expiry."""

    TEAM_DEFAULT = "team default"


TEAM_DEFAULT: Final = TeamDefault.TEAM_DEFAULT
#: None: the interrupt never expires.
ExpiresIn = timedelta | None | TeamDefault


class NoTimedelta(AgentMistake, TypeError):
    """The author gave another value where a timedelta is needed."""


def check_duration(name: str, setting: str, value: Any) -> None:
    """Raise NoTimedelta unless an author's setting is a timedelta, None or TEAM_DEFAULT."""
    if not isinstance(value, timedelta | TeamDefault | None):
        raise NoTimedelta(
            f"{name}: {setting}={str(value)[:40]} is no timedelta; write "
            f"{setting}=timedelta(hours=1), or {setting}=None."
        )


def first_specified(*expiries: ExpiresIn) -> ExpiresIn:
    """Return the first expiry that is set, TEAM_DEFAULT if none is."""
    return next((expiry for expiry in expiries if expiry is not TEAM_DEFAULT), TEAM_DEFAULT)


def parse_expires_in(metadata: Mapping[str, Any] | None) -> ExpiresIn:
    """
    Parse `expires_in` of a framework's metadata: a timedelta, seconds, ISO 8601 ("P7D") or None.

    Raises:
        ValueError: another value.
    """
    if metadata is None or "expires_in" not in metadata:
        return TEAM_DEFAULT
    value = metadata["expires_in"]
    return None if value is None else _DURATION.validate_python(value)


def expiry_field(expires_in: ExpiresIn, now: datetime | None = None) -> dict[str, str | None]:
    """Return the `expires_at` field: None means never, no field means the team's default."""
    if expires_in is TEAM_DEFAULT:
        return {}
    return {"expires_at": None if expires_in is None else format_expires_at(expires_in, now)}


def format_expires_at(expires_in: timedelta, now: datetime | None = None) -> str:
    """Return `expiresAt` of an interrupt created now."""
    expires_at = (now or utc_now()).astimezone(UTC) + expires_in
    return expires_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def utc_now() -> datetime:
    """Return the time; no other module of the agents reads the wall clock."""
    return datetime.now(UTC)
