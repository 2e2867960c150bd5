"""Answering interrupts: the gate that every answer passes, whatever entrance it came through."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.tool_call_decisions import apply_decisions
from inbox.actions.runs.resume import queue_resume_if_complete
from inbox.actions.webhooks import outbox
from inbox.models import Claim, Decision, Interrupt, Run, Thread, ToolCall
from inbox.models.decision_keys import decision_keys
from inbox.models.locks import lock_thread
from inbox.models.statements import Update, insert
from inbox.queries.decisions.masked_values import unseen_sets
from inbox.queries.people.access import require_current
from inbox.queries.runs.interrupt_states import entry_of, interrupt_state
from inbox.rules import errors
from inbox.rules.decisions.bulk import check_bulk
from inbox.rules.decisions.collaboration import check_not_claimed
from inbox.rules.decisions.consent import canonical_json, digest, original_text
from inbox.rules.decisions.gate import (
    CHECKS,
    Check,
    Entrance,
    check_outside_of_inbox,
    check_view,
)
from inbox.rules.decisions.signatures import sign
from inbox.rules.decisions.unseen import check_masked_values_seen, is_consent
from inbox.rules.people.access import Actor, Permission, may_see_secrets
from inbox.rules.people.api_keys import check_not_agent_key
from inbox.rules.runs.contract import (
    InterruptState,
    ResumeEntry,
    check_in_time,
    check_payload,
    fingerprint,
)
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.schema.secrets import check_no_masks, texts_in
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible

CLOSED_BY = {
    EntryStatus.RESOLVED: InterruptStatus.RESOLVED,
    EntryStatus.CANCELLED: InterruptStatus.CANCELLED,
}


@dataclass(frozen=True)
class Authorization:
    """
    The right of an actor to answer interrupts of one thread; only `admit` makes one.

    The thread's lock is held, and the actor was checked under it.
    """

    thread: Thread
    now: datetime
    actor: Actor
    entrance: Entrance


@dataclass(frozen=True)
class DecisionDraft:
    """An answer to one open interrupt, with the digest of what its sender was shown."""

    interrupt: Interrupt
    question: InterruptState
    entry: ResumeEntry
    view_digest: str = ""  #: "" if the sender named none
    unseen: bool = False  #: whether the sender approves without seeing what is masked
    client_run_id: str = ""  #: the runId of the AG-UI request that it came in


def decide(
    *,
    interrupt_id: UUID,
    status: EntryStatus,
    actor: Actor,
    view_digest: str,
    entrance: Entrance,
    payload: Any = None,
    unseen: bool = False,
    client_run_id: str = "",
) -> Decision:
    """
    Answer an interrupt; the last open one of a run queues its resume in the same transaction.

    Safe to replay: the same answer by the same actor returns the decision that stands. Which checks
    apply at the entrance is in `inbox.rules.decisions.gate.CHECKS`. `unseen` approves explicitly
    without seeing what is masked; it is stored only if something was masked and not revealed.

    Raises:
        Unauthenticated: the key, the session or the account has ended meanwhile.
        NotFound, Forbidden, InboxOnly.
        AlreadyDecided: somebody else was faster; `detail` has `by`, `at` and `closed_as`.
        Claimed: another person's claim runs; `detail` has `by` and `until`.
        InterruptExpired, ViewDigestRequired, InvalidPayload, NotInBulk.
        MaskedNotSeen: a person approves what is masked and was not revealed, without `unseen`.
        ViewChanged: `view_digest` is not that of what is asked: nobody consents to what they were
            not shown.
    """
    with audit_rejected("decide", actor=actor, interrupt_id=interrupt_id):
        given = ResumeEntry("", status, payload)
        return _decide(interrupt_id, given, actor, view_digest, entrance, unseen, client_run_id)


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _decide(
    interrupt_id: UUID,
    given: ResumeEntry,
    actor: Actor,
    view_digest: str,
    entrance: Entrance,
    unseen: bool,
    client_run_id: str,
) -> Decision:
    thread, now = lock_thread(interrupts=interrupt_id, with_team=True)
    admission = authorize(thread=thread, now=now, actor=actor, entrance=entrance)
    interrupt = Interrupt.objects.select_related("tool_call", "run", "claim__user").get(
        pk=interrupt_id
    )
    entry = ResumeEntry(interrupt.interrupt_id, given.status, given.payload)
    if interrupt.status != InterruptStatus.OPEN:
        return _standing_decision(interrupt, entry, actor)
    asked = interrupt_state(interrupt, None)
    answer = DecisionDraft(interrupt, asked, entry, view_digest, unseen, client_run_id)
    (decision,) = record_decisions(admission, run=interrupt.run, answers=[answer])
    queue_resume_if_complete(thread=thread, run=interrupt.run, now=now, started_by=actor.label)
    return decision


def authorize(*, thread: Thread, now: datetime, actor: Actor, entrance: Entrance) -> Authorization:
    """
    Check that the actor, as they are now, may answer interrupts of the thread at this entrance.

    The caller holds the thread's lock. Comes before replays are recognised.

    Raises:
        Unauthenticated, NotFound, Forbidden, InboxOnly.
    """
    checks = CHECKS[entrance]
    if Check.ACTOR in checks:
        require_current(actor, thread.team_id, Permission.DECIDE, thread.agent_id, now=now)
        check_not_agent_key(actor)
    if Check.REQUESTER in checks:
        require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
    if Check.ENTRANCE in checks:
        check_outside_of_inbox(inbox_only=thread.team.inbox_only)
    return Authorization(thread, now, actor, entrance)


def record_decisions(
    admission: Authorization,
    *,
    run: Run,
    answers: Sequence[DecisionDraft],
    closed_as: InterruptStatus | None = None,
) -> list[Decision]:
    """
    Check answers to open interrupts of one run, and store them all or none.

    The caller recognises replays before, and plans the resume afterwards.

    Raises:
        Claimed, InterruptExpired, ViewDigestRequired, ViewChanged, InvalidPayload, NotInBulk.
    """
    _check_answers(admission, answers)
    return _store(admission, run, answers, closed_as)


def _check_answers(admission: Authorization, answers: Sequence[DecisionDraft]) -> None:
    """Make each check for all answers before the next one: the first that fails is reported."""
    checks = CHECKS[admission.entrance]
    for check, function in _ANSWER_CHECKS:
        if check in checks:
            for answer in answers:
                function(admission, answer)


def _check_requester(admission: Authorization, answer: DecisionDraft) -> None:
    if not answer.interrupt.run.is_requested_by(admission.actor):
        raise errors.Forbidden(
            TranslatableMessage("Only whoever started the run may take its requests back.")
        )


def _check_claim(admission: Authorization, answer: DecisionDraft) -> None:
    claim: Claim | None = getattr(answer.interrupt, "claim", None)
    holder = claim.holder if claim else None
    check_not_claimed(holder=holder, actor=admission.actor, now=admission.now)


def _check_time(admission: Authorization, answer: DecisionDraft) -> None:
    check_in_time(answer.question, answer.entry, admission.now)


def _check_view(admission: Authorization, answer: DecisionDraft) -> None:
    is_required = Check.VIEW_REQUIRED in CHECKS[admission.entrance]
    check_view(
        sent=answer.view_digest,
        shown=answer.interrupt.shown_digest,
        is_required=is_required or admission.thread.team.requires_view_digest,
    )


def _check_payload(_: Authorization, answer: DecisionDraft) -> None:
    check_payload(answer.question, answer.entry)


def _check_masks(_: Authorization, answer: DecisionDraft) -> None:
    check_no_masks(answer.entry.payload, _texts_of(answer.interrupt.tool_call))


def _check_seen(admission: Authorization, answer: DecisionDraft) -> None:
    check_masked_values_seen(_unseen(admission, answer), unseen=answer.unseen)


def _unseen(admission: Authorization, answer: DecisionDraft) -> Sequence[str]:
    """Return what is masked for the actor, is approved by the answer, and was not revealed."""
    if may_see_secrets(admission.actor) or not is_consent(answer.entry):
        return ()
    return unseen_sets(answer.interrupt, admission.actor.user_id)


def _check_bulk(admission: Authorization, answer: DecisionDraft) -> None:
    if answer.entry.status is EntryStatus.RESOLVED:
        candidate = answer.interrupt.bulk_candidate()
        check_bulk(candidate, may_see_secrets=may_see_secrets(admission.actor))


_ANSWER_CHECKS = (
    (Check.REQUESTER, _check_requester),
    (Check.CLAIM, _check_claim),
    (Check.TIME, _check_time),
    (Check.VIEW, _check_view),
    (Check.BULK, _check_bulk),
    (Check.PAYLOAD, _check_payload),
    (Check.MASKS, _check_masks),
    (Check.SEEN, _check_seen),
)


def _texts_of(call: ToolCall | None) -> Iterator[str]:
    """Yield the texts in the call's arguments; they are read only if somebody looks."""
    if call is not None:
        yield from texts_in(json.loads(call.approved_args))


