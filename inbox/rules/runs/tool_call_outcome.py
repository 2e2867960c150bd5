"""What the answers to questions about a tool call come to, so that it is found by it."""

from typing import Any

from inbox.rules.people.access import EXPIRY
from inbox.rules.runs.contract import Entry
from inbox.rules.runs.states import EntryStatus, Verdict

#: Of two answers about one call the weightier one counts: a denial hides what an approval said.
_WEIGHT = {
    Verdict.ANSWERED: 1,
    Verdict.APPROVED: 2,
    Verdict.EDITED: 3,
    Verdict.CANCELLED: 4,
    Verdict.EXPIRED: 4,
    Verdict.DENIED: 4,
}


def is_approval(payload: Any) -> bool:
    """Return whether the payload of a resolved entry approves a tool call."""
    return isinstance(payload, dict) and payload.get("approved") is True


def verdict_on(entry: Entry, *, by: str) -> Verdict:
    """What one answer says; `by` is the `Actor.ident` of whose it is."""
    if entry.status is not EntryStatus.RESOLVED:
        return Verdict.EXPIRED if by == EXPIRY.ident else Verdict.CANCELLED
    answer: dict[str, Any] = entry.payload if isinstance(entry.payload, dict) else {}
    if not isinstance(answer.get("approved"), bool):
        return Verdict.ANSWERED
    if not answer["approved"]:
        return Verdict.DENIED
    return Verdict.EDITED if isinstance(answer.get("editedArgs"), dict) else Verdict.APPROVED


def outweighs(verdict: Verdict, before: str) -> bool:
    """Whether an answer takes the place of the one before; the same again does not."""
    return not before or _WEIGHT[verdict] > _WEIGHT[Verdict(before)]
