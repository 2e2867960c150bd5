"""Deciding interrupts: the one gate that every answer passes, at every entrance."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.endorsements import (
    end_endorsements,
    endorse,
    is_endorsed_by,
    joined_entry,
)
from inbox.actions.decisions.tool_call_decisions import apply_decisions
from inbox.actions.files.attachments import take_files_of_answer
from inbox.actions.notifications.announcements import announce, announce_outcomes
from inbox.actions.notifications.decision_links import use_link
from inbox.actions.policies.grants import make_grant, stand_down
from inbox.actions.policies.rulings import audit_detail
from inbox.actions.runs.resume import queue_resume_if_complete
from inbox.actions.webhooks import outbox
from inbox.models import Claim, Decision, Endorsement, Interrupt, Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.models.moves import Move, move_row
from inbox.models.statements import Select, insert
from inbox.platform.encryption import decision_keys
from inbox.platform.monitoring.metrics import DECISION_SECONDS, DECISIONS, metrics
from inbox.platform.monitoring.traces import traces
from inbox.queries.audit.sink_lag import check_sinks
from inbox.queries.decisions.masked_values import unseen_sets
from inbox.queries.files.files import check_files_unchanged
from inbox.queries.notifications.links import check_by_link, check_link_of
from inbox.queries.people.access import require_current
from inbox.queries.people.groups import group_names_of
from inbox.queries.policies.policies import load_rulings
from inbox.queries.policies.quorum import Quorum, quorum_of, rulings_on
from inbox.queries.runs.interrupt_states import (
    InterruptWithDecision,
    entry_of,
    has_restored_consent,
    interrupt_state,
    load_interrupt_states,
)
from inbox.rules import errors
from inbox.rules.decisions.bulk import check_bulk
from inbox.rules.decisions.consent import canonical_json, digest, original_text
from inbox.rules.decisions.gate import (
    CANCELLATIONS,
    CHECKS,
    OVERRIDES,
    Check,
    Entrance,
    check_outside_of_inbox,
    check_view,
)
from inbox.rules.decisions.signatures import sign
from inbox.rules.decisions.teamwork.collaboration import check_not_claimed
from inbox.rules.decisions.unseen import check_masked_values_seen, is_consent
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import Actor, ActorKind, Permission, may_see_secrets
from inbox.rules.people.api_keys import check_not_agent_key
from inbox.rules.policies.eligibility import (
    check_entrance_of_several,
    check_fresh_sign_in,
    check_override,
    check_requirement,
    check_self_approval,
    check_slot,
    check_way_is_named,
)
from inbox.rules.policies.evaluation import Ruling
from inbox.rules.policies.grants import GrantInvalid, GrantRequest
from inbox.rules.policies.language.policy import Effect
from inbox.rules.runs.contract import (
    InterruptState,
    ResumeEntry,
    approval_entry,
    check_in_time,
    check_payload,
    fingerprint,
)
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.schema.secrets import check_no_masks, texts_in
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible


@dataclass(frozen=True)
class Authorization:
    """
    An actor's right to answer interrupts of one thread, checked under the thread's lock.

    Only `authorize` creates one.
    """

    thread: Thread
    now: datetime
    actor: Actor
    entrance: Entrance


@dataclass(frozen=True)
class DecisionDraft:
    """An answer to one open interrupt that has not been checked and stored yet."""

    interrupt: Interrupt
    state: InterruptState
    entry: ResumeEntry
    view_digest: str = ""  #: of the view that was displayed; "" if the client sent none
    unseen: bool = False  #: the client approves explicitly without having seen masked values
    client_run_id: str = ""  #: the runId of the AG-UI request with the answer
    grant: GrantRequest | None = None  #: further calls that the answer allows
    override_reason: str = ""  #: of an approval despite the policy
    despite_restore: bool = False  #: the actor has checked what happened after the backup


_INTERRUPT = Select(
    lambda params: Interrupt.objects.select_related("tool_call", "run", "claim__user").filter(
        pk=params.pk
    )
)


def decide(  # noqa: PLR0913  # an answer has as many parts
    *,
    interrupt_id: UUID,
    status: EntryStatus,
    actor: Actor,
    view_digest: str,
    entrance: Entrance,
    payload: Any = None,
    unseen: bool = False,
    client_run_id: str = "",
    grant: GrantRequest | None = None,
    override_reason: str = "",
    despite_restore: bool = False,
) -> Decision | Endorsement:
    """
    Answer an interrupt; the last open one of a run queues its resume in the same transaction.

    An approval where the policy requires several people is stored as an endorsement until it fills
    the last slot; a denial decides at once.

    Safe to replay: the same answer by the same actor returns the decision in force. The checks of
    each entrance are in `inbox.rules.decisions.gate.CHECKS`. `unseen` approves explicitly without
    seeing masked values; it is stored only if there were values that the actor had not unmasked.
    `grant` allows further calls, too. At the entrances of OVERRIDES one person approves despite the
    policy, for `override_reason`. `despite_restore` answers a request that came back with a backup.

    Raises:
        Unauthenticated: the key, the session or the account has ended.
        NotFound, Forbidden, InboxOnly.
        RequirementNotMet, SignInTooOld, SelfApproval, DeniedByPolicy: the policy; the messages name
            the rules.
        AlreadyDecided: there is another decision; `detail` has `by`, `at` and `closed_as`.
        Claimed: another person holds the claim; `detail` has `by` and `until`.
        InterruptExpired, ViewDigestRequired, InvalidPayload, NotInBulk, NotByLink.
        MaskedNotSeen: a person approves values that are masked, without `unseen`.
        RestoreNotChecked: the request came back with a backup, without `despite_restore`.
        ViewChanged: `view_digest` is not that of the current view.
        InvalidValue, GrantInvalid: the grant or the override is not possible.
        FileChanged: a displayed file has other bytes by now.
    """
    if is_consent(ResumeEntry("", status, payload)):
        check_files_unchanged(actor, pk=interrupt_id)
    with (
        audit_rejected("decide", actor=actor, interrupt_id=interrupt_id),
        audit_trail.inserted_at_end(),
    ):
        thread, now = lock_thread(interrupts=interrupt_id, with_team=True)
        authorization = authorize(thread=thread, now=now, actor=actor, entrance=entrance)
        (interrupt,) = _INTERRUPT.all(pk=interrupt_id)
        state = interrupt_state(interrupt, None)
        entry = approval_entry(state, ResumeEntry(interrupt.interrupt_id, status, payload))
        if entrance is Entrance.LINK:
            check_open(interrupt)  # a link does not repeat a decision
        if interrupt.status != InterruptStatus.OPEN:
            return _replayed_decision(interrupt, entry, actor)
        draft = DecisionDraft(
            interrupt,
            state,
            joined_entry(interrupt, entry),
            view_digest,
            unseen,
            client_run_id,
            grant,
            override_reason.strip(),
            despite_restore and interrupt.restored_at is not None,
        )
        _check_drafts(authorization, [draft])
        quorum = _quorum(authorization, draft)
        if quorum.needs_several and is_consent(entry) and entrance not in OVERRIDES:
            if grant is not None:
                raise GrantInvalid(
                    TranslatableMessage("Several people approve this, so it allows no more calls.")
                )
            endorsement = endorse(authorization, draft, quorum, entry)
            if endorsement is not None:
                return endorsement
        (decision,) = _store_decisions(authorization, interrupt.run, [draft])
        if actor.link_id is not None:
            use_link(actor.link_id, thread=thread, interrupt=interrupt, actor=actor, now=now)
        queue_resume_if_complete(thread=thread, run=interrupt.run, now=now, started_by=actor.label)
        return decision


def cancellations_of(interrupts: Iterable[InterruptWithDecision]) -> list[DecisionDraft]:
    """Return answers that cancel those interrupts that are open."""
    drafts = []
    for row, state, _ in interrupts:
        if state.is_open:
            entry = ResumeEntry(row.interrupt_id, EntryStatus.CANCELLED)
            drafts.append(DecisionDraft(row, state, entry))
    return drafts


def authorize(*, thread: Thread, now: datetime, actor: Actor, entrance: Entrance) -> Authorization:
    """
    Check that the actor may now answer interrupts of the thread at this entrance.

    The caller holds the thread's lock, and calls this before it recognises replays.

    Raises:
        Unauthenticated, NotFound, Forbidden, InboxOnly.
    """
    checks = CHECKS[entrance]
    if Check.ACTOR in checks:
        require_current(actor, thread.team_id, Permission.DECIDE, thread.agent_id, now=now)
        check_not_agent_key(actor)
    if Check.REQUESTER in checks:
        require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
    if Check.AUDIT in checks:
        check_sinks()
    if Check.ENTRANCE in checks:
        check_outside_of_inbox(inbox_only=thread.team.inbox_only)
    return Authorization(thread, now, actor, entrance)


def record_decisions(
    authorization: Authorization, *, run: Run, drafts: Sequence[DecisionDraft]
) -> list[Decision]:
    """
    Check answers to open interrupts of one run, and store all of them or none.

    The caller has recognised replays before, and queues the resume afterwards.

    Raises:
        Claimed, InterruptExpired, ViewDigestRequired, ViewChanged, InvalidPayload, NotInBulk.
    """
    load_rulings([draft.interrupt for draft in drafts])
    _check_drafts(authorization, drafts)
    return _store_decisions(authorization, run, drafts)


def _store_decisions(
    authorization: Authorization, run: Run, drafts: Sequence[DecisionDraft]
) -> list[Decision]:
    attributes = {"signoff.run": str(run.pk), "signoff.entrance": authorization.entrance.value}
    with traces.span("decision", links=[run.trace_context], attributes=attributes):
        return _store(authorization, run, drafts)


def _store(
    authorization: Authorization, run: Run, drafts: Sequence[DecisionDraft]
) -> list[Decision]:
    thread, actor, now = authorization.thread, authorization.actor, authorization.now
    decided_by_policy = authorization.entrance is Entrance.POLICY
    answers = [(draft.interrupt, draft.entry) for draft in drafts]
    # Before edits change the arguments: the actor has unmasked the arguments as displayed.
    unseen = {
        draft.interrupt.pk for draft in drafts if draft.unseen and _unseen(authorization, draft)
    }
    calls_before = apply_decisions(answers, now, by=actor.ident)
    decisions = [
        Decision(
            interrupt=draft.interrupt,
            status=draft.entry.status,
            **_payload_columns(draft.entry.payload),
            metadata=json.dumps(dict(draft.entry.metadata)) if draft.entry.metadata else None,
            tool_call_before=calls_before.get(draft.interrupt.pk),
            view_digest=draft.view_digest,
            entrance=authorization.entrance,
            client_run_id=draft.client_run_id,
            unseen=draft.interrupt.pk in unseen,
            **_grant_columns(draft.interrupt),
            override_reason=draft.override_reason,
            ruling=draft.interrupt.ruling if decided_by_policy else None,
            actor_kind=actor.kind,
            actor_label=actor.label[:160],
            user_id=actor.user_id,
            api_key_id=actor.key_id,
            created_at=now,
        )
        for draft in drafts
    ]
    _sign(decisions)
    insert(decisions)
    _record_overrides(authorization, run, decisions)
    overruled = end_endorsements(decisions, now)
    _close(answers, authorization)
    if any(draft.despite_restore for draft in drafts):
        _end_restoration(run)
    if not decided_by_policy:
        announce_outcomes(run, decisions, overruled, now)
    _record_audit(authorization, run, drafts, decisions)
    _change_grants(authorization, drafts, unseen)
    for draft in drafts:
        take_files_of_answer(draft.interrupt, draft.entry.payload, actor)
    outbox.interrupts_closed(
        thread=thread,
        answers=answers,
        actor=actor,
        now=now,
        override=authorization.entrance in OVERRIDES,
    )
    if metrics.are_on:
        _count(drafts, authorization)
    wakeups.wake_open_pages_on_commit(
        thread.team_id,
        thread.pk,
        decided=[row.pk for row in _shown_before(answers, authorization)],
        by=escape_invisible(actor.label),
    )
    return decisions


def _end_restoration(run: Run) -> None:
    """Let the answers of a run count that somebody has checked after a restore."""
    closed = Interrupt.objects.filter(run=run).exclude(status=InterruptStatus.OPEN)
    closed.update(restored_at=None)


def _count(drafts: Sequence[DecisionDraft], authorization: Authorization) -> None:
    for draft in drafts:
        row = draft.interrupt
        outcome = _outcome(draft.entry) if row.status == InterruptStatus.RESOLVED else row.status
        seconds = (authorization.now - row.created_at).total_seconds()
        DECISIONS.add_on_commit(authorization.entrance.value, outcome)
        DECISION_SECONDS.observe_on_commit(seconds, outcome)


def _outcome(entry: ResumeEntry) -> str:
    """Return the outcome of an answer as the label of a metric."""
    if not is_consent(entry):
        return "denied"
    payload = entry.payload if isinstance(entry.payload, dict) else {}
    if payload.get("approved") is not True:
        return "answered"
    return "edited" if "editedArgs" in payload else "approved"


def _record_overrides(
    authorization: Authorization, run: Run, decisions: Sequence[Decision]
) -> None:
    for decision in decisions:
        if decision.override_reason:
            ruling = decision.interrupt.ruling
            audit_trail.record(
                "interrupt.overridden",
                authorization.actor,
                authorization.now,
                thread=authorization.thread,
                run=run,
                interrupt=decision.interrupt,
                payload={"reason": decision.override_reason},
                policy=audit_detail(ruling) if ruling else None,
            )
            announce(AnnouncementKind.OVERRIDDEN, [decision.interrupt], authorization.now)


def _grant_columns(interrupt: Interrupt) -> dict[str, Any]:
    grant, number = interrupt.grant_use or (None, None)
    return {"grant": grant, "grant_use": number}


def _change_grants(
    authorization: Authorization, drafts: Sequence[DecisionDraft], unseen: Collection[UUID]
) -> None:
    """Make the grants of approvals, and end those that rejected calls contradict."""
    thread, actor, entrance = authorization.thread, authorization.actor, authorization.entrance
    for draft in drafts:
        if draft.grant is not None:
            make_grant(
                thread=thread,
                interrupt=draft.interrupt,
                entry=draft.entry,
                request=draft.grant,
                actor=actor,
                entrance=entrance,
                is_unseen=draft.interrupt.pk in unseen,
                now=authorization.now,
            )
    if actor.kind is not ActorKind.SYSTEM and entrance not in CANCELLATIONS:
        answers = [(draft.interrupt, draft.entry) for draft in drafts]
        stand_down(thread=thread, answers=answers, actor=actor)


def _check_drafts(authorization: Authorization, drafts: Sequence[DecisionDraft]) -> None:
    """Run each check over all drafts before the next check, so that the errors have one order."""
    for check, function in _DRAFT_CHECKS.items():
        if check in CHECKS[authorization.entrance]:
            for draft in drafts:
                function(authorization, draft)


def _check_requester(authorization: Authorization, draft: DecisionDraft) -> None:
    if not draft.interrupt.run.is_requested_by(authorization.actor):
        raise errors.Forbidden(
            TranslatableMessage(
                "Only the person or key that started the run can cancel its requests."
            )
        )


def _check_claim(authorization: Authorization, draft: DecisionDraft) -> None:
    claim: Claim | None = getattr(draft.interrupt, "claim", None)
    holder = claim.holder if claim else None
    check_not_claimed(holder=holder, actor=authorization.actor, now=authorization.now)


def _check_view(authorization: Authorization, draft: DecisionDraft) -> None:
    is_required = Check.VIEW_REQUIRED in CHECKS[authorization.entrance]
    check_view(
        sent=draft.view_digest,
        current=draft.interrupt.shown_digest,
        is_required=is_required or authorization.thread.team.requires_view_digest,
    )


def _check_masks(_: Authorization, draft: DecisionDraft) -> None:
    check_no_masks(draft.entry.payload, _texts_of(draft.interrupt.tool_call))


def _check_policy(authorization: Authorization, draft: DecisionDraft) -> None:
    actor, interrupt, entry = authorization.actor, draft.interrupt, draft.entry
    rulings = _rulings(draft)
    requirements = [ruling.requirement for ruling in rulings]
    check_way_is_named(requirements, entrance=authorization.entrance)
    for ruling in rulings:
        if ruling.requirement is not None:
            check_requirement(
                ruling.requirement,
                actor=actor,
                entrance=authorization.entrance,
                rules=ruling.rules,
            )
            minutes = ruling.requirement.fresh_sign_in_minutes
            if minutes is not None and is_consent(entry):
                check_fresh_sign_in(minutes, actor=actor, now=authorization.now, rules=ruling.rules)
    quorum = _quorum(authorization, draft)
    if interrupt.run.is_self_approved_by(actor) and not quorum.allows_self_approval:
        check_self_approval(entry, is_proposal=interrupt.is_proposal)
    if not is_consent(entry) or quorum.is_default:
        return
    if quorum.needs_several:
        check_entrance_of_several(
            actor=actor,
            entrance=authorization.entrance,
            rules=quorum.rules,
            count=len(quorum.slots),
        )
    else:
        people = quorum.eligible_people([actor.user_id] if actor.user_id else [])
        check_slot(quorum.slots[0], people, rules=quorum.rules)


def _check_override(authorization: Authorization, draft: DecisionDraft) -> None:
    actor, team = authorization.actor, authorization.thread.team
    _rulings(draft)
    check_override(
        actor=actor,
        entry=draft.entry,
        group=team.override_group,
        groups=group_names_of(team.pk, actor.user_id) if actor.user_id else (),
        reason=draft.override_reason,
        now=authorization.now,
    )


def _rulings(draft: DecisionDraft) -> list[Ruling]:
    """Return the rulings on the call as asked and as edited; raise DeniedByPolicy for a denial."""
    payload = draft.entry.payload if is_consent(draft.entry) else None
    rulings = rulings_on(draft.interrupt, payload)
    if len(rulings) > 1 and rulings[-1].effect is Effect.DENY:
        raise errors.DeniedByPolicy(
            TranslatableMessage(
                "The team's policy ({rules}) denies the call with these arguments.",
                rules=", ".join(rulings[-1].rules),
            )
        )
    return rulings


def _quorum(authorization: Authorization, draft: DecisionDraft) -> Quorum:
    """Return the slots for the answer, by the ruling and the one on edited arguments."""
    payload = draft.entry.payload if is_consent(draft.entry) else None
    return quorum_of(
        draft.interrupt,
        authorization.now,
        rulings_on(draft.interrupt, payload),
        self_approval=authorization.thread.team.self_approval,
    )


def _check_seen(authorization: Authorization, draft: DecisionDraft) -> None:
    check_masked_values_seen(_unseen(authorization, draft), unseen=draft.unseen)


def _unseen(authorization: Authorization, draft: DecisionDraft) -> Sequence[str]:
    """Return the names of the masked values that the draft approves and the actor has not seen."""
    if may_see_secrets(authorization.actor) or not is_consent(draft.entry):
        return ()
    return unseen_sets(draft.interrupt, authorization.actor.user_id)


def _check_restored(_: Authorization, draft: DecisionDraft) -> None:
    row = draft.interrupt
    if row.restored_at is None or draft.despite_restore:
        return
    if is_consent(draft.entry) or has_restored_consent(load_interrupt_states(row.run)):
        raise errors.RestoreNotChecked(
            TranslatableMessage(
                "This request was restored from a backup: it may have been decided and executed "
                "afterwards. Check that, then answer on its page and confirm it there, or over "
                "REST with despite_restore."
            )
        )


def _check_link(authorization: Authorization, draft: DecisionDraft) -> None:
    check_link_of(authorization.actor, draft.interrupt, draft.view_digest)
    check_by_link(draft.interrupt, _quorum(authorization, draft))


def _check_bulk(authorization: Authorization, draft: DecisionDraft) -> None:
    if draft.entry.status is EntryStatus.RESOLVED:
        candidate = draft.interrupt.bulk_candidate()
        check_bulk(candidate, may_see_secrets=may_see_secrets(authorization.actor))


_DRAFT_CHECKS: dict[Check, Callable[[Authorization, DecisionDraft], None]] = {
    Check.REQUESTER: _check_requester,
    Check.CLAIM: _check_claim,
    Check.TIME: lambda by, draft: check_in_time(draft.state, draft.entry, by.now),
    Check.VIEW: _check_view,
    Check.RESTORED: _check_restored,
    Check.BULK: _check_bulk,
    Check.PAYLOAD: lambda _, draft: check_payload(draft.state, draft.entry),
    Check.MASKS: _check_masks,
    Check.POLICY: _check_policy,
    Check.OVERRIDE: _check_override,
    Check.SEEN: _check_seen,
    Check.LINK: _check_link,
}


def _texts_of(call: ToolCall | None) -> Iterator[str]:
    """Yield the texts in the call's arguments; lazily, as most payloads contain no mask."""
    if call is not None:
        yield from texts_in(json.loads(call.approved_args))


