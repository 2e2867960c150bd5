"""Ending a run from outside its worker: cancelled, failed, or interrupted."""

import json
from datetime import datetime

from ag_ui.core import BaseEvent, RunErrorEvent, RunFinishedEvent

from agents.agui import wire
from agents.agui.sequence import Sequence
from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.runs import event_log, tool_calls
from inbox.actions.webhooks import outbox
from inbox.models import Run, Thread
from inbox.models.moves import move_row
from inbox.queries.runs.conversations import committed_events, conversation_before
from inbox.rules import errors
from inbox.rules.people.access import ENGINE, Actor
from inbox.rules.runs.states import RunStatus

#: The status of a run by the type of its outcome in RUN_FINISHED.
STATUS_BY_OUTCOME = {
    "success": RunStatus.SUCCEEDED,
    "interrupt": RunStatus.INTERRUPTED,
    "cancelled": RunStatus.CANCELLED,
}


def run_error(code: str) -> RunErrorEvent:
    """Return the event that tells clients of an error, without its details."""
    return RunErrorEvent(message=errors.PUBLIC_MESSAGES[code], code=code)


def fail_run(
    *,
    thread: Thread,
    run: Run,
    failure: errors.RunFailure,
    now: datetime,
    actor: Actor = ENGINE,
) -> None:
    """Fail an active run that no worker may drive; the caller holds the lock."""
    before = run.status
    close_run(thread=thread, run=run, terminal=run_error(failure.code), now=now)
    audit_trail.record(
        "run.failed",
        actor,
        now,
        thread=thread,
        run=run,
        state=(before, RunStatus.FAILED),
        code=failure.code,
        why=str(failure),
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)


def close_run(
    *, thread: Thread, run: Run, terminal: RunErrorEvent | RunFinishedEvent, now: datetime
) -> None:
    """
    End a run from outside its worker; the caller holds the lock.

    Open messages, steps and tool calls are closed first, so that the stream is valid AG-UI. The
    fence is incremented, so that a worker that still drives the run can write nothing more.
    """
    status, error_code = RunStatus.FAILED, ""
    if isinstance(terminal, RunErrorEvent):
        error_code = terminal.code or ""
    elif terminal.outcome is not None:
        status = STATUS_BY_OUTCOME[terminal.outcome.type]
    events = [event for event, _ in committed_events(run)]
    sequence, conversation = Sequence(), conversation_before(run, thread)
    opening: list[BaseEvent] = []
    if not events:
        opening.append(
            wire.run_started(thread.external_id, run.external_id, run.parent_external_id or None)
        )
    for event in [*events, *opening]:
        sequence.check(event)
        conversation.apply(event)
    closing = sequence.closing_events(suspended=status is RunStatus.INTERRUPTED)
    for event in closing:
        conversation.apply(event)
    if status is RunStatus.INTERRUPTED:
        closing += [conversation.state_snapshot(), conversation.messages_snapshot()]
    frames = [event_log.encode_frame(event) for event in [*opening, *closing, terminal]]
    columns = conversation.to_json()
    thread.messages, thread.state = json.dumps(columns["messages"]), json.dumps(columns["state"])
    thread.client_messages = json.dumps(columns["clientMessages"])
    changed = ["messages", "state", "client_messages"]
    event_log.append_frames(thread=thread, run=run, frames=frames, now=now, changed=changed)
    tool_calls.mark_in_doubt(thread)
    move_row(run, status)
    run.fence += 1
    run.error_code = error_code
    run.lease_until = None
    run.finished_at = now
    run.save(update_fields=["status", "fence", "error_code", "lease_until", "finished_at"])
    outbox.run_ended(thread=thread, run_id=run.pk, status=status, now=now)
