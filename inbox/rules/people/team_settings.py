"""Settings of a team and their validation."""

from collections.abc import Callable, Mapping
from typing import Any

from inbox.rules import errors
from inbox.rules.decisions.collaboration import (
    MAX_EXECUTION_HOURS,
    check_grace,
    check_request_expiry,
)
from inbox.rules.runs.headings import check_headings
from inbox.rules.text.messages import TranslatableMessage


def check_execution_hours(hours: int) -> None:
    """Raise InvalidValue unless approvals may lapse after so many hours."""
    if not 1 <= hours <= MAX_EXECUTION_HOURS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "Approvals can expire after 1 to {most} hours.", most=MAX_EXECUTION_HOURS
            )
        )


def _check_nothing(_: bool) -> None:
    """Accept both values of a switch."""


#: The check of each setting, by the name of its column; it raises InvalidValue.
SETTINGS: Mapping[str, Callable[[Any], None]] = {
    "grace_seconds": check_grace,
    "request_expiry_hours": check_request_expiry,
    "execute_within_hours": check_execution_hours,
    "requires_view_digest": _check_nothing,
    "inbox_only": _check_nothing,
    "names_deciders": _check_nothing,
    "headings": check_headings,
}
SWITCHES = ("requires_view_digest", "inbox_only", "names_deciders")


def check_settings(changes: Mapping[str, Any]) -> None:
    """Raise InvalidValue unless a team may have these settings."""
    for name, value in changes.items():
        SETTINGS[name](value)
