"""Deciding: one answer to one interrupt, whoever it comes from."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox import notify
from inbox.actions import audit
from inbox.actions.calls import save_calls
from inbox.actions.locking import lock_thread
from inbox.actions.questions import question, queue_resume_if_complete
from inbox.domain import errors
from inbox.domain.access import Actor, Permission
from inbox.domain.consent import canonical
from inbox.domain.contract import Entry, check_in_time, check_payload, fingerprint
from inbox.domain.states import EntryStatus, InterruptStatus, Reason, ToolCallState
from inbox.models import Decision, Interrupt, Run, Thread, ToolCall
from inbox.selectors.access import require

CLOSED_BY = {
    EntryStatus.RESOLVED: InterruptStatus.RESOLVED,
    EntryStatus.CANCELLED: InterruptStatus.CANCELLED,
}


@transaction.atomic(durable=True)
def decide(
    *,
    interrupt_id: UUID,
    status: EntryStatus,
    actor: Actor,
    payload: Any = None,
    view_digest: str | None = None,
) -> Decision:
    """
    Answer an interrupt; the last open one of a run queues its resume in the same transaction.

    Safe to replay: the same answer by the same actor returns the decision that stands.

    Raises:
        NotFound, Forbidden.
        AlreadyDecided: somebody else was faster; `detail` has `by`, `at` and `status`.
        InterruptExpired, InvalidPayload.
        ViewChanged: `view_digest` is not that of what is asked.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    require(actor, thread.team_id, Permission.DECIDE)
    interrupt = Interrupt.objects.select_related("tool_call", "run").get(pk=interrupt_id)
    entry = Entry(interrupt.interrupt_id, status, payload)
    if interrupt.status != InterruptStatus.OPEN:
        return _standing_decision(interrupt, entry, actor)
    asked = question(interrupt, None)
    check_in_time(asked, entry, now)
    if view_digest is not None and view_digest != interrupt.view_digest:
        raise errors.ViewChanged("What was asked has changed since the page was loaded.")
    check_payload(asked, entry, now)
    (decision,) = record_decisions(
        thread=thread,
        run=interrupt.run,
        answered=[(interrupt, entry)],
        actor=actor,
        now=now,
        view_digest=view_digest or "",
    )
    queue_resume_if_complete(thread=thread, run=interrupt.run, now=now, started_by=actor.label)
    return decision


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
    """Store decisions that were checked; the caller holds the lock and plans the resume."""
    decisions = [
        Decision(
            interrupt=interrupt,
            status=entry.status,
            payload=None if entry.payload is None else _stored(entry.payload),
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
    _close(answered, closed_as, now)
    _apply_to_tool_calls(answered, now)
    audit.record_all(
        [
            audit.entry(
                action=f"interrupt.{interrupt.status}",
                actor=actor,
                now=now,
                thread=thread,
                run=run,
                interrupt=interrupt,
                payload=entry.payload,
            )
            for interrupt, entry in answered
        ]
    )
    notify.ring_reviewers_on_commit(thread.team_id, thread.pk)
    return decisions


def _close(
    answered: Sequence[tuple[Interrupt, Entry]], closed_as: InterruptStatus | None, now: datetime
) -> None:
    for interrupt, entry in answered:
        interrupt.status = closed_as or CLOSED_BY[entry.status]
        interrupt.closed_at = now
    for status in {interrupt.status for interrupt, _ in answered}:
        rows = [interrupt.pk for interrupt, _ in answered if interrupt.status == status]
        Interrupt.objects.filter(pk__in=rows).update(status=status, closed_at=now)


def _stored(payload: Any) -> str:
    try:
        return canonical(payload)
    except ValueError as error:
        raise errors.InvalidPayload(f"The answer cannot be stored as JSON: {error}.") from error


def _standing_decision(interrupt: Interrupt, entry: Entry, actor: Actor) -> Decision:
    """The decision that stands, if this is the same one again; else say who was faster."""
    standing = interrupt.decisions.filter(withdrawn_at=None).get()
    before = Entry(
        interrupt.interrupt_id,
        EntryStatus(standing.status),
        None if standing.payload is None else json.loads(standing.payload),
    )
    same_actor = (standing.user_id, standing.api_key_id) == (actor.user_id, actor.key_id)
    if same_actor and fingerprint([before]) == fingerprint([entry]):
        return standing
    if interrupt.status == InterruptStatus.EXPIRED:
        raise errors.InterruptExpired("This interrupt has expired.")
    raise errors.AlreadyDecided(
        f"{standing.actor_label} was faster: this is already {interrupt.status}.",
        by=standing.actor_label,
        at=standing.created_at.isoformat(),
        status=interrupt.status,
    )


def _apply_to_tool_calls(answered: Sequence[tuple[Interrupt, Entry]], now: datetime) -> None:
    """Keep what was approved, so that the executor can hold the agent to it (R4)."""
    # Two questions may be about one call: both answers go to the same object.
    calls: dict[UUID, ToolCall] = {}
    changed = set()
    for interrupt, entry in answered:
        if interrupt.tool_call is not None:
            call = calls.setdefault(interrupt.tool_call.pk, interrupt.tool_call)
            if _apply(call, interrupt.reason, entry, now):
                changed.add(call)
    save_calls(changed, ["state", "edited_args", "result", "settled_at"])


def _apply(call: ToolCall, reason: str, entry: Entry, now: datetime) -> bool:
    """
    Change the call as the answer says; return whether it changed.

    A denial stays, whatever else is approved about the call.
    """
    answer = entry.payload if isinstance(entry.payload, dict) else {}
    if reason == Reason.OUTCOME_UNKNOWN:
        _settle_doubt(call, entry, answer, now)
    elif reason != Reason.TOOL_CALL:
        return False
    elif entry.status is not EntryStatus.RESOLVED or answer.get("approved") is not True:
        call.state = ToolCallState.NOT_RUN
    elif isinstance(answer.get("editedArgs"), dict):
        call.edited_args = canonical(answer["editedArgs"])
    else:
        return False
    return True


def _settle_doubt(call: ToolCall, entry: Entry, answer: dict[str, Any], now: datetime) -> None:
    outcome = answer.get("outcome") if entry.status is EntryStatus.RESOLVED else "stop"
    if outcome == "happened":
        result = answer.get("result")
        call.state = ToolCallState.SETTLED
        call.result = result if isinstance(result, str) else canonical(result)
        call.settled_at = now
    elif outcome == "did_not_happen":
        call.state = ToolCallState.PROPOSED
    else:
        call.state = ToolCallState.NOT_RUN
