"""The outcome of a closed interrupt, in one word."""

import json
from enum import StrEnum
from typing import Any

from inbox.rules.decisions.feedback import feedback_of
from inbox.rules.runs.states import InterruptStatus, Reason


class Outcome(StrEnum):
    APPROVED = "approved"
    APPROVED_WITH_CHANGES = "approved_with_changes"
    REJECTED = "rejected"
    SENT_BACK = "sent_back"  #: rejected with a question or correction, which the agent reads
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


def outcome_of(*, status: str, reason: str, payload: str | None) -> Outcome:
    """Return the outcome of a closed interrupt; `payload` is the JSON text of its decision."""
    if status == InterruptStatus.EXPIRED:
        return Outcome.EXPIRED
    if status == InterruptStatus.CANCELLED:
        return Outcome.CANCELLED
    value = json.loads(payload) if payload else None
    answer = value if isinstance(value, dict) else {}
    # An answer with `approved` is an approval or rejection whatever the interrupt's reason.
    if reason != Reason.TOOL_CALL and not isinstance(answer.get("approved"), bool):
        return Outcome.ANSWERED
    if answer.get("approved") is not True:
        return Outcome.SENT_BACK if feedback_of(answer) else Outcome.REJECTED
    return Outcome.APPROVED_WITH_CHANGES if _has_changes(reason, answer) else Outcome.APPROVED


def _has_changes(reason: str, answer: dict[str, Any]) -> bool:
    """Return True if the approval has edits in any of the agents' dialects."""
    if "editedArgs" in answer or answer.get("modifications"):
        return True
    return reason.startswith("langgraph:") and bool(answer.keys() - {"approved", "reason"})
