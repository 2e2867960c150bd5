"""Starting a run, or resuming an interrupted one, for every caller."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from inbox.actions.agents.pauses import check_not_paused, count_refused_request
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import count_rejection, is_recorded, rejection_detail
from inbox.actions.decisions.decide import Authorization, DecisionDraft, authorize, record_decisions
from inbox.actions.files.attachments import take_files_of_run
from inbox.actions.idempotency import IdempotencyKey, created_row, existing_result
from inbox.actions.limits.limit_checks import check_new_run, may_run_more
from inbox.actions.runs.pulled_runs import begin_pulled_run
from inbox.actions.runs.resume import input_without_conversation, queue_run
from inbox.actions.runs.run_lease import RunLease, lease_of
from inbox.actions.runs.tool_calls import settle_calls
from inbox.models import Agent, Run, Thread
from inbox.models.locks import lock_thread
from inbox.models.statements import Select, insert_if_absent
from inbox.platform.clock import database_now
from inbox.queries.files.files import check_files_unchanged
from inbox.queries.people.access import require
from inbox.queries.runs.client_calls import new_results, without_own_tools
from inbox.queries.runs.interrupt_states import (
    InterruptWithDecision,
    is_server_interrupt,
    load_interrupt_states,
)
from inbox.queries.runs.latest_run import interrupted_run, last_retry, latest_run
from inbox.rules import errors
from inbox.rules.agents.remote_agents import is_external
from inbox.rules.decisions.gate import AGUI, Entrance
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.client_tools import check_not_repeated
from inbox.rules.runs.contract import (
    InterruptState,
    ResumeEntry,
    approval_entry,
    check_resume,
    is_replay,
)
from inbox.rules.runs.history import check_not_cut, check_unchanged
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class RunRequest:
    """A parsed RunAgentInput; `input` holds messages, state, tools, context and forwardedProps."""

    thread_id: str
    run_id: str
    input: Mapping[str, Any]
    parent_run_id: str = ""
    entries: Sequence[ResumeEntry] = ()
    has_resume: bool = False  #: `resume` was sent, even if it is empty
    #: interrupt id -> digest of the view that the client displayed; clients may send none
    view_digests: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[UUID] = ()  #: that become parts of the last message


@dataclass(frozen=True)
class StartedRun:
    """The run that answers a request; `replayed` if an earlier request started it."""

    run: Run
    replayed: bool
    lease: RunLease | None = None  #: of a run that was claimed at once


def start_run(
    *,
    agent: Agent,
    request: RunRequest,
    actor: Actor,
    entrance: Entrance = Entrance.AGUI_HTTP,
    idempotency_key: str = "",
    claim: bool = False,
) -> StartedRun:
    """
    Start a run, or resume the interrupted one with the request's entries.

    With `claim` a new run is claimed in the same transaction, and the caller drives it.

    Safe to replay: the same entries, or the same idempotency key with the same request, return the
    run that the first request started. A rejected request writes nothing but an audit entry.

    Raises:
        NotFound, Forbidden, IdempotencyConflict.
        AgentPaused.
        LimitReached: the team or the agent has too much under way already. An agent that goes on
            beyond its own limit is paused.
        ContractError: the thread is busy or waiting, or the entries do not answer it.
        FileChanged: a file that a request displays has other bytes by now.
    """
    consents = [entry.interrupt_id for entry in request.entries if is_consent(entry)]
    if consents:
        check_files_unchanged(
            actor,
            thread__agent=agent,
            thread__external_id=request.thread_id,
            interrupt_id__in=consents,
        )
    try:
        return _start_or_resume(agent, request, actor, entrance, idempotency_key, claim=claim)
    except (errors.ContractError, errors.Forbidden, errors.Unauthenticated) as rejection:
        if request.has_resume:
            _record_rejection(agent, request, actor, rejection)
        raise
    except errors.LimitReached as refusal:
        count_refused_request(agent.pk, refusal.detail.get("limit"))
        raise


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _start_or_resume(
    agent: Agent,
    request: RunRequest,
    actor: Actor,
    entrance: Entrance,
    idempotency_key: str,
    *,
    claim: bool,
) -> StartedRun:
    thread, now, is_new = _lock_or_create_thread(agent, request, with_conversation=claim)
    if request.entries:
        authorization = authorize(thread=thread, now=now, actor=actor, entrance=entrance)
        return _resume(authorization, request, claim=claim)
    # Only now, under the lock: both may have changed while this request waited for it.
    require(actor, agent.team_id, Permission.RUN, agent.pk)
    content = [str(agent.pk), request.thread_id, dict(request.input)]
    if request.files:
        content.append([str(file_id) for file_id in request.files])
    idempotency = IdempotencyKey(key=idempotency_key, request=content)
    if earlier := existing_result(idempotency, actor=actor, now=now):
        return StartedRun(created_row(Run, earlier), replayed=True)
    if is_external(agent.implementation):
        raise errors.AsksByItself(
            TranslatableMessage(
                "The agent {name} runs by itself and asks with POST /api/requests, so it cannot be "
                "started here.",
                name=agent.slug,
            )
        )
    if not is_new:
        latest = latest_run(thread)
        _check_idle(latest)
        _check_history(thread, latest, request)
    request = replace(request, input=without_own_tools(thread, request.input))
    results = new_results(thread, request.input)
    if not is_new:
        sent = request.input.get("messages", ())
        check_not_repeated(stored=json.loads(thread.messages), sent=sent, results=results)
    check_not_paused(agent)
    check_new_run(team_id=agent.team_id, agent_id=agent.pk, is_new_thread=is_new)
    run = queue_run(
        thread=thread,
        now=now,
        external_id=request.run_id,
        input_text=json.dumps(_with_files(thread, request)),
        started_by=actor.label,
        columns={
            "id": idempotency.result_id,
            "parent_external_id": request.parent_run_id,
            "requester_user_id": actor.user_id,
            "requester_key_id": actor.key_id,
            "requester_people": json.dumps(sorted(actor.person_ids)),
        },
        claim=claim and may_run_more(agent.team_id),
    )
    audit_trail.record("run.started", actor, now, thread=thread, run=run)
    settle_calls(thread=thread, run=run, results=results, now=now, client=actor)
    return StartedRun(run, replayed=False, lease=lease_of(run))


def _with_files(thread: Thread, request: RunRequest) -> Mapping[str, Any]:
    """Return the input with the files as parts of its last message. Raises InvalidValue."""
    if not request.files:
        return request.input
    files = [file.reference for file in take_files_of_run(thread, request.files)]
    *earlier, last = request.input["messages"]
    text = {"type": "text", "text": last["content"]}
    parts = [file.as_part(settings.PUBLIC_URL) for file in files]
    return {**request.input, "messages": [*earlier, {**last, "content": [text, *parts]}]}


def _resume(authorization: Authorization, request: RunRequest, *, claim: bool) -> StartedRun:
    thread, now = authorization.thread, authorization.now
    request = replace(request, input=without_own_tools(thread, request.input))
    interrupted = _find_interrupted_run(thread, request.entries)
    interrupts = load_interrupt_states(interrupted)
    states = [interrupt.state for interrupt in interrupts]
    by_id = {state.interrupt_id: state for state in states}
    sent_entries = [
        approval_entry(by_id[entry.interrupt_id], entry) if entry.interrupt_id in by_id else entry
        for entry in request.entries
    ]
    new_entries = check_resume(entries=sent_entries, interrupts=states)
    resumed_by: Run | None = getattr(interrupted, "resumed_by", None)
    if resumed_by:  # no interrupt is open, so each entry repeats a decision in force
        _check_not_partial(request.entries, interrupts)
        _check_takes_results(new_results(thread, request.input), is_taken=False)
        return StartedRun(last_retry(resumed_by), replayed=True)
    _check_ends_grace(interrupted, sent_entries, states)
    if sent := request.input.get("messages", ()):
        check_unchanged(stored=json.loads(thread.messages), sent=sent)
    if results := new_results(thread, request.input):
        require(authorization.actor, thread.team_id, Permission.RUN, thread.agent_id)
        _check_takes_results(results, is_taken=not _is_repeated(interrupts))
    entries = {entry.interrupt_id: entry for entry in new_entries}
    record_decisions(
        authorization,
        run=interrupted,
        drafts=[
            DecisionDraft(
                interrupt.row,
                interrupt.state,
                entries[interrupt.row.interrupt_id],
                request.view_digests.get(interrupt.row.interrupt_id, ""),
                client_run_id=request.run_id,
            )
            for interrupt in interrupts
            if interrupt.state.is_open
        ],
    )
    run = queue_run(
        thread=thread,
        now=now,
        external_id=request.run_id,
        input_text=_resume_input(interrupted, interrupts, request),
        resumes=interrupted,
        entries=[state.answer or entries[state.interrupt_id] for state in states],
        started_by=authorization.actor.label,
        columns={"parent_external_id": request.parent_run_id},
        claim=claim and may_run_more(thread.team_id),
    )
    settle_calls(thread=thread, run=run, results=results, now=now, client=authorization.actor)
    if run.pulled:
        begin_pulled_run(thread=thread, run=run, now=now)
    return StartedRun(run, replayed=False, lease=lease_of(run))


def _find_interrupted_run(thread: Thread, entries: Sequence[ResumeEntry]) -> Run:
    """
    Return the run with the latest of these interrupts, or else the one that waits for answers.

    Raises:
        ThreadBusy, UnknownInterrupt: there is neither.
    """
    ids = [entry.interrupt_id for entry in entries]
    run = _RUN_WITH_INTERRUPTS.first(thread=thread.pk, ids=ids) or interrupted_run(thread)
    if run is None:
        _check_not_busy(latest_run(thread))
        raise errors.UnknownInterrupt("No interrupt is open on this thread.")
    return run


_RUN_WITH_INTERRUPTS = Select(
    lambda params: (
        Run.objects.filter(
            interrupts__thread=params.thread, interrupts__interrupt_id__in=params.each("ids")
        )
        .select_related("resumed_by")
        .order_by("-interrupts__created_at")[:1]
    )
)


def _check_ends_grace(
    run: Run, entries: Sequence[ResumeEntry], states: Sequence[InterruptState]
) -> None:
    """Raise PartialResume if some, but not all, answers are repeated during the grace period."""
    if run.resume_at is not None and not is_replay(entries=entries, interrupts=states):
        raise errors.PartialResume(
            "All interrupts are answered, and the run is resumed soon; send every answer to resume "
            "it now."
        )


def _check_not_partial(
    entries: Sequence[ResumeEntry], interrupts: Sequence[InterruptWithDecision]
) -> None:
    """Raise AlreadyDecided unless the entries repeat every decision made over AG-UI."""
    interrupt_ids = {entry.interrupt_id for entry in entries}
    for row, _, decision in interrupts:
        if decision and decision.entrance in AGUI and row.interrupt_id not in interrupt_ids:
            raise errors.AlreadyDecided(
                TranslatableMessage("This run was already resumed with other answers.")
            )


def _check_takes_results(results: Mapping[str, str], *, is_taken: bool) -> None:
    """Raise ToolResultRejected if the run that resumes has no use for results of a client."""
    if results and not is_taken:
        raise errors.ToolResultRejected(
            f"The run that resumes does not take the result of {next(iter(results))[:80]}: send it "
            "in the run after it."
        )


def _is_repeated(interrupts: Sequence[InterruptWithDecision]) -> bool:
    """Return True for a run that the server interrupted, which repeats its work."""
    return all(is_server_interrupt(interrupt.row) for interrupt in interrupts)


def _resume_input(
    interrupted: Run, interrupts: Sequence[InterruptWithDecision], request: RunRequest
) -> str:
    """
    Return the input of the resume: the client's, or the interrupted run's own if it is repeated.
    """
    if _is_repeated(interrupts):
        return input_without_conversation(interrupted)
    return json.dumps(request.input)


def _check_idle(latest: Run | None) -> None:
    if latest and latest.status == RunStatus.INTERRUPTED:
        raise errors.PendingInterrupts(
            TranslatableMessage(
                "This thread waits for answers to its interrupts. Send them as "
                "`resume`, or answer them in the inbox."
            )
        )
    _check_not_busy(latest)


def _check_history(thread: Thread, latest: Run | None, request: RunRequest) -> None:
    """Raises HistoryChanged."""
    sent = request.input.get("messages", ())
    if not sent:
        return
    stored = json.loads(thread.messages)
    check_unchanged(stored=stored, sent=sent)
    # After a failure a client may not know all of the answer, and sends its message once more.
    if latest is not None and latest.status == RunStatus.SUCCEEDED:
        check_not_cut(stored=stored, sent=sent)


def _check_not_busy(latest: Run | None) -> None:
    if latest and latest.status in ACTIVE_RUN_STATUSES:
        raise errors.ThreadBusy(
            TranslatableMessage(
                "This thread already has an active run. Wait for it to finish, or cancel it."
            )
        )


def _lock_or_create_thread(
    agent: Agent, request: RunRequest, *, with_conversation: bool
) -> tuple[Thread, datetime, bool]:
    """Return the thread, the time after it was locked, and whether it is new."""
    address: dict[str, Any] = {"agent": agent, "external_id": request.thread_id}
    with suppress(errors.NotFound):
        thread, now = lock_thread(
            with_team=bool(request.entries), with_conversation=with_conversation, **address
        )
        return thread, now, False
    now = database_now()
    thread = Thread(
        **address,
        team=agent.team,
        title=_title_from(request.input.get("messages", ())),
        client_messages="{}",
        created_at=now,
        updated_at=now,
    )
    if insert_if_absent([thread]):
        return thread, database_now(), True
    # A concurrent request has created the thread first.
    thread, now = lock_thread(with_conversation=with_conversation, **address)
    return thread, now, False


def _title_from(messages: Sequence[Any]) -> str:
    """Return the first line of the last user message."""
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            text = content if isinstance(content, str) else _text_of_parts(content)
            return (text.strip().splitlines() or [""])[0][:200]
    return ""


def _text_of_parts(parts: Any) -> str:
    texts = [part.get("text", "") for part in parts or () if part.get("type") == "text"]
    return " ".join(texts)


@transaction.atomic(durable=True)
def _record_rejection(
    agent: Agent, request: RunRequest, actor: Actor, rejection: errors.RequestRejected
) -> None:
    thread = None
    with suppress(errors.NotFound):
        thread, _ = lock_thread(agent=agent, external_id=request.thread_id)
    count = count_rejection(thread.pk if thread else agent.pk, actor, "resume", rejection.code)
    if not is_recorded(count):
        return
    audit_trail.record(
        "resume.rejected",
        actor,
        database_now(),
        thread=thread,
        team_id=agent.team_id,
        code=rejection.code,
        interrupts=[entry.interrupt_id[:200] for entry in request.entries][:100],
        **rejection_detail(count),
    )


def new_external_id() -> str:
    """Return an id for a thread or run that the client has not named."""
    return str(uuid4())
