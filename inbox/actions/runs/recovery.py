"""Recovering runs whose worker is lost, and asking people about calls in doubt."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from ag_ui.core import Interrupt as WireInterrupt
from ag_ui.core import RunFinishedEvent, RunFinishedInterruptOutcome
from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.policies.policy_decisions import decide_by_policy
from inbox.actions.runs import tool_calls as calls
from inbox.actions.runs.create_interrupts import build_interrupts, open_interrupts
from inbox.actions.runs.run_lease import RunLease, lock_and_renew
from inbox.actions.runs.run_termination import close_run, run_error
from inbox.models import Interrupt, Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.models.moves import move_row
from inbox.queries.agents.agents import endpoint_digest_of
from inbox.queries.runs.interrupt_states import wire_interrupt
from inbox.rules.people.access import SWEEPER, agent_actor
from inbox.rules.runs.states import Reason, RunStatus

MAX_ATTEMPTS = 3


def _outcome(name: str, title: str, **more_properties: Any) -> dict[str, Any]:
    properties = {"outcome": {"const": name}, **more_properties}
    return {"title": title, "type": "object", "properties": properties, "required": ["outcome"]}


#: The response schema of an interrupt that asks whether a started tool has done its work.
DOUBT_SCHEMA = {
    "oneOf": [
        _outcome(
            "happened",
            "It took effect, with this result",
            result={
                "title": "Result",
                "description": "The result exactly as the tool returned it",
                "type": "string",
                "maxLength": 100_000,
            },
        ),
        _outcome("did_not_happen", "It did not take effect; run it now"),
        _outcome("stop", "Do not run it; continue without a result"),
    ],
}


@transaction.atomic(durable=True)
def recover_run(*, run_id: UUID, restartable: bool) -> RunStatus | None:
    """
    Take a run from a worker whose lease has expired, and return the run's new status.

    A run is queued again if no effect can happen twice. A started `once` call interrupts the run to
    ask a person about the outcome. A run that cannot be restarted fails with WORKER_LOST. Returns
    None, and does nothing, if the worker is alive.
    """
    thread, now = lock_thread(runs=run_id)
    run = Run.objects.get(pk=run_id)
    if run.pulled or run.status != RunStatus.RUNNING:
        return None
    if run.lease_until is None or run.lease_until > now:
        return None
    calls_in_doubt = list(calls.calls_in_flight(thread))
    if not restartable or (run.attempt >= MAX_ATTEMPTS and not calls_in_doubt):
        close_run(thread=thread, run=run, terminal=run_error("WORKER_LOST"), now=now)
    elif calls_in_doubt:
        message = "The worker stopped while {tool} was running. Did the call take effect?"
        interrupt_run(thread, run, now, interrupts=doubt_interrupts(run, calls_in_doubt, message))
    else:
        _queue_again(run, now)
    audit_trail.record(
        "run.recovered",
        SWEEPER,
        now,
        thread=thread,
        run=run,
        status=run.status,
        attempt=run.attempt,
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return RunStatus(run.status)


@transaction.atomic(durable=True)
def interrupt_in_doubt(*, lease: RunLease) -> bool:
    """
    Interrupt a failing run that has `once` calls in flight, to ask a person about their outcomes.

    Returns False, and does nothing, if there are none. The run's events must be committed before.

    Raises:
        LeaseLost: the run was ended or taken over.
    """
    thread, now = lock_and_renew(lease)
    calls_in_doubt = list(calls.calls_in_flight(thread))
    if not calls_in_doubt:
        return False
    run = Run.objects.get(pk=lease.run_id)
    message = "The agent failed while {tool} was running. Did the call take effect?"
    interrupt_run(thread, run, now, interrupts=doubt_interrupts(run, calls_in_doubt, message))
    audit_trail.record(
        "run.interrupted",
        agent_actor(thread.agent_id),
        now,
        thread=thread,
        run=run,
        state=(RunStatus.RUNNING, RunStatus.INTERRUPTED),
        code="AGENT_ERROR",
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return True


@transaction.atomic(durable=True)
def release_run(*, lease: RunLease) -> bool:
    """
    Return the run to the queue when its worker shuts down; return whether that was possible.

    The attempt does not count. Refused while a `once` call is in flight: the worker finishes it, or
    loses its lease and a person is asked.
    """
    thread, now = lock_thread(lease.thread_id)
    in_flight = calls.calls_in_flight(thread).exists()
    run = Run.objects.filter(pk=lease.run_id, fence=lease.fence, status=RunStatus.RUNNING).first()
    if in_flight or run is None:
        return False
    # At least 1: the next claim increments it, and must not look like a first attempt.
    run.attempt = max(run.attempt - 1, 1)
    _queue_again(run, now)
    return True


def _queue_again(run: Run, now: datetime) -> None:
    move_row(run, RunStatus.QUEUED)
    run.fence += 1
    run.lease_until = None
    run.queued_at = now
    run.save(update_fields=["status", "fence", "attempt", "lease_until", "queued_at"])
    wakeups.wake_workers_on_commit(run.pk)


def interrupt_run(
    thread: Thread,
    run: Run,
    now: datetime,
    *,
    interrupts: Sequence[WireInterrupt] = (),
    repeats: Sequence[tuple[Interrupt, WireInterrupt]] = (),
) -> None:
    """
    End a run with these interrupts, from outside its worker; the caller holds the lock.

    `repeats` are interrupts that replace earlier ones, as (earlier row, new interrupt).
    """
    new_interrupts = [*(interrupt for _, interrupt in repeats), *interrupts]
    rows = build_interrupts(
        thread=thread,
        run=run,
        interrupts=new_interrupts,
        endpoint=endpoint_digest_of(thread.agent_id),
        now=now,
    )
    for row, (original, _) in zip(rows, repeats, strict=False):
        row.repeats_id = original.pk
    wire_interrupts = [WireInterrupt.model_validate(wire_interrupt(row)) for row in rows]
    terminal = RunFinishedEvent(
        thread_id=thread.external_id,
        run_id=run.external_id,
        outcome=RunFinishedInterruptOutcome(type="interrupt", interrupts=wire_interrupts),
    )
    close_run(thread=thread, run=run, terminal=terminal, now=now)
    open_interrupts(thread=thread, run=run, rows=rows, now=now)
    decide_by_policy(thread=thread, rows=rows, now=now)


def doubt_interrupts(run: Run, calls: Iterable[ToolCall], message: str) -> list[WireInterrupt]:
    """Return an interrupt about each call; `message` contains the placeholder `{tool}`."""
    return [
        WireInterrupt(
            id=f"{run.pk}-doubt-{call.pk}",
            reason=Reason.OUTCOME_UNKNOWN,
            message=message.format(tool=call.name),
            tool_call_id=call.tool_call_id,
            response_schema=DOUBT_SCHEMA,
        )
        for call in calls
    ]
