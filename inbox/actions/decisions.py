"""Deciding: one answer to one interrupt, whoever it comes from."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox import notify
from inbox.actions import audit, outbox
from inbox.actions.approvals import apply_answers
from inbox.actions.locking import lock_thread
from inbox.actions.questions import entry_of, question, queue_resume_if_complete
from inbox.actions.refusals import refusals_written_down
from inbox.domain import errors
from inbox.domain.access import Actor, Permission
from inbox.domain.consent import canonical
from inbox.domain.contract import Entry, check_in_time, check_payload, fingerprint
from inbox.domain.keys import check_is_no_agent
from inbox.domain.masks import check_no_masks, texts_in
from inbox.domain.sentences import Sentence
from inbox.domain.shown import visible
from inbox.domain.states import EntryStatus, InterruptStatus
from inbox.domain.teamwork import check_not_claimed
from inbox.models import Claim, Decision, Interrupt, Run, Thread, ToolCall
from inbox.selectors.access import require

CLOSED_BY = {
    EntryStatus.RESOLVED: InterruptStatus.RESOLVED,
    EntryStatus.CANCELLED: InterruptStatus.CANCELLED,
}


def decide(
    *,
    interrupt_id: UUID,
    status: EntryStatus,
    actor: Actor,
    view_digest: str,
    payload: Any = None,
) -> Decision:
    """
    Answer an interrupt; the last open one of a run queues its resume in the same transaction.

    Safe to replay: the same answer by the same actor returns the decision that stands. Only people
    are kept away by a claim: a machine answers for a whole set.

    Raises:
        NotFound, Forbidden.
        Claimed: another person's claim runs; `detail` has `by` and `until`.
        AlreadyDecided: somebody else was faster; `detail` has `by`, `at` and `status`.
        InterruptExpired, InvalidPayload.
        ViewChanged: `view_digest` is not that of what is asked: nobody consents to what they were
            not shown (R3).
    """
    with refusals_written_down("decide", actor=actor, interrupt_id=interrupt_id):
        return _decide(interrupt_id, status, actor, view_digest, payload)


@transaction.atomic(durable=True)
def _decide(
    interrupt_id: UUID, status: EntryStatus, actor: Actor, view_digest: str, payload: Any
) -> Decision:
    thread, now = lock_thread(interrupts=interrupt_id)
    require(actor, thread.team_id, Permission.DECIDE, thread.agent_id)
    interrupt = Interrupt.objects.select_related("tool_call", "run", "claim__user").get(
        pk=interrupt_id
    )
    entry = Entry(interrupt.interrupt_id, status, payload)
    if interrupt.status != InterruptStatus.OPEN:
        return _standing_decision(interrupt, entry, actor)
    claim: Claim | None = getattr(interrupt, "claim", None)
    check_not_claimed(holder=claim.holder if claim else None, actor=actor, now=now)
    asked = question(interrupt, None)
    check_in_time(asked, entry, now)
    if view_digest != interrupt.shown_digest:
        raise errors.ViewChanged(Sentence("What was asked has changed since the page was loaded."))
    check_payload(asked, entry, now)
    check_no_masks(payload, _texts_of(interrupt.tool_call))
    (decision,) = record_decisions(
        thread=thread,
        run=interrupt.run,
        answered=[(interrupt, entry)],
        actor=actor,
        now=now,
        view_digest=view_digest,
    )
    queue_resume_if_complete(thread=thread, run=interrupt.run, now=now, started_by=actor.label)
    return decision


def _texts_of(call: ToolCall | None) -> Iterator[str]:
    """What the agent itself has written; read only if somebody looks."""
    if call is not None:
        yield from texts_in(json.loads(call.approved_args))


def record_decisions(
    *,
    thread: Thread,
    run: Run,
    answered: Sequence[tuple[Interrupt, Entry]],
    actor: Actor,
    now: datetime,
    view_digest: str = "",
    closed_as: InterruptStatus | None = None,
) -> list[Decision]:
    """
    Store decisions that were checked; the caller holds the lock and plans the resume.

    Raises:
        Forbidden: they come from an agent, whatever let it come so far.
    """
    check_is_no_agent(actor)
    before = apply_answers(answered, now, by=actor.ident)
    decisions = [
        Decision(
            interrupt=interrupt,
            status=entry.status,
            payload=None if entry.payload is None else _stored(entry.payload),
            call_before=before.get(interrupt.pk),
            view_digest=view_digest,
            actor_kind=actor.kind,
            actor_label=actor.label[:160],
            user_id=actor.user_id,
            api_key_id=actor.key_id,
            created_at=now,
        )
        for interrupt, entry in answered
    ]
    Decision.objects.bulk_create(decisions)
    _close(answered, closed_as, actor, now)
    audit.record_all(
        [
            audit.entry(
                action=f"interrupt.{interrupt.status}",
                actor=actor,
                now=now,
                thread=thread,
                run=run,
                interrupt=interrupt,
                tool_call=interrupt.tool_call,
                digests=audit.digests_of(interrupt, view_digest),
                state=(InterruptStatus.OPEN, interrupt.status),
                payload=entry.payload,
            )
            for interrupt, entry in answered
        ]
    )
    outbox.interrupts_closed(thread=thread, answered=answered, actor=actor, now=now)
    notify.ring_reviewers_on_commit(
        thread.team_id,
        thread.pk,
        decided=[interrupt.pk for interrupt, _ in answered],
        by=visible(actor.label),
    )
    return decisions


def _close(
    answered: Sequence[tuple[Interrupt, Entry]],
    closed_as: InterruptStatus | None,
    actor: Actor,
    now: datetime,
) -> None:
    for interrupt, entry in answered:
        interrupt.status = closed_as or CLOSED_BY[entry.status]
        interrupt.closed_at = now
    for status in {interrupt.status for interrupt, _ in answered}:
        rows = [interrupt.pk for interrupt, _ in answered if interrupt.status == status]
        Interrupt.objects.filter(pk__in=rows).update(
            status=status, closed_at=now, decided_by=actor.user_id
        )
    claimed = [interrupt.pk for interrupt, _ in answered if hasattr(interrupt, "claim")]
    if claimed:
        Claim.objects.filter(interrupt__in=claimed).delete()


def _stored(payload: Any) -> str:
    try:
        return canonical(payload)
    except ValueError as error:
        raise errors.InvalidPayload(
            Sentence("The answer cannot be stored as JSON: {error}.", error=error)
        ) from error


def refuse_if_closed(interrupt: Interrupt) -> None:
    """Raise AlreadyDecided or InterruptExpired, with who and when, unless it is open."""
    if interrupt.status != InterruptStatus.OPEN:
        raise _closed(interrupt, interrupt.decisions.get(withdrawn_at=None))


def _standing_decision(interrupt: Interrupt, entry: Entry, actor: Actor) -> Decision:
    """The decision that stands, if this is the same one again; else say who was faster."""
    standing = interrupt.decisions.get(withdrawn_at=None)
    before = entry_of(interrupt, standing)
    if standing.is_by(actor) and fingerprint([before]) == fingerprint([entry]):
        return standing
    raise _closed(interrupt, standing)


def _closed(interrupt: Interrupt, standing: Decision) -> errors.Refusal:
    if interrupt.status == InterruptStatus.EXPIRED:
        return errors.InterruptExpired(Sentence("This interrupt has expired."))
    return errors.AlreadyDecided(
        _was_faster(interrupt, standing.actor_label),
        by=standing.actor_label,
        at=standing.created_at.isoformat(),
        closed_as=interrupt.status,
    )


def _was_faster(interrupt: Interrupt, who: str) -> Sentence:
    if interrupt.status == InterruptStatus.CANCELLED:
        return Sentence("{who} was faster: this is already cancelled.", who=who)
    return Sentence("{who} was faster: this is already resolved.", who=who)
