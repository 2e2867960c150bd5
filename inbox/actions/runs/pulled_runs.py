"""
Runs of external agents, which the program executes itself: their begin, and their end.

The caller of every function holds the thread's lock. A pulled run stays queued until the program
starts its first call, and ends when nothing of the request is left to do.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from ag_ui.core import (
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedSuccessOutcome,
    ToolCallResultEvent,
)

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.requests.callbacks import queue_callback
from inbox.actions.runs import event_log
from inbox.actions.runs.claim import append_run_started
from inbox.actions.runs.run_termination import close_run
from inbox.actions.runs.tool_calls import save_calls
from inbox.actions.webhooks import outbox
from inbox.models import AgentRequest, Decision, Run, Thread, ToolCall
from inbox.models.moves import move_row
from inbox.queries.requests.request_items import load_items
from inbox.rules.people.access import ENGINE
from inbox.rules.requests.execution import Execution
from inbox.rules.requests.request_outcomes import last_start, status_of_set
from inbox.rules.requests.request_states import CallEffect, RequestStatus
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, Reason, RunStatus, ToolCallState

_NOT_RUN_TEXTS = {
    ToolCallState.NOT_RUN: "Not run: it was not approved.",
    ToolCallState.LAPSED: "Not run: the approval has lapsed.",
}


def begin_pulled_run(*, thread: Thread, run: Run, now: datetime) -> None:
    """
    Open the approved calls of a completed set for the program, or end the run without any.

    Also after a doubt was answered: a call that did not happen may be started once more.
    """
    request = request_of(thread.pk)
    was_open = request.status == RequestStatus.OPEN
    calls = calls_of(thread)
    waiting = [call for call in calls if call.state == ToolCallState.PROPOSED]
    if request.withdrawn_at is not None:
        stop_calls(waiting)
    else:
        _open_calls(thread, request, waiting, now)
    if not end_if_settled(thread=thread, run=run, request=request, calls=calls, now=now):
        _set_status(request, RequestStatus.DECIDED)
    if was_open:
        outbox.request_decided(thread=thread, request=request, now=now)
        queue_callback(thread=thread, request=request, now=now)


def reopen_request(thread: Thread) -> None:
    """Mark the request as open, because its failed run is retried and asks again."""
    _set_status(request_of(thread.pk), RequestStatus.OPEN)


def stop_pulled_run(*, thread: Thread) -> None:
    """Stop the waiting calls of a pulled run that was cancelled, and mark its request."""
    stop_calls(call for call in calls_of(thread) if call.state == ToolCallState.PROPOSED)
    _set_status(request_of(thread.pk), RequestStatus.WITHDRAWN)


def take_pulled_run(*, thread: Thread, run: Run, lease_until: datetime, now: datetime) -> None:
    """Mark a pulled run as running while one of its calls is leased."""
    if run.status == RunStatus.QUEUED:
        move_row(run, RunStatus.RUNNING)
        run.fence += 1
        run.started_at = now
        append_run_started(thread=thread, run=run, now=now)
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    run.lease_until = max(lease_until, run.lease_until or lease_until)
    run.save(update_fields=["status", "fence", "started_at", "lease_until"])


def append_result(*, thread: Thread, run: Run, call: ToolCall, text: str, now: datetime) -> None:
    """Append the event with the result of a call."""
    event = ToolCallResultEvent(
        message_id=str(uuid4()), tool_call_id=call.tool_call_id, content=text
    )
    frame = event_log.encode_frame(event, from_agent=True)
    event_log.append_frames(thread=thread, run=run, frames=[frame], now=now)


def end_if_settled(
    *,
    thread: Thread,
    run: Run,
    request: AgentRequest,
    calls: Sequence[ToolCall],
    now: datetime,
) -> bool:
    """End an active pulled run if no call waits, is under way or in doubt; return whether it is."""
    items = load_items(thread.pk)
    status = status_of_set(
        [item.status for item in items],
        [ToolCallState(call.state) for call in calls],
        is_withdrawn=request.withdrawn_at is not None,
    )
    if status is RequestStatus.DECIDED or run.status not in ACTIVE_RUN_STATUSES:
        return False
    take_pulled_run(thread=thread, run=run, lease_until=now, now=now)
    for call in calls:
        if text := _NOT_RUN_TEXTS.get(ToolCallState(call.state)):
            append_result(thread=thread, run=run, call=call, text=text, now=now)
    is_withdrawn = status is RequestStatus.WITHDRAWN
    cancelled = RunFinishedCancelledOutcome(type="cancelled")
    terminal = RunFinishedEvent(
        thread_id=thread.external_id,
        run_id=run.external_id,
        outcome=cancelled if is_withdrawn else RunFinishedSuccessOutcome(type="success"),
    )
    close_run(thread=thread, run=run, terminal=terminal, now=now)
    _set_status(request, status)
    audit_trail.record(
        f"run.{run.status}",
        ENGINE,
        now,
        thread=thread,
        run=run,
        state=(RunStatus.RUNNING, run.status),
        request=str(request.pk),
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return True


def request_of(thread_id: UUID) -> AgentRequest:
    """Return the request of a thread of an external agent."""
    return AgentRequest.objects.select_related("session").get(thread=thread_id)


def calls_of(thread: Thread) -> list[ToolCall]:
    return list(ToolCall.objects.filter(thread=thread).order_by("pk"))


def execution_of(request: AgentRequest, item_id: str) -> Execution:
    """Return how the program executes the call of an item."""
    stored = json.loads(request.execution).get(item_id, {})
    return Execution(**{**stored, "effect": CallEffect(stored.get("effect", CallEffect.ONCE))})


def stop_calls(calls: Iterable[ToolCall]) -> None:
    """Mark waiting calls as not to be run."""
    stopped = list(calls)
    for call in stopped:
        move_row(call, ToolCallState.NOT_RUN)
        call.start_before = None
    save_calls(stopped, ["state", "start_before"])


def _open_calls(
    thread: Thread, request: AgentRequest, calls: Sequence[ToolCall], now: datetime
) -> None:
    decided = Decision.objects.filter(
        interrupt__thread=thread, interrupt__reason=Reason.TOOL_CALL, withdrawn_at=None
    )
    decided_at = decided.order_by("-created_at").values_list("created_at", flat=True).first()
    opened = [call for call in calls if call.start_before is None or call.attempt]
    for call in opened:
        call.start_before = last_start(
            now=now,
            valid_seconds=execution_of(request, call.tool_call_id).valid_seconds,
            decided_at=decided_at or now,
            execute_within=timedelta(hours=thread.team.execute_within_hours),
        )
    save_calls(opened, ["start_before"])


def _set_status(request: AgentRequest, status: RequestStatus) -> None:
    if request.status != status:
        move_row(request, status)
        request.save(update_fields=["status"])
