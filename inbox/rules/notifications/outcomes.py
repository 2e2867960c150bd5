"""Outcomes of requests, as messages in chats show them after the decision."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from inbox.rules.runs.states import InterruptStatus, Reason


class Outcome(StrEnum):
    APPROVED = "approved"
    OVERRIDDEN = "overridden"  #: approved despite the policy
    REJECTED = "rejected"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Closing:
    """The outcome of a closed request; `who` decided it."""

    outcome: Outcome
    who: str
    at: datetime


def outcome_of(*, status: str, reason: str, payload: Any, is_override: bool) -> Outcome:
    """Return the outcome of a closed interrupt with this decision."""
    if status == InterruptStatus.EXPIRED:
        return Outcome.EXPIRED
    if status == InterruptStatus.CANCELLED:
        return Outcome.CANCELLED
    if is_override:
        return Outcome.OVERRIDDEN
    approved = payload.get("approved") if isinstance(payload, dict) else payload
    # An answer with `approved` is an approval or rejection whatever the interrupt's reason.
    if reason != Reason.TOOL_CALL and not isinstance(approved, bool):
        return Outcome.ANSWERED
    return Outcome.APPROVED if approved is True else Outcome.REJECTED
