"""What a worker writes while it drives a run: each write carries the fence and renews the lease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from ag_ui.core import Interrupt as WireInterrupt
from django.db import transaction

from agents.agui import wire
from agents.agui.interrupts import parse_expiry
from inbox import notify
from inbox.actions import audit, log
from inbox.actions.locking import lock_thread
from inbox.domain import errors
from inbox.domain.access import ENGINE
from inbox.domain.consent import canonical, view_digest
from inbox.domain.states import InterruptStatus, Reason, RunStatus, ToolCallState
from inbox.models import Decision, Interrupt, Run, Thread, ToolCall
from inbox.models.interrupts import NEVER

LEASE = timedelta(seconds=20)
LONGEST_EXPIRY = timedelta(days=30)


@dataclass(frozen=True)
class Hold:
    """The right to write a run, as long as nobody took it over."""

    run_id: UUID
    thread_id: UUID
    fence: int


@dataclass(frozen=True)
class ProposedCall:
    """A tool call whose arguments are complete; `args` is canonical JSON text of an object."""

    tool_call_id: str
    name: str
    args: str


@dataclass(frozen=True)
class Batch:
    """Some events of a run, with what they say about tool calls."""

    frames: Sequence[log.Frame] = ()
    proposed: Sequence[ProposedCall] = ()
    results: Mapping[str, str] = field(default_factory=dict)  #: tool call id -> content


@dataclass(frozen=True)
class Ending:
    """How a run ended, and what it leaves behind (JSON texts)."""

    status: RunStatus
    messages: str
    state: str
    checkpoint: str = "null"
    error_code: str = ""
    interrupts: Sequence[WireInterrupt] = ()


@transaction.atomic(durable=True)
def claim_run(*, run_id: UUID) -> tuple[Run, Hold] | None:
    """Take a queued run for this worker, or return None if another worker was faster."""
    found = Run.objects.filter(pk=run_id).only("thread_id").first()
    if found is None:
        return None
    thread, now = lock_thread(found.thread_id)
    run = Run.objects.get(pk=run_id)
    if run.status != RunStatus.QUEUED:
        return None
    first_attempt = run.attempt == 0
    run.status = RunStatus.RUNNING
    run.fence += 1
    run.attempt += 1
    run.lease_until = now + LEASE
    run.started_at = run.started_at or now
    run.save(update_fields=["status", "fence", "attempt", "lease_until", "started_at"])
    run.thread = thread
    if first_attempt:
        started = wire.run_started(
            thread.external_id, run.external_id, run.parent_external_id or None
        )
        log.append(thread=thread, run=run, frames=[log.frame(started)], now=now)
    return run, Hold(run.pk, thread.pk, run.fence)


@transaction.atomic(durable=True)
def renew_lease(*, hold: Hold) -> None:
    """
    Say that the worker is alive although the agent is silent.

    Raises:
        LeaseLost: the run was ended or taken over.
    """
    _lock(hold)


@transaction.atomic(durable=True)
def append_events(*, hold: Hold, batch: Batch) -> None:
    """
    Commit a batch of events and what they say about tool calls.

    Raises:
        LeaseLost: the run was ended or taken over; nothing was written.
    """
    thread, now = _lock(hold)
    _write(thread, Run(pk=hold.run_id), batch, now)


@transaction.atomic(durable=True)
def begin_tool_call(*, hold: Hold, tool_call_id: str, args: str, effect: str) -> ToolCall:
    """
    Commit that a tool is about to be called, and return its row; settled rows have the result.

    Raises:
        LeaseLost.
        Refusal: the call is unknown, not approved, in doubt, or `args` are not the approved ones.
    """
    thread, now = _lock(hold)
    call = ToolCall.objects.filter(thread=thread, tool_call_id=tool_call_id).first()
    if call is None:
        raise errors.NotFound(f"Tool call {tool_call_id!r} was never proposed.")
    if call.state == ToolCallState.SETTLED:
        return call
    if call.state in (ToolCallState.NOT_RUN, ToolCallState.IN_DOUBT):
        raise errors.Forbidden(f"Tool call {tool_call_id!r} may not run: it is {call.state}.")
    if call.state == ToolCallState.STARTED and call.effect == "once":
        raise errors.Forbidden(f"Tool call {tool_call_id!r} was started before.")
    _check_approved(call)
    if args != call.approved_args:
        raise errors.Forbidden(f"Tool call {tool_call_id!r}: these are not the approved arguments.")
    call.state, call.effect, call.started_at = ToolCallState.STARTED, effect, now
    call.save(update_fields=["state", "effect", "started_at"])
    return call


@transaction.atomic(durable=True)
def settle_tool_call(*, hold: Hold, tool_call_id: str, result: str) -> None:
    """
    Commit the result of a tool call that was begun. Safe to replay.

    Raises:
        LeaseLost.
    """
    thread, now = _lock(hold)
    _settle(thread, {tool_call_id: result}, now)


@transaction.atomic(durable=True)
def finish_run(*, hold: Hold, batch: Batch, ending: Ending) -> None:
    """
    Commit the last events of a run together with all that its end means.

    Status, conversation, checkpoint, interrupts and audit are one transaction with the terminal
    event: who sees RUN_FINISHED can answer at once.

    Raises:
        LeaseLost: the run was ended or taken over; nothing was written.
    """
    thread, now = _lock(hold)
    run = Run.objects.get(pk=hold.run_id)
    _write(thread, run, batch, now)
    run.status = ending.status
    run.checkpoint = ending.checkpoint
    run.error_code = ending.error_code
    run.lease_until = None
    run.finished_at = now
    run.save(update_fields=["status", "checkpoint", "error_code", "lease_until", "finished_at"])
    thread.messages, thread.state = ending.messages, ending.state
    thread.save(update_fields=["messages", "state"])
    if ending.interrupts:
        ask(thread=thread, run=run, interrupts=ending.interrupts, now=now)
    audit.record(
        action=f"run.{ending.status}",
        actor=ENGINE,
        now=now,
        thread=thread,
        run=run,
        code=ending.error_code,
    )
    notify.ring_reviewers_on_commit(thread.team_id, thread.pk)


def ask(*, thread: Thread, run: Run, interrupts: Sequence[WireInterrupt], now: datetime) -> None:
    """Store the questions of a run that ended interrupted; the caller holds the lock."""
    ids = [item.tool_call_id for item in interrupts if item.tool_call_id]
    calls = {
        call.tool_call_id: call
        for call in ToolCall.objects.filter(thread=thread, tool_call_id__in=ids)
    }
    # An agent that asks about a call it began says that the call paused before its effect.
    paused = [call.pk for call in calls.values() if call.state == ToolCallState.STARTED]
    ToolCall.objects.filter(pk__in=paused).update(state=ToolCallState.PROPOSED)
    Interrupt.objects.bulk_create(
        _interrupt(thread, run, item, calls.get(item.tool_call_id or ""), position, now)
        for position, item in enumerate(interrupts)
    )


def _interrupt(
    thread: Thread,
    run: Run,
    item: WireInterrupt,
    call: ToolCall | None,
    position: int,
    now: datetime,
) -> Interrupt:
    body = canonical(item.model_dump(mode="json", by_alias=True, exclude_none=True))
    expires_at = (
        min(parse_expiry(item.expires_at), now + LONGEST_EXPIRY) if item.expires_at else None
    )
    return Interrupt(
        team_id=thread.team_id,
        thread=thread,
        run=run,
        tool_call=call,
        interrupt_id=item.id,
        position=position,
        reason=item.reason,
        title=_title(item, call),
        body=body,
        view_digest=view_digest(
            {
                "interrupt": body,
                "tool": call.name if call else None,
                "args": call.approved_args if call else None,
            }
        ),
        status=InterruptStatus.OPEN,
        expires_at=expires_at,
        due_at=expires_at or NEVER,
        created_at=now,
    )


def _title(item: WireInterrupt, call: ToolCall | None) -> str:
    text = item.message or (f"Call {call.name}" if call else item.reason)
    return " ".join(text.split())[:300] or item.reason[:300]


def _lock(hold: Hold) -> tuple[Thread, datetime]:
    """Lock the thread, make sure that the run is still ours, and renew the lease."""
    thread, now = lock_thread(hold.thread_id)
    ours = Run.objects.filter(pk=hold.run_id, fence=hold.fence, status=RunStatus.RUNNING).update(
        lease_until=now + LEASE
    )
    if not ours:
        raise errors.LeaseLost(str(hold.run_id))
    return thread, now


def _write(thread: Thread, run: Run, batch: Batch, now: datetime) -> None:
    log.append(thread=thread, run=run, frames=batch.frames, now=now)
    ToolCall.objects.bulk_create(
        ToolCall(
            thread=thread,
            run=run,
            tool_call_id=call.tool_call_id,
            name=call.name,
            args=call.args,
            proposed_at=now,
        )
        for call in batch.proposed
    )
    if batch.results:
        _settle(thread, batch.results, now)


def _settle(thread: Thread, results: Mapping[str, str], now: datetime) -> None:
    calls = ToolCall.objects.filter(thread=thread, tool_call_id__in=results).exclude(
        state__in=(ToolCallState.SETTLED, ToolCallState.NOT_RUN)
    )
    for call in calls:
        call.state, call.settled_at = ToolCallState.SETTLED, now
        call.result = results[call.tool_call_id]
        call.save(update_fields=["state", "settled_at", "result"])


def _check_approved(call: ToolCall) -> None:
    asked = call.interrupts.filter(reason=Reason.TOOL_CALL).order_by("-created_at").first()
    if asked is None:
        return
    standing: Any = Decision.objects.filter(interrupt=asked, withdrawn_at=None).first()
    if standing is None or asked.status != InterruptStatus.RESOLVED:
        raise errors.Forbidden(f"Tool call {call.tool_call_id!r} was not approved.")