def _payload_columns(payload: Any) -> dict[str, str | None]:
    if payload is None:
        return {"payload": None, "original_payload": None}
    try:
        text = canonical_json(payload)
    except ValueError as error:
        raise errors.InvalidPayload(
            TranslatableMessage("The answer cannot be stored as JSON: {error}.", error=error)
        ) from error
    return {"payload": text, "original_payload": original_text(payload, text)}


def _sign(decisions: Sequence[Decision]) -> None:
    key = decision_keys()[0]
    for decision in decisions:
        call = decision.interrupt.tool_call
        decision.args_digest = digest(call.approved_args) if call else ""
        decision.signature = sign(decision.signed(), key)


_INTERRUPTS = Move(lambda params: Interrupt.objects.filter(pk__in=params.each("ids")))


def _close(answers: Sequence[tuple[Interrupt, ResumeEntry]], authorization: Authorization) -> None:
    has_expired, now = authorization.entrance is Entrance.EXPIRY, authorization.now
    for interrupt, entry in answers:
        is_unanswered = has_expired and entry.status is EntryStatus.CANCELLED
        closed = InterruptStatus.EXPIRED if is_unanswered else InterruptStatus(entry.status)
        move_row(interrupt, closed)
        interrupt.closed_at = now
    for status in {interrupt.status for interrupt, _ in answers}:
        rows = [interrupt.pk for interrupt, _ in answers if interrupt.status == status]
        columns = {"closed_at": now, "decided_by": authorization.actor.user_id}
        _INTERRUPTS.execute(InterruptStatus(status), columns, ids=rows)
    claimed = [row.pk for row in _shown_before(answers, authorization) if hasattr(row, "claim")]
    if claimed:
        Claim.objects.filter(interrupt__in=claimed).delete()


