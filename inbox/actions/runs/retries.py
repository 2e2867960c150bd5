"""Retrying a failed run with the same input and the same decisions."""

import json
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.runs.recovery import doubt_interrupts, interrupt_run
from inbox.actions.runs.repeated_interrupts import approved_calls, plan_repeats
from inbox.actions.runs.resume import queue_run, requester_columns
from inbox.actions.runs.start_run import StartedRun, new_external_id
from inbox.models import Run, Thread, ToolCall
from inbox.models.locks import lock_thread
from inbox.queries.agents.agents import endpoint_digest_of
from inbox.queries.people.access import permissions_in, require_current
from inbox.queries.runs.latest_run import latest_run
from inbox.queries.runs.run_lineage import Lineage, lineage_of
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import RunStatus, ToolCallState
from inbox.rules.text.messages import TranslatableMessage


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
        RetryRejected: the run has not failed, the thread has a later run, or an agent that would
            start from the beginning has made a `once` call.
    """
    with audit_rejected("retry", actor=actor, run_id=run_id):
        thread, now = lock_thread(runs=run_id)
        require_current(actor, thread.team_id, Permission.RUN, thread.agent_id, now=now)
        failed = Run.objects.select_related("retried_by").get(pk=run_id)
        retry: Run | None = getattr(failed, "retried_by", None)
        if retry is not None:
            return StartedRun(retry, replayed=True)
        _check_retry(thread, failed)
        lineage = lineage_of(failed)
        problem = _problem(lineage, thread, now)
        if problem is None and approved_calls(lineage.interrupts):
            _require_decide(actor, thread)
        doubtful = list(_started_once_calls(thread, failed).filter(state=ToolCallState.IN_DOUBT))
        if not restartable:
            _check_no_once_calls(thread, failed)
        retry = queue_run(
            thread=thread,
            now=now,
            external_id=new_external_id(),
            input_text=_input(failed, restartable=restartable),
            started_by=actor.label,
            columns={
                "retries": failed,
                "resume": failed.resume,
                "parent_external_id": failed.parent_external_id,
                **requester_columns(failed),
            },
        )
        audit_trail.record(
            "run.retried", actor, now, thread=thread, run=retry, retries=str(failed.pk)
        )
        repeats = plan_repeats(lineage.interrupts, problem) if problem else []
        if doubtful or repeats:
            message = "It is not known whether {tool} happened. Did it?"
            doubts = doubt_interrupts(retry, doubtful, message)
            interrupt_run(thread, retry, now, interrupts=doubts, repeats=repeats)
            wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
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
    since = run.started_at or run.queued_at
    calls = ToolCall.objects.filter(thread=thread, effect="once", started_at__gte=since)
    return calls.order_by("pk")


def _input(run: Run, *, restartable: bool) -> str:
    """Return the run's input, without the state, which a restartable agent finds in the thread."""
    return json.dumps({**json.loads(run.input), "state": None}) if restartable else run.input
