"""Settings of a team and their validation."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from inbox.rules.decisions.teamwork.collaboration import (
    MAX_EXECUTION_HOURS,
    MAX_EXPIRY_HOURS,
    MAX_GRACE_SECONDS,
)
from inbox.rules.errors import InvalidValue
from inbox.rules.people.groups import check_group_name
from inbox.rules.people.reject_reasons import check_reject_reasons
from inbox.rules.people.required_sign_in import RequiredSignIn
from inbox.rules.people.session_limits import (
    MAX_IDLE_MINUTES,
    MAX_SESSION_HOURS,
    MIN_IDLE_MINUTES,
    MIN_SESSION_HOURS,
)
from inbox.rules.runs.headings import check_headings
from inbox.rules.text.messages import TranslatableMessage

SWITCHES = (
    "requires_view_digest",
    "inbox_only",
    "names_deciders",
    "two_administrators",
    "messages_show_arguments",
    "stores_exceptions",
)
#: The settings for which None is a value.
MAY_BE_NONE = (
    "self_approval",
    "file_days",
    "thread_days",
    "session_idle_minutes",
    "session_hours",
)
#: The settings that shorten the sessions of members at once.
SESSION_LIMITS = ("session_idle_minutes", "session_hours")
#: The settings that only a fresh sign-in changes.
SIGN_IN_SETTINGS = (*SESSION_LIMITS, "required_sign_in")
MAX_FILE_DAYS = 36_500
MAX_THREAD_DAYS = 36_500
#: The least and the greatest number of other settings, and the message about others.
_RANGES: Mapping[str, tuple[int, int, str]] = {
    "grace_seconds": (
        0,
        MAX_GRACE_SECONDS,
        f"A grace period lasts from 0 to {MAX_GRACE_SECONDS} seconds.",
    ),
    "request_expiry_hours": (
        0,
        MAX_EXPIRY_HOURS,
        TranslatableMessage(
            "Requests can expire after 1 to {longest} hours. 0 means no expiry.",
            longest=MAX_EXPIRY_HOURS,
        ),
    ),
    "execute_within_hours": (
        1,
        MAX_EXECUTION_HOURS,
        TranslatableMessage(
            "Approvals can expire after 1 to {most} hours.", most=MAX_EXECUTION_HOURS
        ),
    ),
    "session_idle_minutes": (
        MIN_IDLE_MINUTES,
        MAX_IDLE_MINUTES,
        TranslatableMessage(
            "Sessions can end after {least} to {most} minutes without use. Leave it empty for the "
            "limit of the installation.",
            least=MIN_IDLE_MINUTES,
            most=MAX_IDLE_MINUTES,
        ),
    ),
    "session_hours": (
        MIN_SESSION_HOURS,
        MAX_SESSION_HOURS,
        TranslatableMessage(
            "Sessions can end {least} to {most} hours after the sign-in. Leave it empty for the "
            "limit of the installation.",
            least=MIN_SESSION_HOURS,
            most=MAX_SESSION_HOURS,
        ),
    ),
    "file_days": (
        1,
        MAX_FILE_DAYS,
        TranslatableMessage(
            "Files can be erased after 1 to {most} days. Leave it empty to keep them.",
            most=MAX_FILE_DAYS,
        ),
    ),
    "thread_days": (
        0,
        MAX_THREAD_DAYS,
        TranslatableMessage(
            "Threads can be deleted after 1 to {most} days without activity. 0 keeps them. Leave "
            "it empty for the setting of the installation.",
            most=MAX_THREAD_DAYS,
        ),
    ),
}


#: A proposal of a weaker setting counts so long.
PROPOSAL_AGE = timedelta(days=7)
#: A decision or a policy needs more with the settings to the left.
_SELF_APPROVAL: Final = (False, None, True)


def is_weaker(setting: str, before: Any, after: Any) -> bool:
    """Return whether a new value of a setting asks less of those who decide, or of other people."""
    if setting == "self_approval":
        return _SELF_APPROVAL.index(after) > _SELF_APPROVAL.index(before)
    if setting in ("two_administrators", "inbox_only", "requires_view_digest"):
        return bool(before and not after)
    if setting == "override_group":
        return bool(after) and after != before
    return setting == "required_sign_in" and before not in (RequiredSignIn.ANY, after)


def days_of_threads(own: int | None, *, default: int) -> int | None:
    """Return after how many days a team deletes threads; None if never. 0 is never in both."""
    return (default if own is None else own) or None


def check_settings(changes: Mapping[str, Any]) -> None:
    """Raise InvalidValue unless a team may have these settings, by the names of their columns."""
    for name, value in changes.items():
        if name in MAY_BE_NONE and value is None:
            continue
        if name == "override_group":
            if value:
                check_group_name(value)
        elif name == "required_sign_in":
            RequiredSignIn(value)  # checked by the form and the schema
        elif name == "headings":
            check_headings(value)
        elif name == "reject_reasons":
            check_reject_reasons(value)
        elif name not in (*SWITCHES, "self_approval"):
            least, most, message = _RANGES[name]
            if not least <= value <= most:
                raise InvalidValue(message)
