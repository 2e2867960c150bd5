"""What a worker writes while it drives a run: each write carries the fence and renews the lease."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from ag_ui.core import Interrupt as WireInterrupt
from ag_ui.core import RunErrorEvent
from django.db import transaction

from agents.agui import wire
from agents.agui.interrupts import parse_expiry
from inbox import notify
from inbox.actions import audit, log
from inbox.actions.endings import doubt_calls_in_flight
from inbox.actions.locking import lock_thread
from inbox.domain import errors
from inbox.domain.access import ENGINE
from inbox.domain.consent import canonical, view_digest
from inbox.domain.states import InterruptStatus, Reason, RunStatus, ToolCallState
from inbox.models import Interrupt, Run, Thread, ToolCall
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


class WantedCall(NamedTuple):
    """A tool call that an agent is about to make, with the arguments it would use."""

    tool_call_id: str
    args: str  #: canonical JSON text
    effect: str


@dataclass
class Batch:
    """Some events of a run, with what they say about tool calls."""

    frames: list[log.Frame] = field(default_factory=list)
    proposed: list[ProposedCall] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)  #: tool call id -> content


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
    try:
        thread, now = lock_thread(runs=run_id)
    except errors.NotFound:
        return None
    run = Run.objects.select_related("thread__agent", "resumes").get(pk=run_id)
    if run.status != RunStatus.QUEUED:
        return None
    first_attempt = run.attempt == 0
    run.status = RunStatus.RUNNING
    run.fence += 1
    run.attempt += 1
    run.lease_until = now + LEASE
    run.started_at = run.started_at or now
    run.save(update_fields=["status", "fence", "attempt", "lease_until", "started_at"])
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
    run = Run(pk=hold.run_id)
    log.append(thread=thread, run=run, frames=batch.frames, now=now)
    _note_tool_calls(thread, run, batch, now)


@transaction.atomic(durable=True)
def begin_tool_calls(
    *, hold: Hold, wanted: Sequence[WantedCall]
) -> list[ToolCall | errors.Refusal]:
    """
    Commit that tools are about to be called, and return their rows; settled rows have the result.

    What is refused is returned in its place: the call is unknown, not approved, in doubt, or its
    arguments are not the approved ones (R4).

    Raises:
        LeaseLost.
    """
    thread, now = _lock(hold)
    calls = _calls_by_id(thread, [call.tool_call_id for call in wanted])
    unapproved = _unapproved(calls.values())
    answers: list[ToolCall | errors.Refusal] = []
    for call in wanted:
        row = calls.get(call.tool_call_id)
        refusal = _refusal(call, row, unapproved)
        if refusal is None and row is not None and row.state != ToolCallState.SETTLED:
            row.state, row.effect, row.started_at = ToolCallState.STARTED, call.effect, now
        answers.append(refusal or row)  # type: ignore[arg-type]  # a missing row is refused
    begun = [row for row in answers if isinstance(row, ToolCall) and row.started_at == now]
    if begun:
        ToolCall.objects.bulk_update(begun, ["state", "effect", "started_at"], batch_size=200)
    return answers


@transaction.atomic(durable=True)
def settle_tool_calls(*, hold: Hold, results: Sequence[tuple[str, str]]) -> None:
    """
    Commit the results, as (tool call id, content), of calls that were begun. Safe to replay.

    Raises:
        LeaseLost.
    """
    thread, now = _lock(hold)
    _settle(thread, dict(results), now)


@transaction.atomic(durable=True)
def finish_run(*, hold: Hold, batch: Batch, ending: Ending) -> None:
    """
    Commit the last events of a run together with all that its end means.

    Status, conversation, checkpoint, interrupts and audit are one transaction with the terminal
    event: who sees RUN_FINISHED can answer at once.

    Raises:
        LeaseLost: the run was ended or taken over; nothing was written.
    """
    thread, now = lock_thread(hold.thread_id)
    _change_if_held(
        hold,
        status=ending.status,
        checkpoint=ending.checkpoint,
        error_code=ending.error_code,
        lease_until=None,
        finished_at=now,
    )
    run = Run(pk=hold.run_id, thread=thread)
    thread.messages, thread.state = ending.messages, ending.state
    log.append(thread=thread, run=run, frames=batch.frames, now=now, changed=["messages", "state"])
    _note_tool_calls(thread, run, batch, now)
    doubt_calls_in_flight(thread)
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


@transaction.atomic(durable=True)
def fail_unreadable_run(*, hold: Hold) -> RunStatus:
    """
    End a run whose own rows cannot be read, leaving the conversation as it was before it.

    Raises:
        LeaseLost.
    """
    thread, now = lock_thread(hold.thread_id)
    _change_if_held(
        hold,
        status=RunStatus.FAILED,
        error_code="PROTOCOL_VIOLATION",
        lease_until=None,
        finished_at=now,
    )
    run = Run(pk=hold.run_id, thread=thread)
    error = RunErrorEvent(message="The run cannot be read.", code="PROTOCOL_VIOLATION")
    log.append(thread=thread, run=run, frames=[log.frame(error)], now=now)
    doubt_calls_in_flight(thread)
    audit.record(action="run.failed", actor=ENGINE, now=now, thread=thread, run=run)
    notify.ring_reviewers_on_commit(thread.team_id, thread.pk)
    return RunStatus.FAILED


def ask(*, thread: Thread, run: Run, interrupts: Sequence[WireInterrupt], now: datetime) -> None:
    """Store the questions of a run that ended interrupted; the caller holds the lock."""
    ids = [item.id for item in interrupts]
    if Interrupt.objects.filter(thread=thread, interrupt_id__in=ids).exists():
        # A retried answer to the first question would answer the second (threats, row 53).
        raise errors.ProtocolBroken("An interrupt id was used before on this thread.")
    calls = _calls_by_id(thread, [item.tool_call_id for item in interrupts if item.tool_call_id])
    # An agent that asks about a call it began says that the call paused before its effect. For a
    # `once` call its word is not enough: that one is in doubt by now.
    paused = [call.pk for call in calls.values() if call.state == ToolCallState.STARTED]
    if paused:
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
        args=call.approved_args if call else None,
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
    _change_if_held(hold, lease_until=now + LEASE)
    return thread, now


def _change_if_held(hold: Hold, **columns: Any) -> None:
    """Change the run's row if this worker still holds it; raises LeaseLost otherwise."""
    held = Run.objects.filter(pk=hold.run_id, fence=hold.fence, status=RunStatus.RUNNING)
    if not held.update(**columns):
        raise errors.LeaseLost(str(hold.run_id))


