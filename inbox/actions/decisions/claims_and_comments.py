"""Claims, comments and read receipts: reviewers who share an inbox."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import check_open
from inbox.actions.decisions.ended_snoozes import end_snoozes
from inbox.actions.idempotency import IdempotencyKey, created_row, existing_result
from inbox.actions.notifications.announcements import announce_to
from inbox.models import Claim, Comment, Interrupt, InterruptView, Thread
from inbox.models.locks import lock_thread
from inbox.queries.decisions.assignees import mentioned_people
from inbox.queries.people.access import require_person
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.decisions.teamwork.collaboration import (
    CLAIM_LEASE,
    check_comment,
    check_not_claimed,
)
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage


def claim_interrupt(*, interrupt_id: UUID, actor: Actor, take_over: bool = False) -> Claim:
    """
    Claim an open interrupt for CLAIM_LEASE, or renew the actor's own claim.

    An expired claim can be replaced by anybody, a valid one of another person with `take_over`.

    Raises:
        NotFound, Forbidden.
        Claimed: another person holds a valid claim, and `take_over` is false.
        AlreadyDecided, InterruptExpired: the interrupt is closed.
    """
    with audit_rejected("claim", actor=actor, interrupt_id=interrupt_id):
        thread, interrupt, user_id, now = _open_interrupt(interrupt_id, actor)
        previous: Claim | None = getattr(interrupt, "claim", None)
        valid = previous if previous and previous.holder.holds(now) else None
        if valid is not None and valid.user_id == user_id:
            return _renew(valid, now)
        event, taken_from = "claimed", {}
        if valid is not None:
            if not take_over:
                check_not_claimed(holder=valid.holder, actor=actor, now=now)
            event = "taken_over"
            taken_from = {"taken_from": valid.holder.name, "taken_from_id": str(valid.user_id)}
        claim = Claim(interrupt=interrupt, user_id=user_id, claimed_at=now, until=now + CLAIM_LEASE)
        claim.save(force_insert=previous is None, force_update=previous is not None)
        _record(thread, interrupt, event, actor, now, **taken_from)
        end_snoozes(interrupt_id, by=user_id)
        return claim


@transaction.atomic(durable=True)
def renew_claim(*, interrupt_id: UUID, actor: Actor) -> Claim:
    """
    Renew the actor's claim for another CLAIM_LEASE.

    Raises:
        NotFound, Forbidden.
        Claimed: another person has claimed the interrupt.
        NotClaimed: the actor has no claim.
        AlreadyDecided, InterruptExpired: the claim has ended with the interrupt.
    """
    _, interrupt, user_id, now = _open_interrupt(interrupt_id, actor)
    claim: Claim | None = getattr(interrupt, "claim", None)
    check_not_claimed(holder=claim.holder if claim else None, actor=actor, now=now)
    if claim is None or claim.user_id != user_id:
        raise errors.NotClaimed(TranslatableMessage("You have not claimed this request."))
    return _renew(claim, now)


@transaction.atomic(durable=True)
def release_claim(*, interrupt_id: UUID, actor: Actor) -> None:
    """
    Release the actor's claim, if there is one. Safe to replay.

    Raises:
        NotFound, Forbidden.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    claims = Claim.objects.filter(interrupt=interrupt_id, user=user_id)
    released, _ = claims.delete()
    if released:
        _record(thread, Interrupt(pk=interrupt_id), "released", actor, now)


def _open_interrupt(interrupt_id: UUID, actor: Actor) -> tuple[Thread, Interrupt, int, datetime]:
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    interrupt = Interrupt.objects.select_related("run", "claim__user").get(pk=interrupt_id)
    check_open(interrupt)
    return thread, interrupt, user_id, now


def _renew(claim: Claim, now: datetime) -> Claim:
    claim.until = now + CLAIM_LEASE
    claim.save(update_fields=["until"])
    return claim


def _record(
    thread: Thread, interrupt: Interrupt, event: str, actor: Actor, now: datetime, **detail: str
) -> None:
    audit_trail.record(
        f"interrupt.{event}", actor, now, thread=thread, interrupt=interrupt, **detail
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)


@transaction.atomic(durable=True)
def add_comment(
    *, interrupt_id: UUID, actor: Actor, text: str, idempotency: IdempotencyKey | None = None
) -> Comment:
    """
    Add a comment of 1 to 4,000 characters to an interrupt; agents never receive it.

    Members of the team whom it mentions (`@bob`) are told.

    Safe to replay with `idempotency`: the existing comment is returned. The audit trail stores only
    a digest of the text.

    Raises:
        NotFound, Forbidden, InvalidValue, IdempotencyConflict.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    check_comment(text)
    idempotency = idempotency or IdempotencyKey()
    if earlier := existing_result(idempotency, actor=actor, now=now):
        return created_row(Comment, earlier)
    comment = Comment.objects.create(
        pk=idempotency.result_id,
        interrupt_id=interrupt_id,
        user_id=user_id,
        text=text,
        created_at=now,
    )
    audit_trail.record(
        "interrupt.commented",
        actor,
        now,
        thread=thread,
        interrupt=Interrupt(pk=interrupt_id),
        comment=str(comment.pk),
        digest=digest(text),
    )
    mentioned = [user.pk for user in mentioned_people(thread.team_id, text) if user.pk != user_id]
    announce_to(AnnouncementKind.MENTIONED, interrupt_id, mentioned, now)
    end_snoozes(interrupt_id, by=user_id)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return comment


@transaction.atomic(durable=True)
def record_view(*, interrupt_id: UUID, view_digest: str, actor: Actor) -> InterruptView:
    """
    Record that a person has viewed an interrupt in its current form.

    Safe to replay: the same view is recorded once. Open pages are not woken, as they do not change.

    Raises:
        NotFound, Forbidden.
        ViewChanged: `view_digest` is not that of the current view.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.READ)
    interrupt = Interrupt.objects.select_related("tool_call", "run").get(pk=interrupt_id)
    if view_digest != interrupt.shown_digest:
        raise errors.ViewChanged(
            TranslatableMessage("The request changed after the page was loaded.")
        )
    sighting, is_new = InterruptView.objects.get_or_create(
        interrupt=interrupt, user_id=user_id, view_digest=view_digest, defaults={"at": now}
    )
    if is_new:
        audit_trail.record(
            "interrupt.viewed",
            actor,
            now,
            thread=thread,
            run=interrupt.run,
            interrupt=interrupt,
            tool_call=interrupt.tool_call,
            # Without the digests of the arguments: viewing is not approving.
            digests={"view": view_digest},
        )
    return sighting
