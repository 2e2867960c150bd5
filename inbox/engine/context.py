"""The RunContext and Journal ports, as the engine implements them for an agent."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ag_ui.core import BaseEvent

from agents.port import (
    MAX_MEMORY_CHARACTERS,
    CallPermit,
    Effect,
    InterruptAnswer,
    Journal,
    ToolRefused,
)
from inbox.actions.files.uploads import attach_file
from inbox.actions.runs import run_lease
from inbox.actions.runs.tool_calls import CallAttempt
from inbox.engine.agent_loop import ToolResult
from inbox.platform.monitoring.traces import traces
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json

#: Makes the driver run an action between two batches, outside of the event loop.
RunCommand = Callable[[Callable[[run_lease.EventBatch, Any], Any], Any], "asyncio.Future[Any]"]


class EngineJournal:
    """
    The Journal port over the actions of tool calls.

    Calls that start or settle in the same batch do so in one transaction.
    """

    def __init__(
        self,
        lease: run_lease.RunLease,
        run_command: RunCommand,
        add_result: Callable[[ToolResult], None],
        call_id: Callable[[str], str],
    ) -> None:
        self._lease = lease
        self._run_command = run_command
        self._add_result = add_result
        self._call_id = call_id  #: the agent's name of a call -> our id
        self._started_once_calls: set[str] = set()
        self._spans: dict[str, Any] = {}  #: of calls that have started, while traces are on
        #: a call was attempted with other arguments than the approved ones
        self.has_refused_arguments = False

    @property
    def has_started_once_call(self) -> bool:
        """Return whether a `once` call was started."""
        return bool(self._started_once_calls)

    async def begin(
        self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect
    ) -> CallPermit:
        try:
            attempt = CallAttempt(tool_call_id, canonical_json(dict(args)), effect.value)
        except ValueError as error:
            raise ToolRefused(str(error)) from error
        if effect is Effect.ONCE:
            self._started_once_calls.add(tool_call_id)
        result = await self._run_command(self._begin, attempt)
        if isinstance(result, errors.RequestRejected):
            self.has_refused_arguments |= isinstance(result, errors.ArgumentsNotApproved)
            raise ToolRefused(str(result))
        if traces.are_on and result.result is None:
            attributes = {"signoff.tool_call": str(result.pk), "signoff.effect": effect.value}
            self._spans[tool_call_id] = traces.begin("tool call", attributes)
        return CallPermit(idempotency_key=str(result.pk), result=result.result)

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        self._end_span(tool_call_id)
        if tool_call_id in self._started_once_calls:
            await self._run_command(self._settle, (tool_call_id, result))
        else:
            self._add_result(ToolResult(tool_call_id, result))

    async def undo_begin(self, tool_call_id: str) -> None:
        self._end_span(tool_call_id)
        await self._run_command(self._undo_begin, tool_call_id)
        self._started_once_calls.discard(tool_call_id)

    async def attach(self, name: str, content: bytes) -> Any:
        """Return the reference of a stored file, or why it was refused."""
        return await self._run_command(self._attach, (name, content))

    def _end_span(self, tool_call_id: str) -> None:
        span = self._spans.pop(tool_call_id, None)
        if span is not None:
            span.end()

    def _attach(
        self, preceding: run_lease.EventBatch, files: Sequence[tuple[str, bytes]]
    ) -> Sequence[Any]:
        run_lease.append_events(lease=self._lease, batch=preceding)
        return [
            attach_file(thread_id=self._lease.thread_id, name=name, content=content)
            for name, content in files
        ]

    def _begin(
        self, preceding: run_lease.EventBatch, attempts: Sequence[CallAttempt]
    ) -> Sequence[Any]:
        attempts = [
            attempt._replace(tool_call_id=self._call_id(attempt.tool_call_id))
            for attempt in attempts
        ]
        return run_lease.start_tool_calls(lease=self._lease, batch=preceding, attempts=attempts)

    def _undo_begin(self, preceding: run_lease.EventBatch, ids: Sequence[str]) -> Sequence[Any]:
        names = [self._call_id(name) for name in ids]
        run_lease.reset_tool_calls(lease=self._lease, batch=preceding, ids=names)
        return [None] * len(ids)

    def _settle(
        self, preceding: run_lease.EventBatch, results: Sequence[tuple[str, str]]
    ) -> Sequence[Any]:
        by_id = [(self._call_id(name), result) for name, result in results]
        run_lease.settle_tool_calls(lease=self._lease, batch=preceding, results=by_id)
        return [None] * len(results)


@dataclass
class EngineContext:
    """The RunContext port for one attempt at one run."""

    thread_key: str
    run_key: str
    answers: Sequence[InterruptAnswer]
    committed_events: Sequence[BaseEvent]
    checkpoint: Any
    memory: Any
    journal: Journal
    emit_out_of_band: Callable[[Sequence[BaseEvent]], None]
    attach: Callable[[str, bytes], Awaitable[Any]]
    report_error: Callable[[BaseException], None]
    saved_checkpoint: Any = None
    saved_memory: str | None = None  #: as JSON text

    async def attach_file(self, name: str, content: bytes) -> Mapping[str, Any]:
        reference = await self.attach(name, content)
        if isinstance(reference, errors.RequestRejected):
            raise ValueError(reference.message)  # noqa: TRY004 - the file is wrong, not its type
        return dict(reference)

    def save_checkpoint(self, value: Any) -> None:
        self.saved_checkpoint = value

    def save_memory(self, value: Any) -> None:
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, RecursionError) as error:
            raise ValueError(f"The memory of an agent must be JSON: {error}") from error
        if len(text) > MAX_MEMORY_CHARACTERS:
            raise ValueError(
                f"The memory of an agent may have at most {MAX_MEMORY_CHARACTERS} characters."
            )
        self.saved_memory = text
