"""Starting approved calls by external programs: each approval is handed out once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.requests.due_calls import conclude, lapse_call, settle_due
from inbox.actions.runs.pulled_runs import (
    append_result,
    calls_of,
    execution_of,
    request_of,
    take_pulled_run,
)
from inbox.actions.runs.run_termination import fail_run
from inbox.actions.runs.tool_calls import CallAttempt, settle_calls, start_calls
from inbox.models import AgentRequest, Interrupt, Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_current
from inbox.queries.requests.programs import require_program
from inbox.queries.runs.latest_run import latest_run
from inbox.queries.runs.run_lineage import lineage_of
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.people.access import SWEEPER, Actor, Permission
from inbox.rules.requests.execution import (
    NOT_APPROVED,
    Execution,
    PulledCall,
    StartPlan,
    lease_end,
    plan_start,
)
from inbox.rules.requests.request_states import ReportedOutcome
from inbox.rules.runs.states import RunStatus, ToolCallState
from inbox.rules.text.messages import TranslatableMessage

_PERMIT_COLUMNS = (
    "attempt",
    "outcome",
    "executed_args",
    "start_before",
    "late_report",
    "lease_until",
)
_HANDED_OVER = "Handed over: the program does not report the outcome."


@dataclass(frozen=True)
class StartedCall:
    """A call that a program may execute now; `replayed` if the attempt had started it before."""

    call: ToolCall
    replayed: bool

    @property
    def args(self) -> Any:
        return self.call.approved


def start_call(
    *,
    request_id: UUID,
    item_id: str,
    attempt: str,
    args_digest: str,
    actor: Actor,
    lease_seconds: int | None = None,
) -> StartedCall:
    """
    Take the approval of one call, and start its lease.

    The same attempt gets the same answer again, and a longer lease. The checks are those of a
    worker: the signed decisions, their age, the arguments and the policy in force.

    Raises:
        Unauthenticated, NotFound, Forbidden.
        CallStarted, NotApproved, OtherArguments, ApprovalEnded, CallInDoubt, AlreadyReported.
    """
    result = _start(request_id, item_id, attempt, args_digest, actor, lease_seconds)
    if isinstance(result, errors.RequestRejected):
        raise result
    return result


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _start(
    request_id: UUID,
    item_id: str,
    attempt: str,
    args_digest: str,
    actor: Actor,
    lease_seconds: int | None,
) -> StartedCall | errors.RequestRejected:
    """Return a rejection instead of raising it, because lapsed calls are stored with it."""
    thread, now = lock_thread(request=request_id, with_team=True)
    require_program(actor, thread, now=now)
    request = request_of(thread.pk)
    run = settle_due(thread=thread, request=request, now=now)
    call = find_call(thread, item_id)
    result: StartedCall | errors.RequestRejected
    try:
        result = _start_locked(
            thread, run, request, call, attempt, args_digest, lease_seconds, now=now
        )
    except errors.RequestRejected as rejection:
        result = rejection
    AgentRequest.objects.filter(pk=request.pk).update(heard_at=now)
    return result


def _start_locked(
    thread: Thread,
    run: Run | None,
    request: AgentRequest,
    call: ToolCall | None,
    attempt: str,
    args_digest: str,
    lease_seconds: int | None,
    *,
    now: datetime,
) -> StartedCall:
    if call is None:
        raise errors.NotApproved(NOT_APPROVED)
    if run is None:
        _check_none_in_doubt(thread, call)
    plan = plan_start(
        pulled_call(call),
        attempt=attempt,
        args_digest=args_digest,
        is_active=run is not None,
        now=now,
    )
    execution = execution_of(request, call.tool_call_id)
    seconds = lease_seconds or execution.lease_seconds
    if plan is StartPlan.REPEAT or run is None:
        if call.state == ToolCallState.STARTED and run is not None:
            _prolong(thread, run, call, seconds, now)
        return StartedCall(call, replayed=True)
    _check_and_start(thread, run, request, call, execution, now)
    call.refresh_from_db()
    call.attempt, call.outcome, call.executed_args = attempt, "", None
    call.start_before = call.late_report = None
    call.lease_until = lease_end(started_at=now, now=now, seconds=seconds)
    take_pulled_run(thread=thread, run=run, lease_until=call.lease_until, now=now)
    call.save(update_fields=_PERMIT_COLUMNS)
    if not execution.report:
        _hand_over(thread, run, call, now)
    conclude(thread=thread, run=run, request=request, calls=calls_of(thread), now=now)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return StartedCall(call, replayed=False)


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def revoke_call(*, request_id: UUID, item_id: str, actor: Actor, reason: str = "") -> ToolCall:
    """
    Take back the approval of a call that has not started; only administrators.

    Safe to replay.

    Raises:
        NotFound, Forbidden.
        CallStarted: the program has the approval.
        NotApproved: the item is no approved call.
    """
    thread, now = lock_thread(request=request_id, with_team=True)
    require_current(actor, thread.team_id, Permission.ADMIN, thread.agent_id, now=now)
    request = request_of(thread.pk)
    run = settle_due(thread=thread, request=request, now=now)
    call = find_call(thread, item_id)
    if call is not None and call.state == ToolCallState.LAPSED:
        return call
    if call is not None and call.state in _BEGUN:
        raise errors.CallStarted(_BEGUN_TEXT)
    if call is None or run is None or call.state != ToolCallState.PROPOSED:
        raise errors.NotApproved(NOT_APPROVED)
    detail = {"revoked": True, **({"reason": reason} if reason else {})}
    lapse_call(thread=thread, run=run, call=call, actor=actor, now=now, **detail)
    call.save(update_fields=["state", "start_before"])
    conclude(thread=thread, run=run, request=request, calls=calls_of(thread), now=now)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return call


def find_call(thread: Thread, item_id: str) -> ToolCall | None:
    """Return the call of an item, None for a question. Raises NotFound without such an item."""
    call = ToolCall.objects.filter(thread=thread, tool_call_id=item_id).first()
    if call is None and not Interrupt.objects.filter(thread=thread, interrupt_id=item_id).exists():
        raise errors.NotFound()
    return call


def pulled_call(call: ToolCall) -> PulledCall:
    """Return what the rules read of a call."""
    return PulledCall(
        state=ToolCallState(call.state),
        outcome=call.outcome,
        attempt=call.attempt,
        args_digest=digest(call.approved_args),
        lease_until=call.lease_until,
        start_before=call.start_before,
    )


def _check_and_start(
    thread: Thread,
    run: Run,
    request: AgentRequest,
    call: ToolCall,
    execution: Execution,
    now: datetime,
) -> None:
    """Make the checks of a worker, and mark the call as started. Raises RequestRejected."""
    if run.status == RunStatus.QUEUED:
        try:
            lineage_of(run).check(thread, now, endpoint="")
        except errors.ApprovalLapsed as failure:
            raise _lapse(thread, run, request, now) from failure
        except errors.RunFailure as failure:
            fail_run(thread=thread, run=run, failure=failure, now=now)
            raise errors.NotApproved(errors.PUBLIC_MESSAGES[failure.code]) from failure
    attempt = CallAttempt(call.tool_call_id, call.approved_args, execution.effect.value)
    (result,) = start_calls(thread=thread, run=run, attempts=[attempt], now=now)
    if isinstance(result, errors.ApprovalLapsed):
        raise _lapse(thread, run, request, now) from result
    if not isinstance(result, ToolCall):
        raise errors.NotApproved(str(result)) from result


def _lapse(
    thread: Thread, run: Run, request: AgentRequest, now: datetime
) -> errors.RequestRejected:
    """Lapse all waiting calls: the decisions on them are older than the team allows."""
    calls = calls_of(thread)
    for call in calls:
        if call.state == ToolCallState.PROPOSED:
            lapse_call(thread=thread, run=run, call=call, actor=SWEEPER, now=now)
            call.save(update_fields=["state", "start_before"])
    conclude(thread=thread, run=run, request=request, calls=calls, now=now)
    return errors.ApprovalEnded(
        TranslatableMessage("The approval is older than the team allows, so it has lapsed.")
    )


def _hand_over(thread: Thread, run: Run, call: ToolCall, now: datetime) -> None:
    settle_calls(thread=thread, run=run, results={call.tool_call_id: _HANDED_OVER}, now=now)
    call.refresh_from_db()
    call.outcome, call.lease_until = ReportedOutcome.HANDED_OVER, None
    call.save(update_fields=["outcome", "lease_until"])
    append_result(thread=thread, run=run, call=call, text=_HANDED_OVER, now=now)


def _prolong(thread: Thread, run: Run, call: ToolCall, seconds: int, now: datetime) -> None:
    started_at = call.started_at or now
    until = lease_end(started_at=started_at, now=now, seconds=seconds)
    call.lease_until = max(until, call.lease_until or until)
    call.save(update_fields=["lease_until"])
    take_pulled_run(thread=thread, run=run, lease_until=call.lease_until, now=now)


def _check_none_in_doubt(thread: Thread, call: ToolCall) -> None:
    """Raise CallInDoubt for a waiting call while a person is asked about another one."""
    calls = ToolCall.objects.filter(thread=thread, state=ToolCallState.IN_DOUBT)
    run = latest_run(thread)
    is_asked = run is not None and run.status == RunStatus.INTERRUPTED
    if is_asked and call.state == ToolCallState.PROPOSED and calls.exists():
        raise errors.CallInDoubt(_OTHER_IN_DOUBT)


_BEGUN = (ToolCallState.STARTED, ToolCallState.SETTLED, ToolCallState.IN_DOUBT)
_BEGUN_TEXT = TranslatableMessage("The call has started, so its approval cannot be revoked.")
_OTHER_IN_DOUBT = TranslatableMessage(
    "Another call of this request is in doubt. This one can start after a person has answered."
)
