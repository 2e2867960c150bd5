"""Writes of a worker that drives a run: each checks the fence and renews the lease."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from ag_ui.core import Interrupt as WireInterrupt
from ag_ui.core import RunErrorEvent
from django.db import transaction
from django.db.models import QuerySet

from agents.agui import strict_json
from inbox import wakeups
from inbox.actions.agents.pauses import count_refused_request
from inbox.actions.audit import audit_trail
from inbox.actions.conflicts import retry_on_deadlock
from inbox.actions.limits.limit_checks import check_stored_interrupts, may_run_more
from inbox.actions.policies.policy_decisions import decide_by_policy
from inbox.actions.runs import claim, event_log, tool_calls
from inbox.actions.runs.claim import append_run_started, take_lease
from inbox.actions.runs.create_interrupts import build_interrupts, open_interrupts
from inbox.actions.runs.tool_calls import CallAttempt, ProposedCall
from inbox.actions.webhooks import outbox
from inbox.models import Interrupt, Memory, Run, Thread
from inbox.models.locks import lock_thread
from inbox.models.moves import Move
from inbox.models.statements import Params, Select, Update, save_fields
from inbox.platform.monitoring.traces import traces
from inbox.queries.runs.interrupt_states import wire_interrupt
from inbox.queries.runs.queued_runs import is_resume
from inbox.rules import errors
from inbox.rules.people.access import agent_actor
from inbox.rules.runs.states import InterruptStatus, RunStatus

_RUN_TO_CLAIM = Select(
    lambda params: Run.objects.select_related("thread__agent", "thread__team", "resumes").filter(
        pk=params.pk
    )
)


def _leased_run(params: Params) -> QuerySet[Run]:
    return Run.objects.filter(pk=params.pk, fence=params.fence, status=RunStatus.RUNNING)


_LEASED_RUN = Update(_leased_run)
_LEASED_RUN_MOVE = Move(_leased_run)


@dataclass(frozen=True)
class RunLease:
    """A worker's claim of a run; the fence tells it from later claims."""

    run_id: UUID
    thread_id: UUID
    fence: int


@dataclass
class EventBatch:
    """Events of a run that are committed together, with the tool calls they contain."""

    frames: list[event_log.Frame] = field(default_factory=list)
    proposed: list[ProposedCall] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)  #: tool call id -> content


@dataclass(frozen=True)
class RunResult:
    """The end of a run: its status, and what is stored with it as JSON texts."""

    status: RunStatus
    messages: str
    state: str
    client_messages: str
    endpoint_digest: str = ""  #: of a remote agent's address, "" for one of this installation
    checkpoint: str = "null"
    memory: str | None = None  #: replaces the thread's memory unless it is None
    error_code: str = ""
    interrupts: Sequence[WireInterrupt] = ()
    may_leave_doubt: bool = False  #: a `once` call was started
    has_history: bool = True  #: the thread may have interrupts of earlier runs
    mismatch: errors.ArgumentsDiffer | None = None  #: a repeated call with other arguments


@transaction.atomic(durable=True)
def claim_run(
    *, run_id: UUID, admit: Callable[[Run], bool] = lambda _run: True
) -> tuple[Run, RunLease] | None:
    """
    Claim a queued run for this worker.

    Returns None if another worker has claimed it, if its agent is paused, if `admit` leaves it in
    the queue, or if its team has as many running runs as it may have.
    """
    try:
        thread, now = lock_thread(runs=run_id)
    except errors.NotFound:
        return None
    run = _RUN_TO_CLAIM.first(pk=run_id)
    if run is None or run.status != RunStatus.QUEUED or run.pulled:
        return None
    if run.thread.agent.paused_at is not None and not is_resume(run):
        return None
    if not admit(run) or not may_run_more(run.team_id):
        return None
    take_lease(run, now)
    save_fields(run, "status", "fence", "attempt", "lease_until", "started_at")
    if run.attempt == 1:
        append_run_started(thread=thread, run=run, now=now)
    return run, RunLease(run.pk, thread.pk, run.fence)


def lease_of(run: Run) -> RunLease | None:
    """Return the lease of a run that was just claimed, or None if it is queued."""
    if run.status != RunStatus.RUNNING:
        return None
    return RunLease(run.pk, run.thread_id, run.fence)