def _store(
    admission: Authorization,
    run: Run,
    answers: Sequence[DecisionDraft],
    closed_as: InterruptStatus | None,
) -> list[Decision]:
    thread, actor, now = admission.thread, admission.actor, admission.now
    answered = [(answer.interrupt, answer.entry) for answer in answers]
    # Before an edit changes what is shown: what was revealed was revealed of that.
    unseen = {answer.interrupt.pk for answer in answers if _is_unseen(admission, answer)}
    before = apply_decisions(answered, now, by=actor.ident)
    decisions = [
        Decision(
            interrupt=answer.interrupt,
            status=answer.entry.status,
            **_payload_of(answer.entry.payload),
            metadata=_metadata(answer.entry),
            call_before=before.get(answer.interrupt.pk),
            view_digest=answer.view_digest,
            entrance=admission.entrance,
            client_run_id=answer.client_run_id,
            unseen=answer.interrupt.pk in unseen,
            actor_kind=actor.kind,
            actor_label=actor.label[:160],
            user_id=actor.user_id,
            api_key_id=actor.key_id,
            created_at=now,
        )
        for answer in answers
    ]
    key = decision_keys()[0]
    for decision in decisions:
        call = decision.interrupt.tool_call
        decision.args_digest = digest(call.approved_args) if call else ""
        decision.signature = sign(decision.signed(), key)
    insert(decisions)
    _close(answered, closed_as, actor, now)
    audit_trail.record_all(
        [
            audit_trail.build_entry(
                action=f"interrupt.{answer.interrupt.status}",
                actor=actor,
                now=now,
                thread=thread,
                run=run,
                interrupt=answer.interrupt,
                tool_call=answer.interrupt.tool_call,
                digests=audit_trail.digests_of(answer.interrupt, answer.view_digest),
                state=(InterruptStatus.OPEN, answer.interrupt.status),
                payload=answer.entry.payload,
                entrance=admission.entrance,
                **_told_unseen(decision),
            )
            for answer, decision in zip(answers, decisions, strict=True)
        ]
    )
    outbox.interrupts_closed(thread=thread, answered=answered, actor=actor, now=now)
    wakeups.wake_open_pages_on_commit(
        thread.team_id,
        thread.pk,
        decided=[interrupt.pk for interrupt, _ in answered],
        by=escape_invisible(actor.label),
    )
    return decisions