def _note_tool_calls(thread: Thread, run: Run, batch: Batch, now: datetime) -> None:
    """Keep the tool calls that a batch proposed, and the results that it told."""
    if batch.proposed:
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
    """Keep results where there are none yet: a call that did not run keeps saying so."""
    unsettled = ToolCall.objects.filter(
        thread=thread,
        tool_call_id__in=results,
        state__in=(ToolCallState.PROPOSED, ToolCallState.STARTED),
    )
    calls = list(unsettled)
    for call in calls:
        call.state, call.settled_at = ToolCallState.SETTLED, now
        call.result = results[call.tool_call_id]
    if calls:
        ToolCall.objects.bulk_update(calls, ["state", "result", "settled_at"], batch_size=200)


def _calls_by_id(thread: Thread, ids: Iterable[str]) -> dict[str, ToolCall]:
    rows = ToolCall.objects.filter(thread=thread, tool_call_id__in=list(ids))
    return {row.tool_call_id: row for row in rows}


def _unapproved(calls: Iterable[ToolCall]) -> set[UUID]:
    """The calls that somebody was asked about and has not approved; a denied one is NOT_RUN."""
    asked = Interrupt.objects.filter(tool_call__in=list(calls), reason=Reason.TOOL_CALL)
    open_or_closed = asked.exclude(status=InterruptStatus.RESOLVED)
    return {pk for pk in open_or_closed.values_list("tool_call_id", flat=True) if pk}


def _refusal(
    wanted: WantedCall, call: ToolCall | None, unapproved: Container[UUID]
) -> errors.Refusal | None:
    name = f"Tool call {wanted.tool_call_id!r}"
    if call is None:
        return errors.NotFound(f"{name} was never proposed.")
    if call.state in (ToolCallState.NOT_RUN, ToolCallState.IN_DOUBT):
        problem = f"may not run: it is {call.state}"
    elif call.state == ToolCallState.STARTED and call.effect == "once":
        problem = "was started before"
    elif call.pk in unapproved and call.state != ToolCallState.SETTLED:
        problem = "was not approved"
    elif wanted.args != call.approved_args:
        problem = "may not run: these are not the approved arguments"
    else:
        return None
    return errors.Forbidden(f"{name} {problem}.")
