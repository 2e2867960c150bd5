"""The text, icon and tone for the outcome of an interrupt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_noop

from inbox.rules.decisions.outcomes import Outcome, outcome_of
from inbox.rules.people.access import POLICY
from inbox.rules.runs.states import InterruptStatus

if TYPE_CHECKING:
    from inbox.models import Decision, Interrupt


@dataclass(frozen=True)
class DecisionLabel:
    """The displayed outcome of a closed interrupt."""

    word: str  #: "Approved"
    tag: str  #: "Approved by Marco", or the word alone without another person
    short: str  #: "Marco approved with changes"
    sentence: str  #: "Marco approved this with changes"
    icon: str
    tone: str
    by_me: bool
    is_approval: bool  #: approved, with or without changes
    at: datetime


@dataclass(frozen=True)
class _Kind:
    """An outcome's texts; pairs are for other users and for the decider."""

    icon: str
    tone: str
    word: str
    tag: str
    short: tuple[str, str]
    sentence: tuple[str, str]


_EXPIRED = _Kind(
    "circle-slash",
    "quiet",
    gettext_noop("Expired"),
    gettext_noop("Expired"),
    (gettext_noop("Expired unanswered"),) * 2,
    (gettext_noop("This expired without an answer"),) * 2,
)
_CANCELLED = _Kind(
    "circle-slash",
    "quiet",
    gettext_noop("Cancelled"),
    gettext_noop("Cancelled by {who}"),
    (gettext_noop("{who} cancelled"), gettext_noop("You cancelled")),
    (gettext_noop("{who} cancelled this"), gettext_noop("You cancelled this")),
)
_ANSWERED = _Kind(
    "circle-check",
    "ok",
    gettext_noop("Answered"),
    gettext_noop("Answered by {who}"),
    (gettext_noop("{who} answered"), gettext_noop("You answered")),
    (gettext_noop("{who} answered this"), gettext_noop("You answered this")),
)
_APPROVED = _Kind(
    "circle-check",
    "ok",
    gettext_noop("Approved"),
    gettext_noop("Approved by {who}"),
    (gettext_noop("{who} approved"), gettext_noop("You approved")),
    (gettext_noop("{who} approved this"), gettext_noop("You approved this")),
)
_APPROVED_WITH_CHANGES = _Kind(
    "circle-check",
    "ok",
    gettext_noop("Approved"),
    gettext_noop("Approved by {who}"),
    (gettext_noop("{who} approved with changes"), gettext_noop("You approved with changes")),
    (
        gettext_noop("{who} approved this with changes"),
        gettext_noop("You approved this with changes"),
    ),
)
_REJECTED = _Kind(
    "circle-x",
    "bad",
    gettext_noop("Rejected"),
    gettext_noop("Rejected by {who}"),
    (gettext_noop("{who} rejected"), gettext_noop("You rejected")),
    (gettext_noop("{who} rejected this"), gettext_noop("You rejected this")),
)
_SENT_BACK = _Kind(
    "reply",
    "warn",
    gettext_noop("Sent back"),
    gettext_noop("Sent back by {who}"),
    (gettext_noop("{who} asked back"), gettext_noop("You asked back")),
    (
        gettext_noop("{who} sent this back to the agent"),
        gettext_noop("You sent this back to the agent"),
    ),
)


_KINDS = {
    Outcome.EXPIRED: _EXPIRED,
    Outcome.CANCELLED: _CANCELLED,
    Outcome.ANSWERED: _ANSWERED,
    Outcome.APPROVED: _APPROVED,
    Outcome.APPROVED_WITH_CHANGES: _APPROVED_WITH_CHANGES,
    Outcome.REJECTED: _REJECTED,
    Outcome.SENT_BACK: _SENT_BACK,
}


def decider_of(decision: Decision) -> str:
    """Return the name of who decided, for use within a sentence."""
    if decision.actor_label == POLICY.label:
        return gettext("A grant") if decision.grant_id else gettext("The policy")
    return decision.actor_label


def decision_label_of(
    interrupt: Interrupt, decision: Decision | None, me: int | None
) -> DecisionLabel | None:
    """Return the outcome as displayed to the user `me`; None while the interrupt is open."""
    if interrupt.status == InterruptStatus.OPEN or decision is None:
        return None
    by_me = decision.user_id is not None and decision.user_id == me
    outcome = outcome_of(status=interrupt.status, reason=interrupt.reason, payload=decision.payload)
    kind, who = _KINDS[outcome], decider_of(decision)
    word = gettext(kind.word)
    return DecisionLabel(
        word=word,
        tag=word if by_me else gettext(kind.tag).format(who=who),
        short=gettext(kind.short[by_me]).format(who=who),
        sentence=gettext(kind.sentence[by_me]).format(who=who),
        icon=kind.icon,
        tone=kind.tone,
        by_me=by_me,
        is_approval=kind in (_APPROVED, _APPROVED_WITH_CHANGES),
        at=decision.created_at,
    )