def _shown_before(
    answers: Sequence[tuple[Interrupt, ResumeEntry]], authorization: Authorization
) -> list[Interrupt]:
    """Return the interrupts but those that a policy answers in the transaction that opens them."""
    return [row for row, _ in answers if _was_shown(row, authorization)]


def _was_shown(row: Interrupt, authorization: Authorization) -> bool:
    """Return whether people could see an interrupt before this decision."""
    if authorization.entrance is not Entrance.POLICY:
        return True
    return row.ruling is not None and row.ruling.created_at > row.created_at


def _record_audit(
    authorization: Authorization,
    run: Run,
    drafts: Sequence[DecisionDraft],
    decisions: Sequence[Decision],
) -> None:
    audit_trail.record_all(
        audit_trail.build_entry(
            f"interrupt.{draft.interrupt.status}",
            authorization.actor,
            authorization.now,
            thread=authorization.thread,
            run=run,
            interrupt=draft.interrupt,
            tool_call=draft.interrupt.tool_call,
            digests=_digests(authorization, draft),
            state=(InterruptStatus.OPEN, draft.interrupt.status),
            payload=draft.entry.payload,
            entrance=authorization.entrance,
            **_detail(draft, decision),
        )
        for draft, decision in zip(drafts, decisions, strict=True)
    )


