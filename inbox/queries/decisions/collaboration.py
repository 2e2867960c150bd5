"""Claims and comments on interrupts, and the time limit for withdrawing a decision."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from inbox.models import Claim, Comment, Decision, Interrupt
from inbox.models.runs.interrupts import NEVER
from inbox.models.statements import Select
from inbox.platform.clock import database_now
from inbox.queries.people.access import teams_of
from inbox.rules.decisions.teamwork.collaboration import withdrawable_until
from inbox.rules.errors import AlreadyResumed, Forbidden
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage

MAX_CLAIMED_COUNT = 100
_MAX_COMMENTS = 100


def claim_on(row: Interrupt, now: datetime) -> Claim | None:
    """Return the claim on this interrupt, None if there is none or it has expired."""
    claim: Claim | None = getattr(row, "claim", None)
    return claim if claim is not None and claim.until > now else None


def count_claimed(actor: Actor) -> int:
    """Return the number of interrupts that the actor has claimed, up to MAX_CLAIMED_COUNT."""
    if actor.user_id is None:
        return 0
    teams = teams_of(actor)
    return len(_CLAIMS.all(user=actor.user_id, now=database_now(), teams=teams)) if teams else 0


_CLAIMS = Select(
    lambda params: (
        Claim.objects.filter(
            user=params.user, until__gt=params.now, interrupt__team__pk__in=params.each("teams")
        )
        .order_by()
        .values_list("user", flat=True)[:MAX_CLAIMED_COUNT]
    )
)


def comments_on(row: Interrupt) -> Sequence[Comment]:
    """Return the latest comments, the oldest of them first."""
    return _COMMENTS.all(interrupt=row.pk)[::-1]


_COMMENTS = Select(
    lambda params: (
        Comment.objects.filter(interrupt=params.interrupt)
        .select_related("user")
        .order_by("-created_at", "-pk")[:_MAX_COMMENTS]
    )
)


def comments_page(
    actor: Actor, row: Interrupt, *, limit: int, after: UUID | None = None
) -> Sequence[Comment]:
    """
    Return up to `limit` comments, the oldest first, after the id `after`.

    Raises:
        Forbidden: the actor is the key of an agent, which reviewers talk about.
    """
    if actor.agent_id is not None:
        raise Forbidden(TranslatableMessage("An agent's key cannot read comments."))
    rows = Comment.objects.filter(interrupt=row).select_related("user").order_by("pk")
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def seconds_until(until: datetime, now: datetime) -> int | None:
    """Return the whole seconds in which a decision can be withdrawn; None without a limit."""
    return None if until == NEVER else max(0, int((until - now).total_seconds()))


def withdrawable_by(actor: Actor, row: Interrupt, decision: Decision | None) -> datetime | None:
    """
    Return the time until which the actor may withdraw the decision in force.

    NEVER while other decisions of the set are missing; None if the decision is neither the actor's
    nor a rule's approval, or the run has resumed. `row` must have its `run` and `run.resumed_by`
    selected.
    """
    if decision is None or not (decision.is_by(actor) or decision.is_approval_by_policy):
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
