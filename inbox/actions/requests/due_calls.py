"""Calls of external programs whose lease or whose time to start has ended."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.runs.pulled_runs import (
    calls_of,
    end_if_settled,
    execution_of,
    request_of,
)
from inbox.actions.runs.recovery import doubt_interrupts, interrupt_run
from inbox.actions.runs.tool_calls import save_calls
from inbox.actions.webhooks import outbox
from inbox.models import AgentRequest, Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.models.moves import move_row
from inbox.queries.runs.latest_run import latest_run
from inbox.rules.people.access import SWEEPER, Actor
from inbox.rules.requests.request_states import CallEffect
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus, ToolCallState
from inbox.rules.webhooks.delivery_rules import EventType

_COLUMNS = ("state", "lease_until", "start_before")


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def settle_due_calls(*, thread_id: UUID) -> None:
    """
    Handle the calls of a thread whose lease or whose time to start has ended. Safe to replay.

    A `once` call becomes in doubt, and an idempotent one may be started again. A call that was not
    started in time lapses.
    """
    thread, now = lock_thread(thread_id, with_team=True)
    settle_due(thread=thread, request=request_of(thread_id), now=now)


def settle_due(*, thread: Thread, request: AgentRequest, now: datetime) -> Run | None:
    """Do the same for a thread that is locked; return its run if that is still active."""
    run, calls = active_run(thread), calls_of(thread)
    due = [call for call in calls if _is_due(call, now)]
    if not due:
        return run
    for call in due:
        if call.state == ToolCallState.PROPOSED:
            lapse_call(thread=thread, run=run, call=call, actor=SWEEPER, now=now)
        elif run is None:  # it was cancelled while the call was under way
            call.lease_until = None
        elif call.effect == CallEffect.ONCE:
            mark_doubtful(thread=thread, run=run, request=request, call=call, now=now)
        else:
            release_call(request=request, call=call, now=now)
    save_calls(due, _COLUMNS)
    if run is not None:
        conclude(thread=thread, run=run, request=request, calls=calls, now=now)
    return active_run(thread)


def conclude(
    *, thread: Thread, run: Run, request: AgentRequest, calls: Sequence[ToolCall], now: datetime
) -> None:
    """
    Ask a person about calls in doubt, or end the run if nothing is left to do.

    Nobody is asked while another call of the request is under way: the run would end below it.
    """
    states = [call.state for call in calls]
    doubtful = [call for call in calls if call.state == ToolCallState.IN_DOUBT]
    if ToolCallState.STARTED in states:
        return
    if not doubtful:
        end_if_settled(thread=thread, run=run, request=request, calls=calls, now=now)
        return
    message = "The program did not report the outcome of {tool}. Did the call take effect?"
    before = run.status
    interrupt_run(thread, run, now, interrupts=doubt_interrupts(run, doubtful, message))
    audit_trail.record(
        "run.interrupted",
        SWEEPER,
        now,
        thread=thread,
        run=run,
        state=(before, RunStatus.INTERRUPTED),
        code="IN_DOUBT",
    )


def active_run(thread: Thread) -> Run | None:
    """Return the thread's run if it is pulled and has not ended."""
    run = latest_run(thread)
    return run if run and run.pulled and run.status in ACTIVE_RUN_STATUSES else None


def mark_doubtful(
    *, thread: Thread, run: Run, request: AgentRequest, call: ToolCall, now: datetime
) -> None:
    """Mark a started call as in doubt; the caller saves it."""
    move_row(call, ToolCallState.IN_DOUBT)
    call.lease_until = None
    record_call("tool.in_doubt", SWEEPER, now, thread=thread, run=run, call=call)
    outbox.call_reported(
        EventType.CALL_IN_DOUBT, thread=thread, request=request, call=call, now=now
    )


def release_call(*, request: AgentRequest, call: ToolCall, now: datetime) -> None:
    """Let a started idempotent call be started again; the caller saves it."""
    move_row(call, ToolCallState.PROPOSED)
    call.lease_until = None
    valid_seconds = execution_of(request, call.tool_call_id).valid_seconds
    call.start_before = now + timedelta(seconds=valid_seconds)


def lapse_call(
    *, thread: Thread, run: Run | None, call: ToolCall, actor: Actor, now: datetime, **detail: Any
) -> None:
    """Mark an approved call as lapsed; the caller saves it."""
    move_row(call, ToolCallState.LAPSED)
    call.start_before = None
    record_call("tool.lapsed", actor, now, thread=thread, run=run, call=call, **detail)


def record_call(
    action: str,
    actor: Actor,
    now: datetime,
    *,
    thread: Thread,
    run: Run | None,
    call: ToolCall,
    **detail: Any,
) -> None:
    """Audit what happened to a call that a program executes."""
    audit_trail.record(
        action,
        actor,
        now,
        thread=thread,
        run=run,
        tool_call=call,
        tool=call.name,
        tool_call_id=call.tool_call_id,
        attempt=call.attempt or None,
        **detail,
    )


def _is_due(call: ToolCall, now: datetime) -> bool:
    if call.state == ToolCallState.STARTED:
        return call.lease_until is not None and call.lease_until <= now
    is_waiting = call.state == ToolCallState.PROPOSED
    return is_waiting and call.start_before is not None and call.start_before <= now
