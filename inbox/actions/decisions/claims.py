"""Taking an interrupt, so that two people do not work on the same one."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import check_open
from inbox.models import Claim, Interrupt, Thread
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_person
from inbox.rules import errors
from inbox.rules.decisions.collaboration import CLAIM_LEASE, check_not_claimed
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage


def claim_interrupt(*, interrupt_id: UUID, actor: Actor, take_over: bool = False) -> Claim:
    """
    Take an open interrupt for CLAIM_LEASE; claiming what one holds already renews it.

    A lease that ran out is free for everybody; one that runs can be taken over by saying so.

    Raises:
        NotFound, Forbidden.
        Claimed: another person's lease runs, and `take_over` was not asked for.
        AlreadyDecided, InterruptExpired: there is nothing left to work on.
    """
    with audit_rejected("claim", actor=actor, interrupt_id=interrupt_id):
        return _claim(interrupt_id, actor, take_over=take_over)


@transaction.atomic(durable=True)
def _claim(interrupt_id: UUID, actor: Actor, *, take_over: bool) -> Claim:
    thread, interrupt, user_id, now = _open_interrupt(interrupt_id, actor)
    before: Claim | None = getattr(interrupt, "claim", None)
    held = before if before and before.holder.holds(now) else None
    if held is not None and held.user_id == user_id:
        return _renew(held, now)
    what, taken_from = "claimed", {}
    if held is not None:
        if not take_over:
            check_not_claimed(holder=held.holder, actor=actor, now=now)
        what = "taken_over"
        taken_from = {"taken_from": held.holder.name, "taken_from_id": str(held.user_id)}
    claim = Claim(interrupt=interrupt, user_id=user_id, claimed_at=now, until=now + CLAIM_LEASE)
    claim.save(force_insert=before is None, force_update=before is not None)
    _record(thread, interrupt, what, actor, now, **taken_from)
    return claim


@transaction.atomic(durable=True)
def renew_claim(*, interrupt_id: UUID, actor: Actor) -> Claim:
    """
    Hold on to an interrupt for another CLAIM_LEASE, as long as nobody else has taken it.

    Raises:
        NotFound, Forbidden.
        Claimed: another person took it meanwhile.
        NotClaimed: the actor gave it back, or never had it.
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
    Give an interrupt back for others to take.

    Safe to replay: what the actor does not hold stays as it is.

    Raises:
        NotFound, Forbidden.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    mine = Claim.objects.filter(interrupt=interrupt_id, user=user_id)
    released, _ = mine.delete()
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
    thread: Thread, interrupt: Interrupt, what: str, actor: Actor, now: datetime, **detail: str
) -> None:
    audit_trail.record(
        action=f"interrupt.{what}",
        actor=actor,
        now=now,
        thread=thread,
        interrupt=interrupt,
        **detail,
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
