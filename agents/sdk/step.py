"""The context of script steps: builders of events with reproducible ids."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, RunAgentInput
from pydantic_core import to_jsonable_python

from agents.agui.strict_json import dumps_arguments
from agents.port import InterruptAnswer, RunContext
from agents.sdk.context import AttachedFile, InterruptRequest, text_events, tool_call_events
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn, expiry_field, first_specified, utc_now
from agents.sdk.present import with_present
from agents.sdk.schemas import approval_schema
from agents.sdk.tools import InterruptTool, InvalidArguments, Tool
from agents.storable import storable, storable_text

#: Deltas in a row before other tasks run on the event loop.
_DELTAS_PER_YIELD = 64
#: The id kind of invalid calls.
_INVALID = "x"


@dataclass(frozen=True)
class Clock:
    """The time and sleep functions, replaced in tests."""

    now: Callable[[], datetime] = utc_now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class ProposedCall:
    """A tool call proposed in this step that is neither executed nor interrupted yet."""

    tool: Tool | InterruptTool
    tool_call_id: str
    args: dict[str, Any]
    expires_in: ExpiresIn


@dataclass
class StepContext:
    """
    The context of a step: it builds events and collects proposed calls and interrupts.

    Ids derive from `run_key` and the order of calls, so a second attempt yields the same events.
    """

    run_input: RunAgentInput
    ctx: RunContext
    clock: Clock
    proposed: list[ProposedCall] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)  #: the run pauses if there are any
    _counts: dict[str, int] = field(default_factory=dict)
    _files: dict[str, Sequence[AttachedFile]] = field(default_factory=dict)  #: by interrupt id
    _message_id: str | None = None

    @property
    def answers(self) -> Sequence[InterruptAnswer]:
        """The answers that this run resumes with; empty in a first run."""
        return self.ctx.answers

    def new_id(self, kind: str) -> str:
        """Return the next id of a kind, such as `m` for messages."""
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{self.ctx.run_key}-{kind}{number}"

    def open_message(self) -> str:
        """Return a new message id; later proposals belong to this message."""
        message_id = self._message_id = self.new_id("m")
        return message_id

    def text_message(self, text: str, *, subagent: str | None = None) -> list[BaseEvent]:
        """Build a complete assistant message."""
        return text_events(self.open_message(), text, subagent=subagent)

    async def stream_message(
        self, parts: Iterable[str], *, every: timedelta = timedelta()
    ) -> AsyncIterator[BaseEvent]:
        """Yield an assistant message in parts, with a delay of `every` between them."""
        message_id = self.open_message()
        seconds = every.total_seconds()
        yield agui.TextMessageStartEvent(message_id=message_id, role="assistant")
        for number, part in enumerate(parts):
            delta = storable_text(part)
            yield agui.TextMessageContentEvent(message_id=message_id, delta=delta)
            if seconds:
                await self.clock.sleep(seconds)
            elif number % _DELTAS_PER_YIELD == 0:
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
        Propose a tool call within the last message.

        At the end of the step the call is executed, or its interrupt ends the run.

        Raises:
            InvalidArguments: the tool does not take these arguments.
        """
        tool.check_arguments(args)
        # A JSON copy, so that later changes by the author have no effect.
        try:
            json_args = to_jsonable_python(dict(args))
        except ValueError as error:  # bytes that are not UTF-8
            raise InvalidArguments(f"{tool.name} cannot take these arguments: {error}") from error
        call_id = self.new_id("t")
        self.proposed.append(ProposedCall(tool, call_id, json_args, expires_in))
        return tool_call_events(call_id, tool.name, dumps_arguments(json_args), self._message_id)

    def propose_invalid_call(self, name: str) -> tuple[str, list[BaseEvent]]:
        """Return the id and events of an invalid call, which gets an error as its result."""
        call_id = self.new_id(_INVALID)
        return call_id, tool_call_events(call_id, name[:64] or "unnamed", "{}", self._message_id)

    @staticmethod
    def is_invalid_call(tool_call_id: str) -> bool:
        return tool_call_id.rpartition("-")[2].startswith(_INVALID)

    def add_interrupt(
        self,
        reason: str,
        *,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        files: Sequence[AttachedFile] = (),
        **fields: Any,
    ) -> Interrupt:
        """Add an interrupt; the run pauses at the end of the step."""
        fields = storable(fields) | expiry_field(expires_in, self.clock.now())
        interrupt = Interrupt(id=self.new_id("i"), reason=reason, **fields)
        self.interrupts.append(interrupt)
        self._files[interrupt.id] = files
        return interrupt

    @property
    def state(self) -> Mapping[str, Any]:
        """A copy of the thread's state; empty unless it is an object."""
        state = self.run_input.state
        return deepcopy(state) if isinstance(state, dict) else {}

    def add_tool_interrupt(self, call: ProposedCall, request: InterruptRequest) -> None:
        """Add an interrupt about a tool call: an approval, or a request for input."""
        tool, schema = call.tool, request.response_schema
        if isinstance(tool, Tool) and request.is_approval:
            schema = approval_schema(tool)
        self.add_interrupt(
            "tool_call" if request.is_approval else request.reason or "input_required",
            message=request.message,
            tool_call_id=call.tool_call_id,
            expires_in=first_specified(request.expires_in, call.expires_in, tool.expires_in),
            response_schema=schema,
            metadata=with_present(request.metadata, request.present or tool.present(call.args)),
            files=request.files,
        )

    def tool_result(self, tool_call_id: str, content: str) -> BaseEvent:
        """Build the result of a tool call."""
        return agui.ToolCallResultEvent(
            message_id=self.new_id("r"), tool_call_id=tool_call_id, content=content, role="tool"
        )

    async def run_finished(self) -> agui.RunFinishedEvent:
        """Store attached files, and build RUN_FINISHED: interrupted with interrupts, or success."""
        for interrupt in self.interrupts:
            await self._attach(interrupt, self._files[interrupt.id])
        outcome: agui.RunFinishedOutcome = agui.RunFinishedSuccessOutcome()
        if self.interrupts:
            outcome = agui.RunFinishedInterruptOutcome(interrupts=self.interrupts)
        return agui.RunFinishedEvent(
            thread_id=self.run_input.thread_id, run_id=self.run_input.run_id, outcome=outcome
        )

    async def _attach(self, interrupt: Interrupt, files: Sequence[AttachedFile]) -> None:
        if not files:
            return
        references = [await self.ctx.attach_file(file.name, file.content) for file in files]
        metadata = dict(interrupt.metadata or {})
        signoff = {**metadata.get("signoff", {}), "files": [row["id"] for row in references]}
        interrupt.metadata = {**metadata, "signoff": signoff}