@retry_on_deadlock
@transaction.atomic(durable=True)
def renew_lease(*, lease: RunLease) -> None:
    """
    Extend the lease while the agent yields no events.

    Raises:
        LeaseLost: the run was ended or taken over.
    """
    lock_and_renew(lease)


@retry_on_deadlock
@transaction.atomic(durable=True)
def append_events(*, lease: RunLease, batch: EventBatch) -> None:
    """
    Commit a batch of events and the tool calls they contain.

    Raises:
        LeaseLost: the run was ended or taken over; nothing was written.
    """
    thread, now = lock_and_renew(lease)
    _write(thread, lease, batch, now)


@retry_on_deadlock
@transaction.atomic(durable=True)
def start_tool_calls(
    *, lease: RunLease, batch: EventBatch, attempts: Sequence[CallAttempt]
) -> list[tool_calls.StartResult]:
    """
    Commit that tools are about to be called, after the events that precede the calls.

    Returns a row for each call, or the reason why it may not start; a settled row has its result.

    Raises:
        LeaseLost.
    """
    thread, now = lock_and_renew(lease, with_team=True)
    _write(thread, lease, batch, now)
    return tool_calls.start_calls(
        thread=thread, run=Run(pk=lease.run_id), attempts=attempts, now=now
    )


@retry_on_deadlock
@transaction.atomic(durable=True)
def settle_tool_calls(
    *, lease: RunLease, batch: EventBatch, results: Sequence[tuple[str, str]]
) -> None:
    """
    Commit results of started calls, as (tool call id, content). Safe to replay.

    Raises:
        LeaseLost.
    """
    thread, now = lock_and_renew(lease)
    _write(thread, lease, batch, now)
    tool_calls.settle_calls(thread=thread, run=Run(pk=lease.run_id), results=dict(results), now=now)


@retry_on_deadlock
@transaction.atomic(durable=True)
def reset_tool_calls(*, lease: RunLease, batch: EventBatch, ids: Sequence[str]) -> None:
    """
    Commit that started calls have paused for an answer, and start again with it.

    Raises:
        LeaseLost.
    """
    thread, now = lock_and_renew(lease)
    _write(thread, lease, batch, now)
    tool_calls.reset_calls(thread=thread, ids=ids)


def finish_run(*, lease: RunLease, batch: EventBatch, result: RunResult) -> None:
    """
    Commit the end of a run: the last events, status, conversation, checkpoint, memory, interrupts
    and audit in one transaction, so that a client that sees RUN_FINISHED can answer immediately.

    Raises:
        LeaseLost: the run was ended or taken over; nothing was written.
        TooManyRequests: the team or the agent may not have so many open requests; nothing was
            written. An agent that goes on beyond its own limit is paused.
    """
    try:
        _finish_run(lease, batch, result)
    except errors.LimitReached as refusal:
        agent_id = Thread.objects.values_list("agent", flat=True).get(pk=lease.thread_id)
        count_refused_request(agent_id, refusal.detail.get("limit"))
        raise errors.TooManyRequests(str(refusal)) from refusal


@retry_on_deadlock
@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _finish_run(lease: RunLease, batch: EventBatch, result: RunResult) -> None:
    thread, now = lock_thread(lease.thread_id, with_team=bool(result.interrupts))
    _end_leased_run(
        lease, result.status, now, checkpoint=result.checkpoint, error_code=result.error_code
    )
    run = Run(pk=lease.run_id, thread=thread)
    store_end(thread=thread, run=run, batch=batch, result=result, now=now)


