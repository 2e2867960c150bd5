"""Collaboration on an interrupt: claim, comments and withdrawal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from inbox.queries.decisions.interrupts import InterruptDetail
from inbox.rules.people.avatars import avatar_colour, initials
from inbox.rules.text.safe_text import escape_invisible


@dataclass(frozen=True)
class ClaimView:
    """The claim on an interrupt."""

    claimed_by: str
    is_mine: bool
    until: datetime
    initials: str
    hue: int


@dataclass(frozen=True)
class CommentView:
    """A reviewer's comment."""

    id: str
    author: str
    text: str
    at: datetime
    initials: str
    hue: int


@dataclass(frozen=True)
class Collaboration:
    claim: ClaimView | None
    comments: Sequence[CommentView]
    may_withdraw: bool
    withdraw_until: datetime | None  #: None while other interrupts of the run are open


@dataclass(frozen=True)
class Notice:
    """The error of an action; `text` keeps a rejected comment."""

    message: str
    text: str = ""


def collaboration_of(detail: InterruptDetail, me: int | None) -> Collaboration:
    """Return the claim and comments as displayed to the user `me`."""
    claim = detail.claim
    return Collaboration(
        claim=ClaimView(
            claimed_by=escape_invisible(claim.user.display_name),
            is_mine=claim.user_id == me,
            until=claim.until,
            initials=initials(claim.user.display_name),
            hue=avatar_colour(claim.user_id),
        )
        if claim
        else None,
        comments=[
            CommentView(
                id=f"comment-{row.pk}",
                author=gettext("You")
                if row.user_id == me
                else escape_invisible(row.user.display_name),
                text=escape_invisible(row.text),
                at=row.created_at,
                initials=initials(row.user.display_name),
                hue=avatar_colour(row.user_id),
            )
            for row in detail.comments
        ],
        may_withdraw=detail.may_withdraw,
        withdraw_until=detail.withdraw_until,
    )
