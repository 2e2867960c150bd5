"""What became of an interrupt, in words, an icon and a tone."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from inbox.domain.states import InterruptStatus, Reason


@dataclass(frozen=True)
class Verdict:
    """A closed interrupt in a few words."""

    word: str  #: "Approved"
    short: str  #: "Marco approved with changes"
    sentence: str  #: "Marco approved this with changes"
    icon: str
    tone: str
    by: str
    by_me: bool
    at: datetime


def verdict_of(row: Any, decision: Any, me: int | None) -> Verdict | None:
    """The verdict on a closed interrupt, as the user `me` reads it; None while it is open."""
    if row.status == InterruptStatus.OPEN or decision is None:
        return None
    by_me = decision.user_id is not None and decision.user_id == me
    by = "You" if by_me else decision.actor_label
    word, verb, icon, tone = _words(row, decision)
    if row.status == InterruptStatus.EXPIRED:
        short, sentence = "Expired unanswered", "This expired without an answer"
    else:
        changes = _changes(row, decision)
        short, sentence = f"{by} {verb}{changes}", f"{by} {verb} this{changes}"
    return Verdict(word, short, sentence, icon, tone, by, by_me, decision.created_at)


def _words(row: Any, decision: Any) -> tuple[str, str, str, str]:
    if row.status == InterruptStatus.EXPIRED:
        return "Expired", "let expire", "circle-slash", "quiet"
    if row.status == InterruptStatus.CANCELLED:
        return "Cancelled", "cancelled", "circle-slash", "quiet"
    if row.reason != Reason.TOOL_CALL:
        return "Answered", "answered", "circle-check", "ok"
    if _payload(decision).get("approved") is True:
        return "Approved", "approved", "circle-check", "ok"
    return "Rejected", "rejected", "circle-x", "bad"


def _changes(row: Any, decision: Any) -> str:
    edited = row.reason == Reason.TOOL_CALL and "editedArgs" in _payload(decision)
    return " with changes" if edited else ""


def _payload(decision: Any) -> dict[str, Any]:
    value = json.loads(decision.payload) if decision.payload else None
    return value if isinstance(value, dict) else {}
