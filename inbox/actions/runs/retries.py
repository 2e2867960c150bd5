"""Retrying a failed run with the same input and the same decisions."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from ag_ui.core import Interrupt as WireInterrupt
from django.db.models import QuerySet
from uuid6 import uuid7

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.limits.limit_checks import check_new_run
from inbox.actions.runs.pulled_runs import begin_pulled_run, reopen_request
from inbox.actions.runs.recovery import doubt_interrupts, interrupt_run
from inbox.actions.runs.resume import queue_run, requester_columns
from inbox.actions.runs.start_run import StartedRun, new_external_id
from inbox.actions.runs.tool_calls import save_calls
from inbox.models import Interrupt, Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.models.moves import move_row
from inbox.queries.agents.agents import endpoint_digest_of
from inbox.queries.people.access import permissions_in, require_current
from inbox.queries.runs.interrupt_states import InterruptWithDecision
from inbox.queries.runs.latest_run import latest_run
from inbox.queries.runs.queued_runs import is_resume
from inbox.queries.runs.run_lineage import Lineage, lineage_of
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus, Reason, RunStatus, ToolCallState
from inbox.rules.text.messages import TranslatableMessage

_NOT_STARTED = (ToolCallState.PROPOSED, ToolCallState.LAPSED)


def retry_run(*, run_id: UUID, actor: Actor, restartable: bool) -> StartedRun:
    """
    Queue a run that repeats the work of a failed one.

    It continues from the interrupted run that the failed one resumed, with its checkpoint, the same
    answers, and the results of settled tool calls. A restartable agent continues where the failed
    run stopped; any other starts from the beginning. If a `once` call may have happened, the retry
    is interrupted before it starts, to ask a person about the outcome.

    Safe to replay: a run is retried once, and replays return that retry.

    Raises:
        NotFound.
        Forbidden: the actor may not run the agent, or may not decide while the retry would execute
            approved calls.
        LimitReached: the team or the agent has too much under way already.
        RetryRejected: the run has not failed, the thread has a later run, or an agent that would
            start from the beginning has made a `once` call.
    """
    with audit_rejected("retry", actor=actor, run_id=run_id):
        thread, now = lock_thread(runs=run_id)
        require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
        failed_run = Run.objects.select_related("retried_by").get(pk=run_id)
        retry: Run | None = getattr(failed_run, "retried_by", None)
        if retry is not None:
            return StartedRun(retry, replayed=True)
        _check_retry(thread, failed_run)
        lineage = lineage_of(failed_run)
        problem = _problem(lineage, thread, now)
        if problem is None and _approved_calls(lineage.interrupts):
            _require_decide(actor, thread)
        calls_in_doubt = list(
            _started_once_calls(thread, failed_run).filter(state=ToolCallState.IN_DOUBT)
        )
        if not restartable:
            _check_no_once_calls(thread, failed_run)
        if not is_resume(failed_run):
            check_new_run(
                team_id=thread.team_id,
                agent_id=thread.agent_id,
                is_new_thread=False,
                locks_team=False,
            )
        # A restartable agent finds its state in the thread.
        without_state = json.dumps({**json.loads(failed_run.input), "state": None})
        retry = queue_run(
            thread=thread,
            now=now,
            external_id=new_external_id(),
            input_text=without_state if restartable else failed_run.input,
            started_by=actor.label,
            columns={
                "retries": failed_run,
                "resume": failed_run.resume,
                "parent_external_id": failed_run.parent_external_id,
                **requester_columns(failed_run),
                "retriers": failed_run.retriers_with(actor),
            },
        )
        audit_trail.record(
            "run.retried", actor, now, thread=thread, run=retry, retries=str(failed_run.pk)
        )
        repeats = _plan_repeats(lineage.interrupts, problem, now) if problem else []
        if calls_in_doubt or repeats:
            message = "The result of {tool} is unknown. Did the call take effect?"
            doubts = doubt_interrupts(retry, calls_in_doubt, message)
            interrupt_run(thread, retry, now, interrupts=doubts, repeats=repeats)
            if retry.pulled:
                reopen_request(thread)
            wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
        elif retry.pulled:
            begin_pulled_run(thread=thread, run=retry, now=now)
        return StartedRun(retry, replayed=False)


def _require_decide(actor: Actor, thread: Thread) -> None:
    """Raise Forbidden unless the actor may decide: executing approved calls again is a decision."""
    if Permission.DECIDE not in permissions_in(actor, thread.team_id, thread.agent_id):
        raise errors.Forbidden(
            TranslatableMessage(
                "Retrying this run would run approved calls, which requires the decide permission."
            )
        )


def _problem(lineage: Lineage, thread: Thread, now: datetime) -> errors.RunFailure | None:
    """Return the reason why the run's decisions cannot be used again, or None."""
    try:
        lineage.check(thread, now, endpoint=endpoint_digest_of(thread.agent_id))
    except errors.RunFailure as problem:
        return problem
    return None


