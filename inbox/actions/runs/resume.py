"""Interrupts as the contract sees them, and the resume run that completes a set."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.runs.run_termination import fail_run
from inbox.models import Decision, Interrupt, Run, Thread
from inbox.models.statements import insert
from inbox.queries.decisions.verified_decisions import check_decisions
from inbox.queries.runs.interrupt_states import load_interrupt_states
from inbox.rules import errors
from inbox.rules.people.access import ENGINE, ActorKind
from inbox.rules.runs.contract import ResumeEntry, plan_resume, wire_entries
from inbox.rules.runs.states import InterruptStatus, RunStatus


def queue_resume_if_complete(
    *, thread: Thread, run: Run, now: datetime, started_by: str
) -> Run | None:
    """
    Queue the one run that resumes `run`, if every question of it is closed.

    With a grace period only the time is set at which the sweeper queues it: until then an answer
    can be taken back. The caller holds the thread's lock.
    """
    # Most decisions of a large set leave others open: find that out without loading the set.
    if Interrupt.objects.filter(run=run, status=InterruptStatus.OPEN).exists():
        return None
    grace = _grace_of(thread, run)
    if grace:
        run.resume_at = now + grace
        run.save(update_fields=["resume_at"])
        return None
    return queue_resume(thread=thread, run=run, now=now, started_by=started_by)


def queue_resume(*, thread: Thread, run: Run, now: datetime, started_by: str) -> Run | None:
    """
    Queue the one run that resumes `run`, or return None while an answer is missing.

    The caller holds the thread's lock; `Run.resumes` is one-to-one, so that a second resume cannot
    be stored whatever happens. No client sends an input here: the tools and properties of the
    interrupted run are used again. A resume whose decisions cannot be verified is stored as failed:
    the thread is not stuck, and whoever retries the run asks people again.
    """
    asked = load_interrupt_states(run)
    entries = plan_resume(item.state for item in asked)
    if entries is None:
        return None
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
        check_decisions(asked)
    except errors.RunFailure as failure:
        fail_run(thread=thread, run=resume, failure=failure, now=now)
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
) -> Run:
    """
    Store a queued run, which is the work order, and ring.

    A resume keeps the requester of the run that it resumes; others name theirs in `columns`.
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
        **{"resume": json.dumps(wire_entries(entries)), **requester, **(columns or {})},
    )
    insert([run])
    if resumes is not None:
        if resumes.resume_at is not None:
            resumes.resume_at = None
            resumes.save(update_fields=["resume_at"])
        audit_trail.record(
            action="resume.queued",
            actor=ENGINE,
            now=now,
            thread=thread,
            run=run,
            resumes=str(resumes.pk),
            started_by=started_by[:160],
        )
    wakeups.wake_workers_on_commit(run.pk)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return run


def requester_columns(run: Run) -> dict[str, Any]:
    """Return the columns that hold who started the run."""
    return {"requester_user_id": run.requester_user_id, "requester_key_id": run.requester_key_id}


def _grace_of(thread: Thread, run: Run) -> timedelta:
    """How long the answers wait; not at all if nobody gave one who could take it back."""
    seconds = thread.team.grace_seconds
    if seconds:
        standing = Decision.objects.filter(interrupt__run=run, withdrawn_at=None)
        if not standing.exclude(actor_kind=ActorKind.SYSTEM).exists():
            seconds = 0
    return timedelta(seconds=seconds)


def input_without_conversation(run: Run) -> str:
    """What a run that goes on with this one's work is given, where no client has a say in it."""
    kept = json.loads(run.input)
    return json.dumps({**kept, "messages": [], "state": None})