def store_end(
    *, thread: Thread, run: Run, batch: EventBatch, result: RunResult, now: datetime
) -> None:
    """
    Store everything that belongs to the end of a run but its own row.

    The caller holds the thread's lock, and stores the run's new status in the same transaction.
    The rules of the policies answer interrupts here, which may resume the run at once.

    Raises:
        LimitReached: more requests stay open than the team or the agent may have.
    """
    thread.messages, thread.state = result.messages, result.state
    thread.client_messages = result.client_messages
    changed = ["messages", "state", "client_messages"]
    proposed = tool_calls.store_proposals(thread=thread, run=run, calls=batch.proposed, now=now)
    tool_calls.settle_calls(thread=thread, run=run, results=batch.results, now=now)
    rows = build_interrupts(
        thread=thread,
        run=run,
        interrupts=result.interrupts,
        proposed=proposed,
        endpoint=result.endpoint_digest,
        now=now,
        has_history=result.has_history,
    )
    frames = _with_digests(batch.frames, rows) if rows else batch.frames
    event_log.append_frames(thread=thread, run=run, frames=frames, now=now, changed=changed)
    if result.memory is not None:
        Memory.objects.update_or_create(thread=thread, defaults={"body": result.memory})
    if result.may_leave_doubt:
        tool_calls.mark_in_doubt(thread)
    outbox.run_ended(thread=thread, run_id=run.pk, status=result.status, now=now)
    if result.mismatch is not None:
        tool_calls.record_argument_mismatch(
            thread=thread, run=run, mismatch=result.mismatch, now=now
        )
    if rows:
        with traces.span("open requests", attributes={"signoff.requests": len(rows)}):
            open_interrupts(thread=thread, run=run, rows=rows, now=now)
    _record_end(thread, run, result.status, result.error_code, now)
    decide_by_policy(thread=thread, rows=rows, now=now)
    # Last: the lock of the team comes after those of grants.
    if new := sum(row.status == InterruptStatus.OPEN for row in rows):
        check_stored_interrupts(team_id=thread.team_id, agent_id=thread.agent_id, number=new)


@retry_on_deadlock
@transaction.atomic(durable=True)
def fail_unstarted_run(*, lease: RunLease, failure: errors.RunFailure | None = None) -> RunStatus:
    """
    Fail a run before its agent is called; the conversation stays as it was.

    `failure` is None if the run's rows cannot be read.

    Raises:
        LeaseLost.
    """
    thread, now = lock_thread(lease.thread_id)
    code = failure.code if failure else errors.ProtocolBroken.code
    message = errors.PUBLIC_MESSAGES[code] if failure else "The run cannot be read."
    _end_leased_run(lease, RunStatus.FAILED, now, error_code=code)
    error = RunErrorEvent(message=message, code=code)
    run = _write(thread, lease, EventBatch([event_log.encode_frame(error)]), now)
    tool_calls.mark_in_doubt(thread)
    if isinstance(failure, errors.ApprovalLapsed):
        tool_calls.mark_lapsed(failure.calls)
    outbox.run_ended(thread=thread, run_id=run.pk, status=RunStatus.FAILED, now=now)
    _record_end(thread, run, RunStatus.FAILED, code, now)
    return RunStatus.FAILED


def _record_end(thread: Thread, run: Run, status: RunStatus, code: str, now: datetime) -> None:
    audit_trail.record(
        f"run.{status}",
        agent_actor(thread.agent_id),
        now,
        thread=thread,
        run=run,
        state=(RunStatus.RUNNING, status),
        code=code,
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)


def lock_and_renew(lease: RunLease, *, with_team: bool = False) -> tuple[Thread, datetime]:
    """Lock the thread, check the fence, and renew the lease; raises LeaseLost."""
    thread, now = lock_thread(lease.thread_id, with_team=with_team)
    if not _LEASED_RUN.execute(
        {"lease_until": now + claim.LEASE}, pk=lease.run_id, fence=lease.fence
    ):
        raise errors.LeaseLost(str(lease.run_id))
    return thread, now


def _end_leased_run(lease: RunLease, status: RunStatus, now: datetime, **columns: Any) -> None:
    """End the run with this status; raise LeaseLost if this worker has lost the lease."""
    columns |= {"lease_until": None, "finished_at": now}
    if not _LEASED_RUN_MOVE.execute(status, columns, pk=lease.run_id, fence=lease.fence):
        raise errors.LeaseLost(str(lease.run_id))


def _with_digests(
    frames: Sequence[event_log.Frame], rows: Sequence[Interrupt]
) -> list[event_log.Frame]:
    """Return the frames, with the interrupts of the last one in the form that clients receive."""
    *preceding, last = frames
    finished = json.loads(last.body)
    finished["outcome"]["interrupts"] = [wire_interrupt(row) for row in rows]
    return [*preceding, last._replace(body=strict_json.dumps(finished))]


def _write(thread: Thread, lease: RunLease, batch: EventBatch, now: datetime) -> Run:
    run = Run(pk=lease.run_id, thread=thread)
    event_log.append_frames(thread=thread, run=run, frames=batch.frames, now=now)
    tool_calls.store_proposals(thread=thread, run=run, calls=batch.proposed, now=now)
    tool_calls.settle_calls(thread=thread, run=run, results=batch.results, now=now)
    return run
