"""Who works on what, what was said about it, and what can be taken back."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from inbox.models import Claim, Comment, Decision, Interrupt
from inbox.models.clock import database_now
from inbox.models.interrupts import NEVER
from inbox.queries.people.access import teams_of
from inbox.rules.decisions.collaboration import withdrawable_until
from inbox.rules.errors import AlreadyResumed
from inbox.rules.people.access import Actor

CLAIMED_UP_TO = 100
_COMMENTS = 100


def claim_on(row: Interrupt, now: datetime) -> Claim | None:
    """The claim that runs on this interrupt; a lease that ran out counts for nothing."""
    claim: Claim | None = getattr(row, "claim", None)
    return claim if claim is not None and claim.until > now else None


def count_claimed(actor: Actor) -> int:
    """How many open interrupts the person holds, up to CLAIMED_UP_TO."""
    if actor.user_id is None:
        return 0
    mine = Claim.objects.filter(
        user=actor.user_id, until__gt=database_now(), interrupt__team__in=teams_of(actor)
    )
    return mine.order_by()[:CLAIMED_UP_TO].count()


def comments_on(row: Interrupt) -> Sequence[Comment]:
    """The latest comments, in the order they were written."""
    latest = Comment.objects.filter(interrupt=row).select_related("user")
    return list(latest.order_by("-created_at", "-pk")[:_COMMENTS])[::-1]


def comments_page(row: Interrupt, *, limit: int, after: UUID | None = None) -> Sequence[Comment]:
    """The comments in the order they were written, from behind `after` on."""
    rows = Comment.objects.filter(interrupt=row).select_related("user").order_by("pk")
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def withdrawable_by(actor: Actor, row: Interrupt, decision: Decision | None) -> datetime | None:
    """
    Until when the actor may take the standing decision back; NEVER as long as others are missing.

    None if it is not the actor's, or not possible any more. `row` comes with its run, and that with
    the run which resumed it.
    """
    if decision is None or not decision.is_by(actor):
        return None
    try:
        until = withdrawable_until(
            is_resumed=hasattr(row.run, "resumed_by"),
            resume_at=row.run.resume_at,
            expires_at=row.expires_at,
        )
    except AlreadyResumed:
        return None
    return NEVER if until is None else until
