"""The timeline of a thread: messages, tool calls, interrupts and runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from agents.agui.content import media_parts, text_parts
from inbox.queries.decisions.interrupts import listed_decision
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import (
    ACTIVE_RUN_STATUSES,
    CLIENT_EFFECT,
    InterruptStatus,
    RunStatus,
    ToolCallState,
)
from inbox.rules.schema.mask_agui import masked_message, secrets_of_arguments
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.decisions.decision_labels import DecisionLabel, decision_label_of
from inbox.web.files.file_cards import FileCard
from inbox.web.files.message_parts import PartCard, files_of_messages, part_cards
from inbox.web.runs.conversation import speaker_of

if TYPE_CHECKING:
    from inbox.models import Interrupt, Run, ToolCall


_MAX_MESSAGES = 200

CALL_STATES = {
    ToolCallState.PROPOSED: (gettext_noop("Proposed"), "circle-dashed", "quiet"),
    ToolCallState.STARTED: (gettext_noop("Running"), "loader", "me"),
    ToolCallState.SETTLED: (gettext_noop("Done"), "circle-check", "ok"),
    ToolCallState.IN_DOUBT: (gettext_noop("In doubt"), "circle-help", "warn"),
    ToolCallState.NOT_RUN: (gettext_noop("Not run"), "circle-slash", "quiet"),
    ToolCallState.LAPSED: (gettext_noop("Approval expired"), "alarm-clock-off", "warn"),
}
RUN_STATES = {
    RunStatus.QUEUED: (gettext_noop("Queued"), "hourglass", "quiet"),
    RunStatus.RUNNING: (gettext_noop("Running"), "loader", "me"),
    RunStatus.INTERRUPTED: (gettext_noop("Waiting for a decision"), "circle-pause", "warn"),
    RunStatus.SUCCEEDED: (gettext_noop("Finished"), "circle-check", "ok"),
    RunStatus.FAILED: (gettext_noop("Failed"), "circle-x", "bad"),
    RunStatus.CANCELLED: (gettext_noop("Cancelled"), "circle-slash", "quiet"),
}


@dataclass(frozen=True)
class CallView:
    """A tool call inside a message."""

    name: str
    args: str
    edited_args: str
    result: str | None
    word: str
    icon: str
    tone: str
    interrupts: Sequence[tuple[Interrupt, DecisionLabel | None]] = ()  #: those about the call
    parts: Sequence[PartCard] = ()  #: of the result


@dataclass(frozen=True)
class Progress:
    """The progress of an activity as displayed numbers."""

    done: str
    total: str


@dataclass(frozen=True)
class Message:
    id: str
    speaker: str
    icon: str
    role: str
    text: str
    calls: Sequence[CallView] = ()
    progress: Progress | None = None
    parts: Sequence[PartCard] = ()


@dataclass(frozen=True)
class RunErrors:
    """Errors of runs, by run."""

    terminal_events: Mapping[UUID, str]  #: as JSON texts
    exceptions: Mapping[UUID, Sequence[str]]  #: for the author of the agent


@dataclass(frozen=True)
class RunLine:
    """A run in one line."""

    run: Run
    word: str
    icon: str
    tone: str
    at: datetime
    error: str
    exceptions: Sequence[str] = ()  #: for the author of the agent
    retry_url: str = ""  #: "" unless the run can be retried
    cancel_url: str = ""  #: "" unless the run is active, or the user may cancel its open interrupts
    has_open_requests: bool = False  #: cancelling it cancels these


@dataclass(frozen=True)
class ThreadTimeline:
    messages: Sequence[Message]
    hidden_count: int  #: the number of earlier messages left out
    runs: Sequence[RunLine]
    open_interrupts: Sequence[Interrupt]
    active: RunLine | None = None

    @property
    def last_text(self) -> str:
        """Return what the agent said last, "" if it said nothing."""
        texts = (row.text for row in reversed(self.messages) if row.role == "assistant")
        return next(filter(None, texts), "")


def timeline_of(
    *,
    thread_id: UUID,
    messages: Sequence[Mapping[str, Any]],
    client_messages: Mapping[str, str],
    calls: Iterable[ToolCall],
    runs: Sequence[Run],
    errors: RunErrors,
    interrupts: Sequence[Interrupt],
    actor: Actor,
    may_decide: bool,
    show_all: bool = False,
) -> ThreadTimeline:
    """Build the timeline; `messages` are AG-UI messages as JSON values."""
    open_interrupts = [row for row in interrupts if row.status == InterruptStatus.OPEN]
    waiting = {row.run_id for row in open_interrupts}
    files = files_of_messages(thread_id, messages)
    results = {message["toolCallId"]: message for message in messages if message["role"] == "tool"}
    calls_by_id = {
        call.tool_call_id: _with_result(
            _call(call, interrupts, actor.user_id), results.get(call.tool_call_id), files
        )
        for call in calls
    }
    numbered = [
        (number, message)
        for number, message in enumerate(messages)
        if not (message["role"] == "tool" and message["toolCallId"] in calls_by_id)
    ]
    displayed = numbered if show_all else numbered[-_MAX_MESSAGES:]
    last = runs[-1] if runs else None
    lines = [
        _run(
            run,
            errors,
            is_last=run is last,
            may_cancel_requests=run.pk in waiting and (may_decide or run.is_requested_by(actor)),
        )
        for run in runs
    ]
    return ThreadTimeline(
        messages=[
            _message(number, message, calls_by_id, client_messages, files)
            for number, message in displayed
        ],
        hidden_count=len(numbered) - len(displayed),
        runs=lines[::-1],
        open_interrupts=open_interrupts,
        active=next((line for line, run in zip(lines, runs, strict=True) if _is_active(run)), None),
    )


def _message(
    number: int,
    message: Mapping[str, Any],
    calls_by_id: Mapping[str, CallView],
    client_messages: Mapping[str, str],
    files: Mapping[UUID, FileCard],
) -> Message:
    speaker, icon = speaker_of(message, client_messages)
    label, progress = _progress(message)
    return Message(
        id=f"message-{number}",
        speaker=speaker,
        icon=icon,
        role=message["role"],
        text=escape_invisible(label or _text(masked_message(message).get("content"))),
        calls=[
            calls_by_id.get(call["id"]) or _unfinished(call)
            for call in message.get("toolCalls") or ()
        ],
        progress=progress,
        parts=part_cards(message.get("content"), files),
    )


def _progress(message: Mapping[str, Any]) -> tuple[str, Progress | None]:
    """Return an activity's label and progress, "" and None if it has another form."""
    content = message.get("content")
    if message.get("activityType") != "progress" or not isinstance(content, dict):
        return "", None
    label: Any = content.get("label")
    done: Any = content.get("done")
    total: Any = content.get("total")
    if not isinstance(label, str) or not set(content) <= {"label", "done", "total"}:
        return "", None
    if done is None and total is None:
        return label, None
    if not (_is_count(done) and _is_count(total) and 0 <= done <= total > 0):
        return "", None
    return label, Progress(str(done), str(total))


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value < 1e12


