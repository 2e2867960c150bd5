"""Queueing runs: the resume of an interrupted run, and any other run."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.runs.claim import append_run_started, take_lease
from inbox.actions.runs.pulled_runs import begin_pulled_run
from inbox.actions.runs.run_termination import fail_run
from inbox.models import Decision, Interrupt, Run, Thread
from inbox.models.locks import lock_thread
from inbox.models.statements import Select, insert
from inbox.platform.monitoring.traces import traces
from inbox.queries.decisions.verified_decisions import check_decisions
from inbox.queries.runs.interrupt_states import has_restored_consent, load_interrupt_states
from inbox.rules import errors
from inbox.rules.decisions.gate import AGUI
from inbox.rules.people.access import ENGINE, ActorKind
from inbox.rules.runs.contract import ResumeEntry, plan_resume, wire_entries
from inbox.rules.runs.states import InterruptStatus, RunStatus

_OPEN_INTERRUPT = Select(
    lambda params: Interrupt.objects.filter(
        run=params.run, status=InterruptStatus.OPEN
    ).values_list("pk", flat=True)[:1]
)


def queue_resume_if_complete(
    *, thread: Thread, run: Run, now: datetime, started_by: str
) -> Run | None:
    """
    Queue the one run that resumes `run`, if every interrupt of it is closed.

    During a grace period only set the time at which the sweeper queues it; until then decisions can
    be withdrawn. The caller holds the thread's lock.
    """
    # Without loading the set: most decisions of a large set leave others open.
    if _OPEN_INTERRUPT.first(run=run.pk) is not None:
        return None
    grace = _grace_period(thread, run)
    if grace:
        run.resume_at = now + grace
        run.save(update_fields=["resume_at"])
        return None
    return queue_resume(thread=thread, run=run, now=now, started_by=started_by)


@transaction.atomic(durable=True)
def resume_if_due(*, run_id: UUID) -> Run | None:
    """
    Queue the resume of an interrupted run whose grace period is over; return None if none is due.

    Happens exactly once: queueing the resume clears `resume_at`, and so does a withdrawal.
    """
    thread, now = lock_thread(runs=run_id)
    run = Run.objects.get(pk=run_id)
    if run.resume_at is None or run.resume_at > now:
        return None
    decisions = Decision.objects.filter(interrupt__run=run, withdrawn_at=None)
    last_decision = decisions.order_by("created_at", "pk").last()
    return queue_resume(
        thread=thread,
        run=run,
        now=now,
        started_by=last_decision.actor_label if last_decision else "",
    )


def queue_resume(*, thread: Thread, run: Run, now: datetime, started_by: str) -> Run | None:
    """
    Queue the one run that resumes `run`, or return None while an answer is missing.

    The caller holds the thread's lock. The resume uses the tools and properties of the interrupted
    run, as no client sends an input. A resume whose decisions cannot be verified, or with an
    approval of before a restore that nobody has checked, is stored as failed, so that the thread is
    not blocked; a retry repeats the interrupts.
    """
    interrupts = load_interrupt_states(run)
    entries = plan_resume(interrupt.state for interrupt in interrupts)
    if entries is None:
        return None
    with traces.span("queue resume", links=[run.trace_context]):
        resume = queue_run(
            thread=thread,
            now=now,
            external_id=str(uuid4()),
            input_text=input_without_conversation(run),
            resumes=run,
            entries=entries,
            started_by=started_by,
        )
    try:
        check_decisions(interrupts)
        if has_restored_consent(interrupts):
            raise errors.Restored("Nobody has checked what happened after the backup.")
    except errors.RunFailure as failure:
        fail_run(thread=thread, run=resume, failure=failure, now=now)
    else:
        if resume.pulled:
            begin_pulled_run(thread=thread, run=resume, now=now)
    return resume


def queue_run(
    *,
    thread: Thread,
    now: datetime,
    external_id: str,
    input_text: str,
    started_by: str,
    resumes: Run | None = None,
    entries: Sequence[ResumeEntry] = (),
    columns: Mapping[str, Any] | None = None,
    claim: bool = False,
) -> Run:
    """
    Store a queued run, and wake the workers; the row itself is the message to them.

    A resume keeps the requester of the run that it resumes; other runs set theirs in `columns`.
    With `claim` the run is claimed at once by this process, which has to drive it. Nobody drives a
    `pulled` run: its program takes it with the first call.
    """
    requester = requester_columns(resumes) if resumes else {}
    run = Run(
        team_id=thread.team_id,
        agent_id=thread.agent_id,
        thread=thread,
        external_id=external_id,
        status=RunStatus.QUEUED,
        resumes=resumes,
        input=input_text,
        first_seq=thread.next_seq,
        queued_at=now,
        started_by=started_by[:160],
        # A decision of the system belongs to no request: its resume continues the run's trace.
        trace_context=traces.current_context() or (resumes.trace_context if resumes else ""),
        **{"resume": json.dumps(wire_entries(entries)), **requester, **(columns or {})},
    )
    claim = claim and not run.pulled
    if claim:
        take_lease(run, now)
    insert([run])
    if resumes is not None:
        if resumes.resume_at is not None:
            resumes.resume_at = None
            resumes.save(update_fields=["resume_at"])
        audit_trail.record(
            "resume.queued",
            ENGINE,
            now,
            thread=thread,
            run=run,
            resumes=str(resumes.pk),
            started_by=started_by[:160],
        )
    if claim:
        append_run_started(thread=thread, run=run, now=now)
    elif not run.pulled:
        wakeups.wake_workers_on_commit(run.pk)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return run


def requester_columns(run: Run) -> dict[str, Any]:
    """Return the run's requester, and who retried it, as columns for another run."""
    return {
        "pulled": run.pulled,
        "requester_user_id": run.requester_user_id,
        "requester_key_id": run.requester_key_id,
        "requester_people": run.requester_people,
        "retriers": run.retriers,
    }


def _grace_period(thread: Thread, run: Run) -> timedelta:
    """Return the team's grace period; zero if no person decided: programs do not undo."""
    seconds = thread.team.grace_seconds
    if seconds:
        by_people = Decision.objects.filter(
            interrupt__run=run, withdrawn_at=None, actor_kind=ActorKind.HUMAN
        )
        if not by_people.exclude(entrance__in=AGUI).exists():
            seconds = 0
    return timedelta(seconds=seconds)


def input_without_conversation(run: Run) -> str:
    """Return the run's input for a run that continues its work without an input of a client."""
    return json.dumps({**json.loads(run.input), "messages": [], "state": None})
