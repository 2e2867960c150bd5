"""Approving together: endorsements until a policy's slots are full."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.ended_snoozes import end_snoozes
from inbox.actions.webhooks import outbox
from inbox.models import Claim, Decision, Endorsement, Interrupt, Thread
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_current
from inbox.queries.policies.quorum import Quorum, current_quorum, endorsements_in_force
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.people.access import Actor, ActorKind, Permission
from inbox.rules.policies.endorsements import (
    is_same_proposal,
    joined_payload,
    proposal_text,
    slot_names,
)
from inbox.rules.policies.slots import assign_slots
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.text.messages import TranslatableMessage

if TYPE_CHECKING:
    from inbox.actions.decisions.decide import Authorization, DecisionDraft


def joined_entry(interrupt: Interrupt, entry: ResumeEntry) -> ResumeEntry:
    """Return an approval with the changes that others have endorsed, which its view displays."""
    if interrupt.endorsed_payload is None or not is_consent(entry):
        return entry
    return replace(entry, payload=joined_payload(entry.payload, interrupt.endorsed_payload))


def endorse(
    authorization: "Authorization", draft: "DecisionDraft", quorum: Quorum, answer: ResumeEntry
) -> Endorsement | None:
    """
    Store the approval of one person; return None if it fills the last slot.

    `answer` is the answer as it was sent, `draft` has it with what others have endorsed. An answer
    that changes that voids the earlier endorsements. Only people who are eligible now count. The
    caller holds the thread's lock, and has checked the draft.

    Raises:
        RequirementNotMet: the person fits none of the open slots.
    """
    interrupt, now = draft.interrupt, authorization.now
    rows = endorsements_in_force(interrupt)
    _propose(interrupt, proposal_text(draft.entry.payload), len(quorum.slots))
    digest = interrupt.shown_digest
    voided = [row for row in rows if row.view_digest != digest]
    counted = [row for row in rows if row.view_digest == digest]
    _void([row.pk for row in voided], now)
    user_id = authorization.actor.user_id
    if user_id is None:
        raise errors.Forbidden(TranslatableMessage("Only people can approve together."))
    own = next((row for row in counted if row.user_id == user_id), None)
    people = quorum.eligible_people([*(row.user_id for row in counted), user_id])
    others = [person for person in people if person.id != str(user_id)]
    before, after = assign_slots(quorum.slots, others), assign_slots(quorum.slots, people)
    if own is None and not before.is_complete and len(after.people) == len(before.people):
        raise errors.RequirementNotMet(
            TranslatableMessage(
                "The team's policy ({rules}) still needs: {slots}. You cannot fill any of these.",
                rules=", ".join(quorum.rules),
                slots=slot_names([quorum.slots[number] for number in before.missing]),
            )
        )
    if own is None:
        own = Endorsement.objects.create(
            interrupt=interrupt,
            user_id=user_id,
            payload=canonical_json(answer.payload),
            view_digest=digest,
            method=authorization.actor.method[:40],
            created_at=now,
        )
        Claim.objects.filter(interrupt=interrupt).delete()
        end_snoozes(interrupt.pk, by=user_id)
        progress = {"endorsed": len(after.people), "of": len(quorum.slots)}
        audit_trail.record(
            "interrupt.endorsed",
            authorization.actor,
            now,
            thread=authorization.thread,
            run=interrupt.run,
            interrupt=interrupt,
            tool_call=interrupt.tool_call,
            digests=audit_trail.digests_of(interrupt, draft.view_digest),
            payload=draft.entry.payload,
            entrance=authorization.entrance,
            rules=list(quorum.rules),
            voided=[row.user.get_username() for row in voided],
            **progress,
        )
        outbox.interrupt_endorsed(
            thread=authorization.thread,
            interrupt=interrupt,
            by=authorization.actor.label,
            answer=answer.payload,
            now=now,
            **progress,
        )
        _wake(authorization.thread)
    return None if after.is_complete else own


def withdraw_endorsement(*, interrupt_id: UUID, actor: Actor) -> None:
    """
    Withdraw the actor's endorsement of an open interrupt. Safe to replay.

    Raises:
        Unauthenticated, NotFound.
        Forbidden: the actor has not endorsed the interrupt.
        AlreadyDecided: the interrupt is closed.
    """
    with audit_rejected("withdraw", actor=actor, interrupt_id=interrupt_id):
        thread, now = lock_thread(interrupts=interrupt_id)
        require_current(actor, thread.team_id, Permission.DECIDE, thread.agent_id, now=now)
        interrupt = Interrupt.objects.select_related("tool_call", "run", "team").get(
            pk=interrupt_id
        )
        rows = Endorsement.objects.filter(interrupt=interrupt, user=actor.user_id)
        if actor.user_id is None or not rows.exists():
            raise errors.Forbidden(
                TranslatableMessage("Only the author of an answer can withdraw it.")
            )
        if interrupt.status != InterruptStatus.OPEN:
            raise errors.AlreadyDecided(
                TranslatableMessage("This request is decided, so an approval stays part of it.")
            )
        if not rows.filter(withdrawn_at=None, voided_at=None).update(withdrawn_at=now):
            return
        _reset_proposal(interrupt, now)
        audit_trail.record(
            "endorsement.withdrawn",
            actor,
            now,
            thread=thread,
            run=interrupt.run,
            interrupt=interrupt,
        )
        _wake(thread)


def end_endorsements(decisions: Sequence[Decision], now: datetime) -> set[UUID]:
    """
    Make the endorsements part of the decisions that they led to, and void the others.

    Return the ids of the interrupts with voided endorsements.
    """
    overruled = set()
    for decision in decisions:
        if decision.interrupt.people_needed < 2:
            continue
        rows = Endorsement.objects.filter(
            interrupt=decision.interrupt_id, withdrawn_at=None, voided_at=None
        )
        payload = None if decision.payload is None else json.loads(decision.payload)
        entry = ResumeEntry("", EntryStatus(decision.status), payload)
        is_approval = decision.actor_kind == ActorKind.HUMAN and is_consent(entry)
        endorsed = decision.interrupt.endorsed_payload
        if is_approval and is_same_proposal(endorsed, proposal_text(payload)):
            rows.update(decision=decision)
        elif rows.update(voided_at=now):
            overruled.add(decision.interrupt_id)
    return overruled


def void_endorsements(interrupt: Interrupt, now: datetime) -> list[str]:
    """Void the endorsements of an open interrupt, and return the names of their authors."""
    rows = endorsements_in_force(interrupt)
    _void([row.pk for row in rows], now)
    return [row.user.get_username() for row in rows]


def reopen_endorsements(interrupt: Interrupt, decision: Decision, now: datetime) -> None:
    """Withdraw the endorsement of a withdrawn decision's author; the others stay in force."""
    rows = Endorsement.objects.filter(decision=decision, withdrawn_at=None, voided_at=None)
    rows.filter(user=decision.user_id).update(withdrawn_at=now)
    rows.update(decision=None)
    _reset_proposal(interrupt, now)


