"""The section about push messages on the page of a person's notifications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from inbox.platform import encryption
from inbox.queries.notifications.push_channels import Browser, browsers_of
from inbox.rules.notifications.events import (
    CHOICES,
    DEFAULT_MINUTES,
    AnnouncementKind,
    DeliveryMode,
)
from inbox.rules.people.access import Actor


@dataclass(frozen=True)
class PushSection:
    """The section; without a key, the installation sends no push messages."""

    key: str
    browsers: Sequence[Browser]
    choices: Sequence[tuple[str, str, bool]]
    mode: str
    minutes: str
    problem: str


def push_section(
    actor: Actor,
    names: Mapping[AnnouncementKind, str],
    choice: Mapping[str, Any] | None,
    problem: str,
) -> PushSection:
    """Return the section with the stored choice, or with one that was refused."""
    browsers = browsers_of(actor)
    row = browsers[0] if browsers else None
    values = choice or {
        "events": row.events if row else list(CHOICES),
        "mode": row.mode if row else DeliveryMode.IF_WAITING,
        "minutes": row.minutes if row else DEFAULT_MINUTES,
    }
    return PushSection(
        key=encryption.push_public_key(),
        browsers=browsers,
        choices=[(kind.value, gettext(names[kind]), kind in values["events"]) for kind in CHOICES],
        mode=str(values["mode"]),
        minutes=str(values["minutes"]),
        problem=problem,
    )
