"""The outcome of a tool call by the decisions on its interrupts, for search and metrics."""

from typing import Any

from inbox.rules.decisions.feedback import feedback_of
from inbox.rules.people.access import EXPIRY
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, ToolCallOutcome

#: Of two decisions on one call the one with the larger weight counts: a denial over an approval.
_WEIGHT = {
    ToolCallOutcome.ANSWERED: 1,
    ToolCallOutcome.APPROVED: 2,
    ToolCallOutcome.EDITED: 3,
    ToolCallOutcome.CANCELLED: 4,
    ToolCallOutcome.EXPIRED: 4,
    ToolCallOutcome.DENIED: 4,
    ToolCallOutcome.SENT_BACK: 4,
}


def is_approval(payload: Any) -> bool:
    """Return whether the payload of a resolved entry approves a tool call."""
    return isinstance(payload, dict) and payload.get("approved") is True


def outcome_of_entry(entry: ResumeEntry, *, by: str) -> ToolCallOutcome:
    """Return the outcome of one decision; `by` is the `Actor.ident` of its author."""
    if entry.status is not EntryStatus.RESOLVED:
        return ToolCallOutcome.EXPIRED if by == EXPIRY.ident else ToolCallOutcome.CANCELLED
    answer: dict[str, Any] = entry.payload if isinstance(entry.payload, dict) else {}
    if not isinstance(answer.get("approved"), bool):
        return ToolCallOutcome.ANSWERED
    if not answer["approved"]:
        return ToolCallOutcome.SENT_BACK if feedback_of(answer) else ToolCallOutcome.DENIED
    return (
        ToolCallOutcome.EDITED
        if isinstance(answer.get("editedArgs"), dict)
        else ToolCallOutcome.APPROVED
    )


def outweighs(outcome: ToolCallOutcome, before: str) -> bool:
    """Return whether an outcome replaces the one before; an equal one does not."""
    return not before or _WEIGHT[outcome] > _WEIGHT[ToolCallOutcome(before)]