def is_endorsed_by(decision: Decision, actor: Actor, entry: ResumeEntry) -> bool:
    """Return whether the same answer of the actor is part of a decision."""
    if actor.user_id is None or decision.interrupt.people_needed < 2:
        return False
    rows = Endorsement.objects.filter(decision=decision, user=actor.user_id)
    try:
        return rows.filter(payload=canonical_json(entry.payload)).exists()
    except ValueError:
        return False


def _propose(interrupt: Interrupt, proposal: str | None, people_needed: int) -> None:
    changed = []
    if not is_same_proposal(interrupt.endorsed_payload, proposal):
        interrupt.endorsed_payload = proposal
        changed.append("endorsed_payload")
    if interrupt.people_needed != people_needed:
        interrupt.people_needed = people_needed
        changed.append("people_needed")
    if changed:
        interrupt.save(update_fields=changed)


def _reset_proposal(interrupt: Interrupt, now: datetime) -> None:
    """Drop the endorsed changes if nobody endorses them any more."""
    if not endorsements_in_force(interrupt):
        interrupt.endorsed_payload = None
        _propose(interrupt, None, len(current_quorum(interrupt, now).slots))
        interrupt.save(update_fields=["endorsed_payload"])


def _void(ids: Sequence[UUID], now: datetime) -> None:
    if ids:
        Endorsement.objects.filter(pk__in=ids).update(voided_at=now)


def _wake(thread: Thread) -> None:
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