def _is_unseen(admission: Authorization, answer: DecisionDraft) -> bool:
    return answer.unseen and bool(_unseen(admission, answer))


def _told_unseen(decision: Decision) -> dict[str, Any]:
    return {"unseen": True} if decision.unseen else {}


def _metadata(entry: ResumeEntry) -> str | None:
    return json.dumps(dict(entry.metadata)) if entry.metadata else None


_INTERRUPTS = Update(lambda params: Interrupt.objects.filter(pk__in=params.each("ids")))


def _close(
    answered: Sequence[tuple[Interrupt, ResumeEntry]],
    closed_as: InterruptStatus | None,
    actor: Actor,
    now: datetime,
) -> None:
    for interrupt, entry in answered:
        interrupt.status = closed_as or CLOSED_BY[entry.status]
        interrupt.closed_at = now
    for status in {interrupt.status for interrupt, _ in answered}:
        rows = [interrupt.pk for interrupt, _ in answered if interrupt.status == status]
        columns = {"status": status, "closed_at": now, "decided_by": actor.user_id}
        _INTERRUPTS.execute(columns, ids=rows)
    claimed = [interrupt.pk for interrupt, _ in answered if hasattr(interrupt, "claim")]
    if claimed:
        Claim.objects.filter(interrupt__in=claimed).delete()


def _payload_of(payload: Any) -> dict[str, str | None]:
    text = None if payload is None else _stored(payload)
    written = None if text is None else original_text(payload, text)
    return {"payload": text, "payload_written": written}


def _stored(payload: Any) -> str:
    try:
        return canonical_json(payload)
    except ValueError as error:
        raise errors.InvalidPayload(
            TranslatableMessage("The answer cannot be stored as JSON: {error}.", error=error)
        ) from error


def check_open(interrupt: Interrupt) -> None:
    """Raise AlreadyDecided or InterruptExpired, with who and when, unless it is open."""
    if interrupt.status != InterruptStatus.OPEN:
        raise _closed(interrupt, interrupt.decisions.get(withdrawn_at=None))


def _standing_decision(interrupt: Interrupt, entry: ResumeEntry, actor: Actor) -> Decision:
    """The decision that stands, if this is the same one again; else say who was faster."""
    standing = interrupt.decisions.get(withdrawn_at=None)
    before = entry_of(interrupt, standing)
    if standing.is_by(actor) and fingerprint([before]) == fingerprint([entry]):
        return standing
    raise _closed(interrupt, standing)


def _closed(interrupt: Interrupt, standing: Decision) -> errors.RequestRejected:
    if interrupt.status == InterruptStatus.EXPIRED:
        return errors.InterruptExpired(TranslatableMessage("This interrupt has expired."))
    return errors.AlreadyDecided(
        _was_faster(interrupt, standing.actor_label),
        by=standing.actor_label,
        at=standing.created_at.isoformat(),
        closed_as=interrupt.status,
    )


def _was_faster(interrupt: Interrupt, who: str) -> TranslatableMessage:
    if interrupt.status == InterruptStatus.CANCELLED:
        return TranslatableMessage("{who} was faster: this is already cancelled.", who=who)
    return TranslatableMessage("{who} was faster: this is already resolved.", who=who)
