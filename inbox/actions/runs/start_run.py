"""Starting, resuming and cancelling runs: the door that every caller goes through."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from ag_ui.core import RunFinishedCancelledOutcome, RunFinishedEvent
from django.db import IntegrityError, transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import (
    audit_rejected,
    count_rejection,
    is_recorded,
    rejection_detail,
)
from inbox.actions.decisions.decide import (
    Authorization,
    DecisionDraft,
    authorize,
    record_decisions,
)
from inbox.actions.runs.resume import (
    input_without_conversation,
    queue_resume_if_complete,
    queue_run,
)
from inbox.actions.runs.run_termination import close_run
from inbox.models import Agent, Run, Thread
from inbox.models.clock import database_now
from inbox.models.locks import lock_thread
from inbox.models.statements import Select
from inbox.queries.people.access import require, require_current
from inbox.queries.runs.interrupt_states import (
    InterruptWithDecision,
    is_server_interrupt,
    load_interrupt_states,
)
from inbox.queries.runs.latest_run import interrupted_run, last_retry, latest_run
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.decisions.gate import AGUI, CANCELLATIONS, Entrance
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.contract import ResumeEntry, check_resume, is_replay
from inbox.rules.runs.states import (
    ACTIVE_RUN_STATUSES,
    EntryStatus,
    InterruptStatus,
    RunStatus,
)
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class RunRequest:
    """A RunAgentInput, taken apart; `input` holds messages, state, tools, context and props."""

    thread_id: str
    run_id: str
    input: Mapping[str, Any]
    parent_run_id: str = ""
    entries: Sequence[ResumeEntry] = ()
    has_resume: bool = False  #: `resume: []` was sent: no coverage, no absence
    #: what the client was shown, as far as it says so: interrupt id -> view digest
    view_digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StartedRun:
    """A run that answers the request; a replay was accepted before and runs nothing again."""

    run: Run
    replayed: bool


def start_run(
    *,
    agent: Agent,
    request: RunRequest,
    actor: Actor,
    entrance: Entrance = Entrance.AGUI_HTTP,
    idempotency_key: str = "",
) -> StartedRun:
    """
    Start a run, or resume the interrupted one with the request's entries.

    Safe to replay: the same entries again, or the same idempotency key with the same request,
    return the run that they made. A refusal changes nothing but the audit trail.

    Raises:
        NotFound, Forbidden, IdempotencyConflict.
        ContractError: the thread is busy or waiting, or the entries do not answer it.
    """
    try:
        try:
            return _accept(agent, request, actor, entrance, idempotency_key)
        except IntegrityError:
            # One idempotency key on two threads at once: the winner's run is there to be found now.
            return _accept(agent, request, actor, entrance, idempotency_key)
    except (errors.ContractError, errors.Forbidden, errors.Unauthenticated) as refusal:
        if request.has_resume:
            _record_rejection(agent, request, actor, refusal)
        raise


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _accept(
    agent: Agent, request: RunRequest, actor: Actor, entrance: Entrance, idempotency_key: str
) -> StartedRun:
    columns = _idempotency_columns(agent, request, actor, idempotency_key)
    thread, now = _lock_or_open_thread(agent, request)
    if request.entries:
        admission = authorize(thread=thread, now=now, actor=actor, entrance=entrance)
        return _resume(admission, request)
    # After the lock: the actor may have lost the permission while we waited for it, and the earlier
    # run may have been stored.
    require(actor, agent.team_id, Permission.RUN, agent.pk)
    if columns and (earlier := _earlier_run(columns)):
        return StartedRun(earlier, replayed=True)
    _check_free(thread)
    run = queue_run(
        thread=thread,
        now=now,
        external_id=request.run_id,
        input_text=json.dumps(request.input),
        started_by=actor.label,
        columns={
            **columns,
            "parent_external_id": request.parent_run_id,
            "requester_user_id": actor.user_id,
            "requester_key_id": actor.key_id,
        },
    )
    audit_trail.record(action="run.started", actor=actor, now=now, thread=thread, run=run)
    return StartedRun(run, replayed=False)


def _resume(admission: Authorization, request: RunRequest) -> StartedRun:
    thread, now = admission.thread, admission.now
    asked = _run_that_asked(thread, request.entries)
    if asked is None:
        _check_not_busy(latest_run(thread))
        raise errors.UnknownInterrupt("No interrupt is open on this thread.")
    rows = load_interrupt_states(asked)
    questions = [item.state for item in rows]
    resumed_by: Run | None = getattr(asked, "resumed_by", None)
    fresh = check_resume(entries=request.entries, questions=questions)
    if resumed_by:  # nothing is open: each entry repeats an answer that stands
        _check_not_partial(request.entries, rows)
        return StartedRun(last_retry(resumed_by), replayed=True)
    if asked.resume_at is not None and not is_replay(entries=request.entries, questions=questions):
        # Who sends all of them once more means it; one of them cuts nobody's grace short.
        raise errors.PartialResume(
            "All interrupts are answered, and the run is resumed soon; send every answer to resume "
            "it now."
        )
    answered = {entry.interrupt_id: entry for entry in fresh}
    record_decisions(
        admission,
        run=asked,
        answers=[
            DecisionDraft(
                item.row,
                item.state,
                answered[item.row.interrupt_id],
                request.view_digests.get(item.row.interrupt_id, ""),
                client_run_id=request.run_id,
            )
            for item in rows
            if item.state.is_open
        ],
    )
    run = queue_run(
        thread=thread,
        now=now,
        external_id=request.run_id,
        input_text=_input_of_resume(asked, rows, request),
        resumes=asked,
        entries=[question.answer or answered[question.interrupt_id] for question in questions],
        started_by=admission.actor.label,
        columns={"parent_external_id": request.parent_run_id},
    )
    return StartedRun(run, replayed=False)


def _check_not_partial(
    entries: Sequence[ResumeEntry], rows: Sequence[InterruptWithDecision]
) -> None:
    """Raise AlreadyDecided unless the entries repeat all that was answered over AG-UI."""
    named = {entry.interrupt_id for entry in entries}
    for item in rows:
        is_named = item.row.interrupt_id in named
        if item.decision and item.decision.entrance in AGUI and not is_named:
            raise errors.AlreadyDecided(
                TranslatableMessage("This run was already resumed, with other answers.")
            )


def _input_of_resume(
    asked: Run, interrupts: Sequence[InterruptWithDecision], request: RunRequest
) -> str:
    """
    Return what the resume is given: the client's input, unless the run was interrupted by us.

    That run does the work of the interrupted one once more, which has to be given the same again.
    """
    if all(is_server_interrupt(item.row) for item in interrupts):
        return input_without_conversation(asked)
    return json.dumps(request.input)


def _run_that_asked(thread: Thread, entries: Sequence[ResumeEntry]) -> Run | None:
    """The run with the first of these interrupts that is known, else the one that waits."""
    ids = [entry.interrupt_id for entry in entries]
    return _RUN_WITH_INTERRUPTS.first(thread=thread.pk, ids=ids) or interrupted_run(thread)


_RUN_WITH_INTERRUPTS = Select(
    lambda params: (
        Run.objects.filter(
            interrupts__thread=params.thread, interrupts__interrupt_id__in=params.each("ids")
        )
        .select_related("resumed_by")
        .order_by("-interrupts__created_at")[:1]
    )
)


def _check_free(thread: Thread) -> None:
    latest = latest_run(thread)
    if latest and latest.status == RunStatus.INTERRUPTED:
        raise errors.PendingInterrupts(
            TranslatableMessage(
                "This thread waits for answers to its interrupts; send them as `resume`, or answer "
                "them in the inbox."
            )
        )
    _check_not_busy(latest)


def _check_not_busy(latest: Run | None) -> None:
    if latest and latest.status in ACTIVE_RUN_STATUSES:
        raise errors.ThreadBusy(
            TranslatableMessage("A run of this thread is still going on; wait for it or cancel it.")
        )


def _lock_or_open_thread(agent: Agent, request: RunRequest) -> tuple[Thread, datetime]:
    address: dict[str, Any] = {"agent": agent, "external_id": request.thread_id}
    with suppress(errors.NotFound):
        return lock_thread(with_team=bool(request.entries), **address)
    now = database_now()
    thread = Thread(
        **address,
        team_id=agent.team_id,
        title=_title(request.input.get("messages", ())),
        client_messages="{}",
        created_at=now,
        updated_at=now,
    )
    # Somebody else may open it at the same moment: then theirs is the thread.
    Thread.objects.bulk_create([thread], ignore_conflicts=True)
    return lock_thread(**address)


def _title(messages: Sequence[Any]) -> str:
    """The first line of the last thing a person said."""
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            text = content if isinstance(content, str) else _text_of_parts(content)
            return (text.strip().splitlines() or [""])[0][:200]
    return ""


def _text_of_parts(parts: Any) -> str:
    texts = [part.get("text", "") for part in parts or () if part.get("type") == "text"]
    return " ".join(texts)


def _idempotency_columns(
    agent: Agent, request: RunRequest, actor: Actor, key: str
) -> dict[str, str]:
    if not key:
        return {}
    asked = canonical_json([str(agent.pk), request.thread_id, dict(request.input)])
    return {"idempotency_key": idempotency_digest(actor, key), "request_digest": digest(asked)}


def idempotency_digest(actor: Actor, key: str) -> str:
    """What an idempotency key is stored as: keys of different callers never meet; "" for none."""
    return digest(canonical_json([actor.kind, actor.ident, key])) if key else ""


def _earlier_run(columns: dict[str, str]) -> Run | None:
    run = Run.objects.filter(idempotency_key=columns["idempotency_key"]).first()
    if run and run.request_digest != columns["request_digest"]:
        raise errors.IdempotencyConflict(
            "This Idempotency-Key was used with another request; use a new key for a new request."
        )
    return run


@transaction.atomic(durable=True)
def _record_rejection(
    agent: Agent, request: RunRequest, actor: Actor, refusal: errors.RequestRejected
) -> None:
    thread = None
    with suppress(errors.NotFound):
        thread, _ = lock_thread(agent=agent, external_id=request.thread_id)
    count = count_rejection(thread.pk if thread else agent.pk, actor, "resume", refusal.code)
    if not is_recorded(count):
        return
    audit_trail.record(
        action="resume.rejected",
        actor=actor,
        now=database_now(),
        thread=thread,
        team_id=agent.team_id,
        code=refusal.code,
        interrupts=[entry.interrupt_id[:200] for entry in request.entries][:100],
        **rejection_detail(count),
    )


def cancel_run(*, run_id: UUID, actor: Actor, entrance: Entrance = Entrance.CANCEL_REST) -> Run:
    """
    Cancel an active run, or the open interrupts of an interrupted one.

    An active run ends with the cancelled outcome; its worker is told at its next write. Of an
    interrupted run the open interrupts are answered as cancelled, which resumes it: the agent is
    told. That is for its requester, and for those who may decide.

    Idempotent: a run that was cancelled before, by whomever and at whichever entrance, is returned
    unchanged, and the trail gets no entry.

    Raises:
        Unauthenticated, NotFound, Forbidden.
        Claimed, InboxOnly: see `inbox.rules.decisions.gate`; not for the requester.
        RunEnded: the run ended in another way, or all that it asked was answered.
    """
    with audit_rejected("cancel", actor=actor, run_id=run_id):
        return _cancel(run_id, actor, entrance)


@transaction.atomic(durable=True)
def _cancel(run_id: UUID, actor: Actor, entrance: Entrance) -> Run:
    thread, now = lock_thread(runs=run_id)
    require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
    run = Run.objects.get(pk=run_id)
    if run.status == RunStatus.CANCELLED:
        return run
    if run.status == RunStatus.INTERRUPTED:
        return _cancel_interrupts(thread, run, now, actor, entrance)
    if run.status not in ACTIVE_RUN_STATUSES:
        raise errors.RunEnded(_HAS_ENDED)
    finished = RunFinishedEvent(
        thread_id=thread.external_id,
        run_id=run.external_id,
        outcome=RunFinishedCancelledOutcome(type="cancelled"),
    )
    close_run(thread=thread, run=run, status=RunStatus.CANCELLED, terminal=finished, now=now)
    audit_trail.record(action="run.cancelled", actor=actor, now=now, thread=thread, run=run)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return run


def _cancel_interrupts(
    thread: Thread, run: Run, now: datetime, actor: Actor, entrance: Entrance
) -> Run:
    rows = load_interrupt_states(run)
    answers = []
    for item in rows:
        if item.state.is_open:
            item.row.run = run
            entry = ResumeEntry(item.row.interrupt_id, EntryStatus.CANCELLED)
            answers.append(DecisionDraft(item.row, item.state, entry))
    if not answers and _is_cancelled(rows):
        return run
    if run.is_requested_by(actor):
        entrance = Entrance.REQUESTER
    admission = authorize(thread=thread, now=now, actor=actor, entrance=entrance)
    if not answers:
        raise errors.RunEnded(_HAS_ENDED)
    record_decisions(admission, run=run, answers=answers)
    queue_resume_if_complete(thread=thread, run=run, now=now, started_by=actor.label)
    return run


def _is_cancelled(rows: Sequence[InterruptWithDecision]) -> bool:
    """Return whether the run was cancelled, or each of its interrupts was by itself."""
    return any(item.decision and item.decision.entrance in CANCELLATIONS for item in rows) or all(
        item.state.status is InterruptStatus.CANCELLED for item in rows
    )


_HAS_ENDED = TranslatableMessage("The run has already ended; there is nothing to cancel.")


def new_external_id() -> str:
    """An id for a thread or run that no client named."""
    return str(uuid4())