def _check_retry(thread: Thread, run: Run) -> None:
    if run.status != RunStatus.FAILED:
        raise errors.RetryRejected(
            TranslatableMessage("Only failed runs can be retried, and this run has not failed.")
        )
    if latest_run(thread) != run:
        raise errors.RetryRejected(
            TranslatableMessage("This thread has continued since the run failed.")
        )


def _check_no_once_calls(thread: Thread, run: Run) -> None:
    """Raise RetryRejected if the run made a `once` call; its repetition would get a new id."""
    call = _started_once_calls(thread, run).filter(run=run).first()
    if call is not None:
        raise errors.RetryRejected(
            TranslatableMessage(
                "{tool} must not be called twice, and this agent would start from the beginning.",
                tool=call.name,
            )
        )


def _started_once_calls(thread: Thread, run: Run) -> QuerySet[ToolCall]:
    """Return the `once` calls that were started since the run was first claimed."""
    start_time = run.started_at or run.queued_at
    calls = ToolCall.objects.filter(thread=thread, effect="once", started_at__gte=start_time)
    return calls.order_by("pk")


def _approved_calls(interrupts: Sequence[InterruptWithDecision]) -> list[ToolCall]:
    """Return the approved calls that a retry executes without asking about their outcome first."""
    return [
        call
        for item in interrupts
        if (call := item.row.tool_call) is not None
        and item.row.reason == Reason.TOOL_CALL
        and item.row.status == InterruptStatus.RESOLVED
        and (
            call.state == ToolCallState.PROPOSED
            or (call.state == ToolCallState.STARTED and call.effect != "once")
        )
    ]


def _plan_repeats(
    interrupts: Sequence[InterruptWithDecision], problem: errors.RunFailure, now: datetime
) -> list[tuple[Interrupt, WireInterrupt]]:
    """
    Return the interrupts to repeat, as (row, new interrupt), and reset their calls to proposals.

    After a lapsed approval only approvals are repeated, and other decisions are used again. After
    any other failure all interrupts are repeated. Calls that have started are not.

    Raises:
        RetryRejected: no interrupt can be repeated.
    """
    has_lapsed = isinstance(problem, errors.ApprovalLapsed)
    repeatable = [item for item in interrupts if _is_repeatable(item.row, only_calls=has_lapsed)]
    if not repeatable:
        raise errors.RetryRejected(
            TranslatableMessage(
                "The answers to this run cannot be verified, so it cannot be retried."
            )
        )
    rows = [item.row for item in repeatable]
    calls = {row.tool_call.pk: row.tool_call for row in rows if row.tool_call is not None}
    for call in calls.values():
        move_row(call, ToolCallState.PROPOSED)
        call.edited_args, call.verdict, call.decided_by = None, "", ""
        call.start_before = None  # an external program gets a new time with the new approval
    save_calls(calls.values(), ["state", "edited_args", "verdict", "decided_by", "start_before"])
    return [(_latest(item), _copy(item.row, now)) for item in repeatable]


def _latest(item: InterruptWithDecision) -> Interrupt:
    """Return the interrupt that was decided last: the original, or the one that repeated it."""
    return item.decision.interrupt if item.decision is not None else item.row


def _is_repeatable(row: Interrupt, *, only_calls: bool) -> bool:
    if row.tool_call is None:
        return not only_calls
    state = ToolCallState(row.tool_call.state)
    if only_calls:
        return row.reason == Reason.TOOL_CALL and state in _NOT_STARTED
    return state in (*_NOT_STARTED, ToolCallState.NOT_RUN)


def _copy(row: Interrupt, now: datetime) -> WireInterrupt:
    """Return the interrupt under a new id, with its original time to answer starting now."""
    interrupt = WireInterrupt.model_validate_json(row.body)
    expires_at = None
    if row.expires_at:
        expires_at = (now + (row.expires_at - row.created_at)).isoformat()
    return interrupt.model_copy(update={"id": str(uuid7()), "expires_at": expires_at})
