"""Withdrawing a request of a program before it is decided."""

from dataclasses import replace
from uuid import UUID

from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import authorize, cancellations_of, record_decisions
from inbox.actions.runs.pulled_runs import request_of
from inbox.actions.runs.resume import queue_resume
from inbox.models import AgentRequest
from inbox.models.locks import lock_thread
from inbox.queries.requests.programs import asking_run_id, require_program
from inbox.queries.runs.interrupt_states import load_interrupt_states
from inbox.queries.runs.latest_run import interrupted_run
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import WITHDRAWAL, Actor
from inbox.rules.requests.request_states import RequestStatus
from inbox.rules.text.messages import TranslatableMessage


def withdraw_request(*, request_id: UUID, actor: Actor, reason: str = "") -> AgentRequest:
    """
    Close what is open of a request, and execute nothing of it.

    Idempotent: a withdrawn request is returned unchanged.

    Raises:
        Unauthenticated, NotFound, Forbidden.
        RequestDecided: all items are decided.
    """
    with audit_rejected("withdraw", actor=actor, run_id=asking_run_id(request_id)):
        return _withdraw(request_id, actor, reason)


@audit_trail.inserted_at_end()
def _withdraw(request_id: UUID, actor: Actor, reason: str) -> AgentRequest:
    thread, now = lock_thread(request=request_id, with_team=True)
    require_program(actor, thread, now=now)
    request = request_of(thread.pk)
    if request.status == RequestStatus.WITHDRAWN:
        return request
    run = interrupted_run(thread) if request.status == RequestStatus.OPEN else None
    drafts = cancellations_of(load_interrupt_states(run)) if run else []
    if run is None or not drafts:
        raise errors.RequestDecided(
            TranslatableMessage("The request was decided, so it cannot be withdrawn.")
        )
    request.withdrawn_at, request.withdrawal_reason, request.heard_at = now, reason[:500], now
    request.save(update_fields=["withdrawn_at", "withdrawal_reason", "heard_at"])
    audit_trail.record(
        "request.withdrawn",
        actor,
        now,
        thread=thread,
        run=run,
        request=str(request.pk),
        reason=reason[:500] or None,
    )
    system = replace(WITHDRAWAL, on_behalf=actor.label)
    authorization = authorize(thread=thread, now=now, actor=system, entrance=Entrance.WITHDRAWAL)
    record_decisions(authorization, run=run, drafts=drafts)
    queue_resume(thread=thread, run=run, now=now, started_by=WITHDRAWAL.label)
    request.refresh_from_db()
    return request
