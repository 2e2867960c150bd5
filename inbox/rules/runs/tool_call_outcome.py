"""What the answers to questions about a tool call come to, so that it is found by it."""

from typing import Any

from inbox.rules.people.access import EXPIRY
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, ToolCallOutcome

#: Of two answers about one call the weightier one counts: a denial hides what an approval said.
_WEIGHT = {
    ToolCallOutcome.ANSWERED: 1,
    ToolCallOutcome.APPROVED: 2,
    ToolCallOutcome.EDITED: 3,
    ToolCallOutcome.CANCELLED: 4,
    ToolCallOutcome.EXPIRED: 4,
    ToolCallOutcome.DENIED: 4,
}


def is_approval(payload: Any) -> bool:
    """Return whether the payload of a resolved entry approves a tool call."""
    return isinstance(payload, dict) and payload.get("approved") is True


def outcome_of_entry(entry: ResumeEntry, *, by: str) -> ToolCallOutcome:
    """What one answer says; `by` is the `Actor.ident` of whose it is."""
    if entry.status is not EntryStatus.RESOLVED:
        return ToolCallOutcome.EXPIRED if by == EXPIRY.ident else ToolCallOutcome.CANCELLED
    answer: dict[str, Any] = entry.payload if isinstance(entry.payload, dict) else {}
    if not isinstance(answer.get("approved"), bool):
        return ToolCallOutcome.ANSWERED
    if not answer["approved"]:
        return ToolCallOutcome.DENIED
    return (
        ToolCallOutcome.EDITED
        if isinstance(answer.get("editedArgs"), dict)
        else ToolCallOutcome.APPROVED
    )


def outweighs(verdict: ToolCallOutcome, before: str) -> bool:
    """Whether an answer takes the place of the one before; the same again does not."""
    return not before or _WEIGHT[verdict] > _WEIGHT[ToolCallOutcome(before)]