def _text(content: Any) -> str:
    """Return a message's content as text, an activity's as JSON."""
    return json_text(content) if isinstance(content, Mapping) else text_parts(content)


def _with_result(
    call: CallView, message: Mapping[str, Any] | None, files: Mapping[UUID, FileCard]
) -> CallView:
    """Return a call whose result has parts that are not text, with cards for these."""
    if message is None or not media_parts(message.get("content")):
        return call
    content = masked_message(message)["content"]
    return replace(
        call, result=escape_invisible(text_parts(content)), parts=part_cards(content, files)
    )


def _call(call: ToolCall, interrupts: Iterable[Interrupt], me: int | None) -> CallView:
    word, icon, tone = CALL_STATES[ToolCallState(call.state)]
    if call.effect == CLIENT_EFFECT:
        word = gettext_noop("Result from the client")
    rows = [row for row in interrupts if row.tool_call_id == call.pk]
    secrets = secrets_of_arguments(*(row.body for row in rows))
    return CallView(
        name=escape_invisible(call.name),
        args=json_text(secrets.masked(call.proposed)),
        edited_args="" if call.edited_args is None else secrets.text(call.edited_args),
        result=None if call.result is None else NAMES.text(call.result),
        word=gettext(word),
        icon=icon,
        tone=tone,
        interrupts=[(row, decision_label_of(row, listed_decision(row), me)) for row in rows],
    )


def _unfinished(call: Mapping[str, Any]) -> CallView:
    """Return a call without a row: still streaming, or made by another server."""
    function = call["function"]
    text = escape_invisible(NAMES.json(function["arguments"]))
    return CallView(
        escape_invisible(function["name"]), text, "", None, gettext("Writing"), "pen-line", "quiet"
    )


def _run(run: Run, errors: RunErrors, *, is_last: bool, may_cancel_requests: bool) -> RunLine:
    word, icon, tone = RUN_STATES[RunStatus(run.status)]
    error = errors.terminal_events.get(run.pk, "")
    message = json.loads(error).get("message", "") if error else ""
    return RunLine(
        run=run,
        word=gettext(word),
        icon=icon,
        tone=tone,
        at=run.started_at or run.queued_at,
        error=": ".join(part for part in (run.error_code, escape_invisible(message)) if part),
        exceptions=[escape_invisible(text) for text in errors.exceptions.get(run.pk, ())],
        retry_url=reverse("retry", args=[run.pk])
        if is_last and run.status == RunStatus.FAILED
        else "",
        cancel_url=reverse("cancel", args=[run.pk])
        if _is_active(run) or may_cancel_requests
        else "",
        has_open_requests=may_cancel_requests,
    )


def _is_active(run: Run) -> bool:
    return RunStatus(run.status) in ACTIVE_RUN_STATUSES
