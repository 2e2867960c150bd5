"""What a tool function knows about its call, and how it pauses to ask a person."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Never

from ag_ui.core import BaseEvent

from agents.sdk.events import progress_event, text_events
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn

Args = Mapping[str, Any]
EmitEvents = Callable[[Sequence[BaseEvent]], None]


#: A run may have 10,000 events; a function that counts in a loop would be at its end in seconds.
PROGRESS_SECONDS = 0.5


def _discard_events(_events: Sequence[BaseEvent]) -> None:
    """Where nobody listens, as in a test of a function."""


@dataclass(frozen=True)
class InterruptRequest:
    """A question about a tool call: whether it may be made, or what it needs to go on."""

    message: str
    reason: str = ""  #: "" stands for an approval, or for input if there is a schema
    response_schema: Mapping[str, Any] | None = None  #: of the answer; an approval has its own
    expires_in: ExpiresIn = TEAM_DEFAULT
    metadata: Mapping[str, Any] | None = None

    @property
    def is_approval(self) -> bool:
        return not self.reason and self.response_schema is None


class ToolError(Exception):
    """
    Nothing has happened, and this is why: what a function raises to have its text as the result.

    Also in a `once` call, which is in doubt after any other error. The text is for everyone who
    reads the thread, and for the model.
    """


class CallPaused(Exception):
    """The call waits for an answer."""

    def __init__(self, ask: InterruptRequest) -> None:
        super().__init__(ask.message)
        self.ask = ask


@dataclass(frozen=True)
class ToolContext:
    """A tool call, as its function sees it."""

    thread_id: str
    tool_call_id: str
    args: Args  #: as they were approved
    idempotency_key: str = ""  #: the same at every attempt; empty before the call is let go
    resumed: Any = None  #: the answer that restarted a paused call, never None then
    is_approved: bool = False  #: a person approved the call, by this answer or an earlier one
    interrupt_metadata: Mapping[str, Any] | None = None  #: of the interrupt that was answered
    original_input: Args | None = None  #: what the agent proposed, if a reviewer replaced it
    state: Mapping[str, Any] = field(default_factory=dict)  #: a copy of the thread's state
    emit: EmitEvents = field(default=_discard_events, repr=False, compare=False)
    _told: dict[str, float] = field(default_factory=dict, init=False, repr=False, compare=False)
    _texts: Iterator[int] = field(default_factory=lambda: count(1), init=False, repr=False)

    def emit_text(self, text: str) -> None:
        """
        Say something to the user while the function works; from a thread as well.

        What was said is not said again if the call is made again: texts count by their order.
        """
        if text:
            self.emit(text_events(f"{self.tool_call_id}-m{next(self._texts)}", text))

    def progress(self, label: str, *, done: int | None = None, total: int | None = None) -> None:
        """
        Tell how far the call is, in the one line that is kept up to date for it.

        For every piece of work, if you like: what says the same again, but for the number, is told
        twice a second, and at its end.
        """
        now, is_end = time.monotonic(), done is not None and done == total
        told_before = self._told.get(label, -PROGRESS_SECONDS)
        if now - told_before < PROGRESS_SECONDS and not is_end:
            return
        self._told.clear()
        self._told[label] = now
        self.emit([progress_event(f"{self.tool_call_id}-progress", label, done, total)])

    def interrupt(
        self,
        message: str,
        *,
        reason: str = "",
        response_schema: Mapping[str, Any] | None = None,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        metadata: Mapping[str, Any] | None = None,
    ) -> Never:
        """
        Pause the call: a person is asked, and the call starts again with their answer.

        Without a schema they approve or deny the call; with one they answer, and `resumed` is what
        they wrote. Pause before any effect: the function starts from its beginning again, and a
        `once` tool can only pause in its approval, before it is let go. `expires_in` is how long
        they have: None for no expiry, the tool's own where it is left out.
        """
        raise CallPaused(InterruptRequest(message, reason, response_schema, expires_in, metadata))
