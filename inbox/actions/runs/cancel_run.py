"""Cancelling a run, or the open interrupts of an interrupted one."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from ag_ui.core import RunFinishedCancelledOutcome, RunFinishedEvent

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import authorize, cancellations_of, record_decisions
from inbox.actions.runs.pulled_runs import stop_pulled_run
from inbox.actions.runs.resume import queue_resume_if_complete
from inbox.actions.runs.run_termination import close_run
from inbox.models import Run, Thread
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_current
from inbox.queries.runs.interrupt_states import InterruptWithDecision, load_interrupt_states
from inbox.rules import errors
from inbox.rules.decisions.gate import CANCELLATIONS, Entrance
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, InterruptStatus, RunStatus
from inbox.rules.text.messages import TranslatableMessage


def cancel_run(*, run_id: UUID, actor: Actor, entrance: Entrance = Entrance.CANCEL_REST) -> Run:
    """
    Cancel an active run, or the open interrupts of an interrupted one.

    An active run ends with the cancelled outcome; its worker loses the lease at its next write. The
    open interrupts of an interrupted run are answered as cancelled, which resumes the run, so that
    the agent learns of it. Only the requester and those who may decide can do that.

    Idempotent: a run that was cancelled before, at any entrance, is returned unchanged, without
    another audit entry.

    Raises:
        Unauthenticated, NotFound, Forbidden.
        Claimed, InboxOnly: see `inbox.rules.decisions.gate`; not for the requester.
        RunEnded: the run ended in another way, or all its interrupts were answered.
    """
    with audit_rejected("cancel", actor=actor, run_id=run_id):
        thread, now = lock_thread(runs=run_id)
        require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
        run = Run.objects.get(pk=run_id)
        if run.status == RunStatus.CANCELLED:
            return run
        if run.status == RunStatus.INTERRUPTED:
            return _cancel_interrupts(thread, run, now, actor, entrance)
        if run.status not in ACTIVE_RUN_STATUSES:
            raise errors.RunEnded(_HAS_ENDED)
        terminal = RunFinishedEvent(
            thread_id=thread.external_id,
            run_id=run.external_id,
            outcome=RunFinishedCancelledOutcome(type="cancelled"),
        )
        close_run(thread=thread, run=run, terminal=terminal, now=now)
        if run.pulled:
            stop_pulled_run(thread=thread)
        audit_trail.record("run.cancelled", actor, now, thread=thread, run=run)
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
        return run


def _cancel_interrupts(
    thread: Thread, run: Run, now: datetime, actor: Actor, entrance: Entrance
) -> Run:
    interrupts = load_interrupt_states(run)
    drafts = cancellations_of(interrupts)
    if not drafts and _is_cancelled(interrupts):
        return run
    if run.is_requested_by(actor):
        entrance = Entrance.REQUESTER
    authorization = authorize(thread=thread, now=now, actor=actor, entrance=entrance)
    if not drafts:
        raise errors.RunEnded(_HAS_ENDED)
    record_decisions(authorization, run=run, drafts=drafts)
    queue_resume_if_complete(thread=thread, run=run, now=now, started_by=actor.label)
    return run


def _is_cancelled(interrupts: Sequence[InterruptWithDecision]) -> bool:
    """Return whether the run was cancelled as a whole, or each of its interrupts by itself."""
    if any(decision and decision.entrance in CANCELLATIONS for _, _, decision in interrupts):
        return True
    return all(state.status is InterruptStatus.CANCELLED for _, state, _ in interrupts)


_HAS_ENDED = TranslatableMessage("This run has already ended.")
