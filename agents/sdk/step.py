"""One context of a script: what it says, proposes and asks, as events with reproducible ids."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, RunAgentInput
from pydantic_core import to_jsonable_python

from agents.agui.strict_json import dumps
from agents.port import InterruptAnswer, RunContext
from agents.sdk.context import InterruptRequest
from agents.sdk.events import text_events
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn, first_specified, format_expires_at
from agents.sdk.schemas import approval_schema
from agents.sdk.tools import InterruptTool, Tool

#: Deltas in a row before others get a context on the event loop.
_DELTAS_PER_BREATH = 64
#: The kind of id of calls that cannot be made.
_NOTHING = "x"


@dataclass(frozen=True)
class Clock:
    """The time, and how to wait for it; tests bring their own."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class ProposedCall:
    """A tool call that was proposed in this context and has neither been asked about nor made."""

    tool: Tool | InterruptTool
    tool_call_id: str
    args: dict[str, Any]
    expires_in: ExpiresIn


@dataclass
class StepContext:
    """
    What a script step works with.

    Ids derive from `run_key` and the order of calls, so a run that is driven again says the same.
    """

    run_input: RunAgentInput
    ctx: RunContext
    clock: Clock
    proposed: list[ProposedCall] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)  #: a context that has some will pause
    _counts: dict[str, int] = field(default_factory=dict)
    _message_id: str | None = None

    @property
    def answers(self) -> Sequence[InterruptAnswer]:
        """The decisions that this run resumes with; empty in a first run."""
        return self.ctx.answers

    def new_id(self, kind: str) -> str:
        """Make the next id of a kind, such as `m` for messages."""
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{self.ctx.run_key}-{kind}{number}"

    def open_message(self) -> str:
        """Make the id of a message; what is proposed next belongs to it."""
        message_id = self._message_id = self.new_id("m")
        return message_id

    def text_message(self, text: str, *, subagent: str | None = None) -> list[BaseEvent]:
        """Build one complete assistant message."""
        return text_events(self.open_message(), text, subagent=subagent)

    async def stream_message(
        self, parts: Iterable[str], *, every: timedelta = timedelta()
    ) -> AsyncIterator[BaseEvent]:
        """Build one assistant message piece by piece, the pieces `every` so often apart."""
        message_id = self.open_message()
        seconds = every.total_seconds()
        yield agui.TextMessageStartEvent(message_id=message_id, role="assistant")
        for number, part in enumerate(parts):
            yield agui.TextMessageContentEvent(message_id=message_id, delta=part)
            if seconds:
                await self.clock.sleep(seconds)
            elif number % _DELTAS_PER_BREATH == 0:
                await asyncio.sleep(0)
        yield agui.TextMessageEndEvent(message_id=message_id)

    def propose(
        self,
        tool: Tool | InterruptTool,
        args: Mapping[str, Any],
        *,
        expires_in: ExpiresIn = TEAM_DEFAULT,
    ) -> list[BaseEvent]:
        """
        Propose a tool call within the last message said.

        At the end of the step the call is made, or its interrupt ends the run and expires after
        `expires_in`.

        Raises:
            InvalidArguments: the tool does not take these arguments.
        """
        tool.check_arguments(args)
        # As JSON, also of dates and models, and apart from what the author does to them later.
        written = to_jsonable_python(dict(args))
        call_id = self.new_id("t")
        self.proposed.append(ProposedCall(tool, call_id, written, expires_in))
        return self._proposal(call_id, tool.name, written)

    def propose_invalid_call(self, name: str) -> tuple[str, list[BaseEvent]]:
        """Show a call that cannot be made, so that it can have a result; return its id as well."""
        call_id = self.new_id(_NOTHING)
        return call_id, self._proposal(call_id, name[:64] or "unnamed", {})

    @staticmethod
    def is_invalid_call(tool_call_id: str) -> bool:
        """Whether this is the id of a call that could not be made."""
        return tool_call_id.rpartition("-")[2].startswith(_NOTHING)

    def _proposal(self, call_id: str, name: str, args: dict[str, Any]) -> list[BaseEvent]:
        return [
            agui.ToolCallStartEvent(
                tool_call_id=call_id, tool_call_name=name, parent_message_id=self._message_id
            ),
            agui.ToolCallArgsEvent(tool_call_id=call_id, delta=dumps(args)),
            agui.ToolCallEndEvent(tool_call_id=call_id),
        ]

    def add_interrupt(
        self, reason: str, *, expires_in: ExpiresIn = TEAM_DEFAULT, **fields: Any
    ) -> Interrupt:
        """Ask something that is not about a tool call; the run pauses at the end of the step."""
        if expires_in is not TEAM_DEFAULT:
            # A null that is written says that there is no expiry; without one the team's counts.
            fields["expires_at"] = None if expires_in is None else self.expires_at(expires_in)
        asked = Interrupt(id=self.new_id("i"), reason=reason, **fields)
        self.interrupts.append(asked)
        return asked

    @property
    def state(self) -> Mapping[str, Any]:
        """The thread's state, empty unless it is an object."""
        state = self.run_input.state
        return deepcopy(state) if isinstance(state, dict) else {}

    def add_tool_interrupt(
        self,
        tool: Tool | InterruptTool,
        tool_call_id: str,
        ask: InterruptRequest,
        expires_in: ExpiresIn,
    ) -> None:
        """Ask a person about a tool call: whether it may be made, or what it needs to go on."""
        fields: dict[str, Any] = {"response_schema": ask.response_schema}
        if isinstance(tool, Tool) and ask.is_approval:
            fields["response_schema"] = approval_schema(tool)
        if ask.metadata is not None:
            fields["metadata"] = dict(ask.metadata)
        self.add_interrupt(
            "tool_call" if ask.is_approval else ask.reason or "input_required",
            message=ask.message,
            tool_call_id=tool_call_id,
            expires_in=first_specified(ask.expires_in, expires_in, tool.expires_in),
            **fields,
        )

    def tool_result(self, tool_call_id: str, content: str) -> BaseEvent:
        """Build the result of a tool call, under the id that proposed it."""
        return agui.ToolCallResultEvent(
            message_id=self.new_id("r"), tool_call_id=tool_call_id, content=content, role="tool"
        )

    def expires_at(self, lifetime: timedelta) -> str:
        """Write the time when an interrupt of this lifetime expires, for `expiresAt`."""
        return format_expires_at(lifetime, self.clock.now())

    def run_finished(self) -> agui.RunFinishedEvent:
        """Build the last event of the run: interrupted if anything was asked, else success."""
        outcome: agui.RunFinishedOutcome = agui.RunFinishedSuccessOutcome()
        if self.interrupts:
            outcome = agui.RunFinishedInterruptOutcome(interrupts=self.interrupts)
        return agui.RunFinishedEvent(
            thread_id=self.run_input.thread_id, run_id=self.run_input.run_id, outcome=outcome
        )