def _digests(authorization: Authorization, draft: DecisionDraft) -> dict[str, str]:
    digests = audit_trail.digests_of(draft.interrupt, draft.view_digest)
    if not _was_shown(draft.interrupt, authorization):
        del digests["view"]
    return digests


def _detail(draft: DecisionDraft, decision: Decision) -> dict[str, Any]:
    detail: dict[str, Any] = {"unseen": True} if decision.unseen else {}
    if draft.despite_restore:
        detail["despite_restore"] = True
    if decision.override_reason:
        detail["override"] = True
    if decision.ruling is not None:
        detail["policy"] = audit_detail(decision.ruling)
    if decision.grant is not None:
        detail["grant"] = {
            "id": str(decision.grant_id),
            "use": decision.grant_use,
            "made_by": decision.grant.maker_label,
        }
    return detail


def check_open(interrupt: Interrupt) -> None:
    """Raise AlreadyDecided or InterruptExpired unless the interrupt is open."""
    if interrupt.status != InterruptStatus.OPEN:
        raise _closed_error(interrupt, interrupt.decisions.get(withdrawn_at=None))


def _replayed_decision(interrupt: Interrupt, entry: ResumeEntry, actor: Actor) -> Decision:
    """Return the decision in force if the entry repeats it; raise AlreadyDecided otherwise."""
    decision = interrupt.decisions.get(withdrawn_at=None)
    stored_entry = entry_of(interrupt, decision)
    if decision.is_by(actor) and fingerprint([stored_entry]) == fingerprint([entry]):
        return decision
    if is_endorsed_by(decision, actor, entry):
        return decision
    raise _closed_error(interrupt, decision)


def _closed_error(interrupt: Interrupt, decision: Decision) -> errors.RequestRejected:
    if interrupt.status == InterruptStatus.EXPIRED:
        return errors.InterruptExpired(TranslatableMessage("This interrupt has expired."))
    who = decision.actor_label
    is_cancelled = interrupt.status == InterruptStatus.CANCELLED
    return errors.AlreadyDecided(
        TranslatableMessage("{who} already cancelled this.", who=who)
        if is_cancelled
        else TranslatableMessage("{who} already decided this.", who=who),
        by=who,
        at=decision.created_at.isoformat(),
        closed_as=interrupt.status,
    )
