"""The state of requests in messages of chats: their outcome, and whether a button may approve."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from inbox.models import Channel, Decision, Interrupt, Notification
from inbox.platform.clock import database_now
from inbox.queries.policies.quorum import current_quorum, rulings_on
from inbox.rules.decisions.bulk import bulk_obstacle, value_text
from inbox.rules.decisions.outcomes import Outcome, outcome_of
from inbox.rules.notifications.events import CHAT_KINDS, EDITABLE, DisplayedState
from inbox.rules.policies.eligibility import is_way_named
from inbox.rules.policies.language.policy import Via
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.safe_text import escape_invisible

#: A message shows so many values of a call; others are reviewed in the inbox.
MAX_VALUES, MAX_NAME_CHARACTERS, MAX_VALUE_CHARACTERS = 10, 80, 200
_MAX_CHANNELS = 500


@dataclass(frozen=True)
class ApproveButton:
    """A button that approves a request as the message shows it, with all values of the call."""

    view_digest: str
    values: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Closing:
    """The outcome of a closed request; `who` decided it."""

    outcome: Outcome
    who: str
    at: datetime
    is_override: bool = False  #: approved despite the policy


def closings_of(interrupts: Sequence[Interrupt]) -> dict[UUID, Closing]:
    """Return the outcomes of those requests that are closed, by id."""
    closed = {row.pk: row for row in interrupts if row.status != InterruptStatus.OPEN}
    if not closed:
        return {}
    decisions = Decision.objects.filter(interrupt__in=closed, withdrawn_at=None)
    return {
        row.interrupt_id: Closing(
            outcome_of(
                status=closed[row.interrupt_id].status,
                reason=closed[row.interrupt_id].reason,
                payload=row.payload,
            ),
            row.actor_label,
            row.created_at,
            is_override=bool(row.override_reason),
        )
        for row in decisions
    }


def approve_button_of(interrupt: Interrupt, now: datetime) -> ApproveButton | None:
    """
    Return the button for a request; None if it cannot be approved in a chat.

    The policy has to name chats, one person has to suffice without a fresh sign-in, and the message
    has to show all that the person approves.
    """
    if interrupt.status != InterruptStatus.OPEN or interrupt.team.inbox_only:
        return None
    requirements = [ruling.requirement for ruling in rulings_on(interrupt, None)]
    if not is_way_named(requirements, Via.CHAT) or interrupt.endorsed_payload:
        return None
    if any(item and item.fresh_sign_in_minutes is not None for item in requirements):
        return None
    candidate = interrupt.bulk_candidate()
    if current_quorum(interrupt, now).needs_several or bulk_obstacle(candidate) is not None:
        return None
    values = [(_line(path or "metadata"), _line(value)) for path, value in candidate.values.items()]
    is_long = any(
        len(name) > MAX_NAME_CHARACTERS or len(text) > MAX_VALUE_CHARACTERS for name, text in values
    )
    if is_long or len(values) > MAX_VALUES:
        return None
    return ApproveButton(interrupt.shown_digest, values)


def _line(value: object) -> str:
    """Return a value on one line; a text of several lines is quoted as JSON."""
    text = value_text(value)
    if "\n" not in text and "\r" not in text:
        return text
    return escape_invisible(json.dumps(value, ensure_ascii=False))


def outdated_notifications() -> QuerySet[Notification]:
    """Return the notifications whose message shows another state than that of the request."""
    is_outdated = ~Q(displayed_state=DisplayedState.OPEN) | ~Q(
        interrupt__status=InterruptStatus.OPEN
    )
    return Notification.objects.filter(
        is_outdated, displayed_state__in=[state.value for state in EDITABLE]
    )


def channels_with_due_edits() -> list[UUID]:
    """Return channels with a sent message that shows another state than that of a request."""
    now = database_now()
    ready = Channel.objects.filter(
        Q(lease_until=None) | Q(lease_until__lte=now),
        Q(failures=0) | Q(next_try_at=None) | Q(next_try_at__lte=now),
        kind__in=CHAT_KINDS,
        disabled_at=None,
        removed_at=None,
    )
    due = outdated_notifications().filter(channel=OuterRef("pk"))
    return list(ready.filter(Exists(due)).values_list("pk", flat=True)[:_MAX_CHANNELS])
