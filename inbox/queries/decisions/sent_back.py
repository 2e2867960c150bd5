"""Requests that were sent back to their agent, and those that followed them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from inbox.models import Decision, Interrupt
from inbox.rules.decisions.feedback import feedback_of
from inbox.rules.schema.mask_agui import secrets_of_answers

#: A page links so many requests.
MAX_LINKED = 5
#: Decisions of the resumed run that are read.
_MAX_DECISIONS = 100


@dataclass(frozen=True)
class SentBack:
    """A request that was sent back, with its question."""

    interrupt: Interrupt
    decision: Decision
    feedback: str


def displayed_feedback(row: Interrupt, decision: Decision | None) -> str:
    """Return the question of a decision with its secrets masked, "" for any other decision."""
    payload = json.loads(decision.payload) if decision and decision.payload else None
    return feedback_of(secrets_of_answers(row.body).masked(payload)) if feedback_of(payload) else ""


def sent_back_before(row: Interrupt) -> Sequence[SentBack]:
    """
    Return the requests that were sent back in the run that this one's run resumes.

    Those about the same tool only, if there are any. Costs no query for a run that resumes none.
    """
    if row.run.resumes_id is None:
        return ()
    decisions = Decision.objects.filter(
        interrupt__run=row.run.resumes_id, withdrawn_at=None, payload__contains='"feedback"'
    )
    linked = [
        SentBack(decision.interrupt, decision, text)
        for decision in decisions.select_related("interrupt").order_by("interrupt__position")[
            :_MAX_DECISIONS
        ]
        if (text := displayed_feedback(decision.interrupt, decision))
    ]
    same_tool = [item for item in linked if item.interrupt.tool == row.tool]
    return (same_tool or linked)[:MAX_LINKED]


def interrupts_after(row: Interrupt, decision: Decision | None) -> Sequence[Interrupt]:
    """
    Return the requests of the run that resumed one that was sent back, as `sent_back_before`.

    Costs no query for a request that was decided otherwise.
    """
    resumed = getattr(row.run, "resumed_by", None)
    if resumed is None or not displayed_feedback(row, decision):
        return ()
    rows = list(
        Interrupt.objects.filter(run=resumed)
        .defer("search_text")
        .order_by("position")[:_MAX_DECISIONS]
    )
    same_tool = [item for item in rows if item.tool == row.tool]
    return (same_tool or rows)[:MAX_LINKED]
