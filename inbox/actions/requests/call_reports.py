"""Reports of external programs about the calls that they have executed."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.requests.call_permits import find_call, pulled_call
from inbox.actions.requests.due_calls import (
    conclude,
    mark_doubtful,
    record_call,
    release_call,
    settle_due,
)
from inbox.actions.runs.pulled_runs import append_result, calls_of, execution_of, request_of
from inbox.actions.runs.tool_calls import settle_calls
from inbox.actions.webhooks import outbox
from inbox.models import AgentRequest, Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.queries.requests.programs import require_program
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.people.access import Actor, agent_actor
from inbox.rules.requests.execution import ReportPlan, call_state, plan_report
from inbox.rules.requests.request_states import CallState, ReportedOutcome
from inbox.rules.runs.states import ToolCallState
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import EventType

#: Of a result in the events of the thread; a report with a longer one is refused.
MAX_RESULT_CHARACTERS = 1024 * 1024


@dataclass(frozen=True)
class Report:
    """The words of a program about an attempt at a call."""

    attempt: str
    outcome: ReportedOutcome
    result: Any = None  #: JSON
    error: str = ""
    executed_args: Any = None  #: None if as approved

    @property
    def text(self) -> str:
        """The result as it is stored and sent to AG-UI clients."""
        if self.outcome is not ReportedOutcome.SUCCEEDED and self.error:
            return self.error
        if isinstance(self.result, str):
            return self.result
        return "" if self.result is None else json.dumps(self.result, ensure_ascii=False)


@dataclass(frozen=True)
class ReportedCall:
    state: CallState
    replayed: bool = False
    late: bool = False  #: stored beside the question about the call, and decides nothing


def report_call(*, request_id: UUID, item_id: str, report: Report, actor: Actor) -> ReportedCall:
    """
    Store the outcome of a call that the program has started.

    A `once` call with an unknown outcome becomes in doubt, and a person is asked; an idempotent one
    may be started again. A report about a call in doubt is stored beside the question.

    Safe to replay: the same report gets the same answer.

    Raises:
        Unauthenticated, NotFound, Forbidden, TooLarge.
        NotStarted, CallStarted, AlreadyReported.
    """
    if len(report.text) > MAX_RESULT_CHARACTERS:
        raise errors.TooLarge(
            TranslatableMessage("A result has up to {most} characters.", most=MAX_RESULT_CHARACTERS)
        )
    result = _report(request_id, item_id, report, actor)
    if isinstance(result, errors.RequestRejected):
        raise result
    return result


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _report(
    request_id: UUID, item_id: str, report: Report, actor: Actor
) -> ReportedCall | errors.RequestRejected:
    """Return a rejection instead of raising it, because ended leases are stored with it."""
    thread, now = lock_thread(request=request_id, with_team=True)
    require_program(actor, thread, now=now)
    request = request_of(thread.pk)
    run = settle_due(thread=thread, request=request, now=now)
    call = find_call(thread, item_id)
    AgentRequest.objects.filter(pk=request.pk).update(heard_at=now)
    try:
        return _report_locked(thread, run, request, call, report, now)
    except errors.RequestRejected as rejection:
        return rejection


def _report_locked(
    thread: Thread,
    run: Run | None,
    request: AgentRequest,
    call: ToolCall | None,
    report: Report,
    now: datetime,
) -> ReportedCall:
    if call is None:
        raise errors.NotStarted(TranslatableMessage("This item is a question, and not a call."))
    plan = plan_report(
        pulled_call(call),
        effect=execution_of(request, call.tool_call_id).effect,
        attempt=report.attempt,
        outcome=report.outcome,
        is_same=_is_same(call, report),
    )
    if plan is ReportPlan.REPEAT:
        return ReportedCall(_state(call), replayed=True)
    _record_deviation(thread, run, request, call, report, now)
    if plan is ReportPlan.LATE or run is None:
        return _store_late(thread, run, call, report, now)
    _apply(plan, thread, run, request, call, report, now)
    conclude(thread=thread, run=run, request=request, calls=calls_of(thread), now=now)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return ReportedCall(_state(call))


def _apply(
    plan: ReportPlan,
    thread: Thread,
    run: Run,
    request: AgentRequest,
    call: ToolCall,
    report: Report,
    now: datetime,
) -> None:
    if plan is ReportPlan.SETTLE:
        settle_calls(thread=thread, run=run, results={call.tool_call_id: report.text}, now=now)
        append_result(thread=thread, run=run, call=call, text=report.text, now=now)
        call.refresh_from_db()
        call.lease_until = call.start_before = None
    elif plan is ReportPlan.DOUBT:
        mark_doubtful(thread=thread, run=run, request=request, call=call, now=now)
    else:
        release_call(request=request, call=call, now=now)
    call.outcome = report.outcome
    call.executed_args = _deviating(call, report)
    call.save(update_fields=["state", "outcome", "executed_args", "lease_until", "start_before"])


def _store_late(
    thread: Thread, run: Run | None, call: ToolCall, report: Report, now: datetime
) -> ReportedCall:
    """Store a report about a call that a person is asked about; the first one counts."""
    if call.late_report is None:
        call.late_report = json.dumps(
            {"outcome": report.outcome, "result": report.text, "at": now.isoformat()}
        )
        call.executed_args = _deviating(call, report)
        call.save(update_fields=["late_report", "executed_args"])
        record_call(
            "tool.reported_late",
            agent_actor(thread.agent_id),
            now,
            thread=thread,
            run=run,
            call=call,
            outcome=report.outcome,
            result=audit_trail.inline_text(report.text),
        )
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return ReportedCall(_state(call), late=True)


def _record_deviation(
    thread: Thread,
    run: Run | None,
    request: AgentRequest,
    call: ToolCall,
    report: Report,
    now: datetime,
) -> None:
    """Audit and tell webhooks that a program executed other arguments than the approved ones."""
    executed = _deviating(call, report)
    if executed is None or executed == call.executed_args:
        return
    audit_trail.record(
        "tool.deviated",
        agent_actor(thread.agent_id),
        now,
        thread=thread,
        run=run,
        tool_call=call,
        digests={"approved": digest(call.approved_args), "executed": digest(executed)},
        tool=call.name,
        tool_call_id=call.tool_call_id,
        args=audit_trail.inline_text(executed),
    )
    outbox.call_reported(
        EventType.CALL_DEVIATED, thread=thread, request=request, call=call, now=now
    )


def _is_same(call: ToolCall, report: Report) -> bool:
    has_same_result = call.outcome == report.outcome and call.result == report.text
    return has_same_result and call.executed_args == _deviating(call, report)


def _deviating(call: ToolCall, report: Report) -> str | None:
    """Return the executed arguments as canonical JSON text, None if they are the approved ones."""
    if report.executed_args is None:
        return None
    try:
        text = canonical_json(report.executed_args)
    except ValueError as error:
        raise errors.InvalidValue(
            TranslatableMessage("The arguments cannot be stored as JSON: {error}.", error=error)
        ) from error
    return None if text == call.approved_args else text


def _state(call: ToolCall) -> CallState:
    state = call_state(ToolCallState(call.state), call.outcome, is_approved=True)
    if state is None:
        raise ValueError("An approved call has a state.")
    return state
