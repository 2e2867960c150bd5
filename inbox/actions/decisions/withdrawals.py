"""Withdrawing a decision before the agent gets it."""

from uuid import UUID

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.endorsements import reopen_endorsements
from inbox.actions.decisions.tool_call_decisions import recompute_tool_call
from inbox.actions.notifications.announcements import announce
from inbox.actions.policies.grants import ActiveGrants
from inbox.actions.webhooks import outbox
from inbox.models import Decision, Interrupt
from inbox.models.locks import lock_thread
from inbox.models.moves import move_row
from inbox.queries.agents.agents import endpoint_digest_of
from inbox.queries.people.access import require_current
from inbox.rules import errors
from inbox.rules.decisions.teamwork.collaboration import check_withdrawal
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.messages import TranslatableMessage


def withdraw_decision(*, interrupt_id: UUID, actor: Actor) -> Decision:
    """
    Withdraw the actor's decision in force, or the approval of a rule, and open the interrupt again.

    Possible until the run is resumed: while other interrupts of the run are open, or during the
    team's grace period. The decision stays as a row. Safe to replay: a withdrawn decision is
    returned unchanged.

    Raises:
        NotFound.
        Forbidden: the actor may not decide, or the decision is another actor's or a rule's denial.
        AlreadyResumed.
        InterruptExpired: the interrupt would be overdue.
    """
    with audit_rejected("withdraw", actor=actor, interrupt_id=interrupt_id):
        thread, now = lock_thread(interrupts=interrupt_id, with_team=True)
        require_current(actor, thread.team_id, Permission.DECIDE, thread.agent_id, now=now)
        interrupt = Interrupt.objects.select_related("tool_call", "run__resumed_by").get(
            pk=interrupt_id
        )
        decision = _decision_to_withdraw(interrupt, actor)
        if decision.withdrawn_at is not None:
            return decision
        run = interrupt.run
        check_withdrawal(
            is_resumed=hasattr(run, "resumed_by"),
            resume_at=run.resume_at,
            expires_at=interrupt.expires_at,
            now=now,
        )
        decision.withdrawn_at, decision.signature = now, ""
        decision.save(update_fields=["withdrawn_at", "signature"])
        recompute_tool_call(interrupt)
        ActiveGrants(thread).end_made_from(interrupt, actor)
        if interrupt.people_needed > 1:
            reopen_endorsements(interrupt, decision, now)
        move_row(interrupt, InterruptStatus.OPEN)
        interrupt.closed_at = None
        if interrupt.view_version > 1:  # the agent's address may have changed since
            interrupt.endpoint_digest = endpoint_digest_of(thread.agent_id)
        interrupt.save(update_fields=["status", "closed_at", "endpoint_digest"])
        if run.resume_at is not None:
            run.resume_at = None
            run.save(update_fields=["resume_at"])
        audit_trail.record(
            "decision.withdrawn",
            actor,
            now,
            thread=thread,
            run=run,
            interrupt=interrupt,
            decision=str(decision.pk),
        )
        outbox.interrupts_opened(thread=thread, interrupts=[interrupt], now=now, reopened=True)
        announce(AnnouncementKind.OPENED, [interrupt], now)
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
        return decision


def _decision_to_withdraw(interrupt: Interrupt, actor: Actor) -> Decision:
    """Return the decision in force, else the last one that the actor could withdraw."""
    decisions = list(interrupt.decisions.select_related("ruling").order_by("created_at", "pk"))
    in_force = [row for row in decisions if row.withdrawn_at is None]
    rows = [row for row in in_force or decisions if row.is_by(actor) or row.is_approval_by_policy]
    if not rows:
        raise errors.Forbidden(TranslatableMessage("Only the author of an answer can withdraw it."))
    return rows[-1]
