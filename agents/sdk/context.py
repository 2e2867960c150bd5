"""The context of a tool call: its data, progress, and interrupts raised by the function."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Never

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.sdk.declarations import schema_of
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn, check_duration
from agents.sdk.present import Present
from agents.storable import storable_text

Args = Mapping[str, Any]
EmitEvents = Callable[[Sequence[BaseEvent]], None]


#: Progress is throttled because a run may have at most 10,000 events.
PROGRESS_SECONDS = 0.5


def _discard_events(_events: Sequence[BaseEvent]) -> None:
    """Discard events, as in a test of a function."""


@dataclass(frozen=True)
class AttachedFile:
    """A file that reviewers see with a request; its type is read from its content."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class InterruptRequest:
    """The content of an interrupt about a tool call: an approval, or a request for input."""

    message: str
    reason: str = ""  #: "" means approval, or input_required if there is a schema
    response_schema: Mapping[str, Any] | None = None  #: of the answer; an approval has its own
    expires_in: ExpiresIn = TEAM_DEFAULT
    metadata: Mapping[str, Any] | None = None
    present: Present | None = None  #: how reviewers see it
    files: Sequence[AttachedFile] = ()

    @property
    def is_approval(self) -> bool:
        return not self.reason and self.response_schema is None


class ToolError(Exception):
    """
    The call failed without an effect; the text of the error is the result.

    Also of a `once` call, which is in doubt after any other error. Everyone who can read the
    thread sees the text, and so does the model.
    """


class CallPaused(Exception):
    """The call waits for an answer."""

    def __init__(self, request: InterruptRequest) -> None:
        super().__init__(request.message)
        self.request = request


@dataclass(frozen=True)
class ToolContext:
    """The tool call that a function executes."""

    thread_id: str
    tool_call_id: str
    args: Args  #: the approved arguments
    idempotency_key: str = ""  #: the same at every attempt; empty during the approval
    resumed: Any = None  #: the answer that restarted a paused call; null is an answer, too
    is_resumed: bool = False  #: an answer restarted the call; False in a first call
    is_approved: bool = False  #: by this answer or an earlier one
    interrupt_metadata: Mapping[str, Any] | None = None  #: of the interrupt that was answered
    original_input: Args | None = None  #: as the agent proposed them, if a reviewer edited them
    state: Mapping[str, Any] = field(default_factory=dict)  #: a copy of the thread's state
    emit: EmitEvents = field(default=_discard_events, repr=False, compare=False)
    _last_progress: dict[str, float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _text_numbers: Iterator[int] = field(default_factory=lambda: count(1), init=False, repr=False)

    def emit_text(self, text: str) -> None:
        """
        Send a message to the user while the function works. Thread-safe.

        A repeated call does not send its messages again; they are identified by their order.
        """
        if text:
            self.emit(text_events(f"{self.tool_call_id}-m{next(self._text_numbers)}", text))

    def progress(self, label: str, *, done: int | None = None, total: int | None = None) -> None:
        """
        Update the progress line of the call.

        May be called for every item: updates with the same label are sent twice a second, and
        at the end.
        """
        now, is_end = time.monotonic(), done is not None and done == total
        last_update = self._last_progress.get(label, -PROGRESS_SECONDS)
        if now - last_update < PROGRESS_SECONDS and not is_end:
            return
        self._last_progress.clear()
        self._last_progress[label] = now
        self.emit([progress_event(f"{self.tool_call_id}-progress", label, done, total)])

    def interrupt(
        self,
        message: str,
        *,
        reason: str = "",
        response_schema: Any = None,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        metadata: Mapping[str, Any] | None = None,
        present: Present | None = None,
        files: Sequence[AttachedFile] = (),
    ) -> Never:
        """
        Pause the call with an interrupt; the function starts again with the answer.

        Without a schema a person approves or denies the call; with one (a JSON Schema, or a type
        such as `str`) they answer, and `resumed` is the answer. Pause unless `is_resumed`, and
        before any effect, because the function starts from its beginning; a `once` tool can only
        pause in its approval function. `expires_in`: None for no expiry; the default is the
        tool's. An approval is bound to the bytes of `files`.
        """
        check_duration("call.interrupt", "expires_in", expires_in)
        schema = schema_of("call.interrupt: response_schema=", response_schema)
        raise CallPaused(
            InterruptRequest(message, reason, schema, expires_in, metadata, present, files)
        )


def text_events(message_id: str, text: str, *, subagent: str | None = None) -> list[BaseEvent]:
    """Build one complete assistant message."""
    return [
        agui.TextMessageStartEvent(
            message_id=message_id, role="assistant", subagent_run_id=subagent
        ),
        agui.TextMessageContentEvent(
            message_id=message_id, delta=storable_text(text), subagent_run_id=subagent
        ),
        agui.TextMessageEndEvent(message_id=message_id, subagent_run_id=subagent),
    ]


def tool_call_events(
    tool_call_id: str, name: str, arguments: str, message_id: str | None
) -> list[BaseEvent]:
    """Build one complete tool call, with its arguments as JSON text."""
    return [
        agui.ToolCallStartEvent(
            tool_call_id=tool_call_id, tool_call_name=name, parent_message_id=message_id
        ),
        agui.ToolCallArgsEvent(tool_call_id=tool_call_id, delta=arguments),
        agui.ToolCallEndEvent(tool_call_id=tool_call_id),
    ]


def progress_event(message_id: str, label: str, done: int | None, total: int | None) -> BaseEvent:
    """Build a progress activity; the next one with its id replaces it."""
    content: dict[str, Any] = {"label": label, "done": done, "total": total}
    return agui.ActivitySnapshotEvent(
        message_id=message_id,
        activity_type="progress",
        content={name: value for name, value in content.items() if value is not None},
        replace=True,
    )
