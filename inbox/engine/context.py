"""What the engine lends an agent: a context whose every wish is granted between two turns."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
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
from inbox.actions.runs import run_lease
from inbox.actions.runs.tool_calls import CallAttempt
from inbox.engine.agent_loop import ToolResult
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json

#: Asks the driver to have an action done in its own turn, outside of the event loop.
Ask = Callable[[Callable[[run_lease.EventBatch, Any], Any], Any], "asyncio.Future[Any]"]


class EngineJournal:
    """
    The journal port over the actions that keep it.

    Calls that begin or settle in the same turn do so in one transaction.
    """

    def __init__(
        self, lease: run_lease.RunLease, ask: Ask, note: Callable[[ToolResult], None]
    ) -> None:
        self._lease = lease
        self._ask = ask
        self._note = note
        self._begun_once: set[str] = set()
        self.has_refused_arguments = False  #: a call was wanted with others than were approved

    @property
    def has_begun_once(self) -> bool:
        """Whether a call was begun that must not be called a second time."""
        return bool(self._begun_once)

    async def begin(
        self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect
    ) -> CallPermit:
        try:
            wanted = CallAttempt(tool_call_id, canonical_json(dict(args)), effect.value)
        except ValueError as error:
            raise ToolRefused(str(error)) from error
        if effect is Effect.ONCE:
            self._begun_once.add(tool_call_id)
        answer = await self._ask(self._begin, wanted)
        if isinstance(answer, errors.RequestRejected):
            self.has_refused_arguments |= isinstance(answer, errors.ArgumentsNotApproved)
            raise ToolRefused(str(answer))
        return CallPermit(idempotency_key=str(answer.pk), result=answer.result)

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        if tool_call_id in self._begun_once:
            await self._ask(self._settle, (tool_call_id, result))
        else:
            self._note(ToolResult(tool_call_id, result))

    async def undo_begin(self, tool_call_id: str) -> None:
        await self._ask(self._undo_begin, tool_call_id)
        self._begun_once.discard(tool_call_id)

    def _begin(self, before: run_lease.EventBatch, wanted: Sequence[CallAttempt]) -> Sequence[Any]:
        return run_lease.start_tool_calls(lease=self._lease, batch=before, attempts=wanted)

    def _undo_begin(self, before: run_lease.EventBatch, ids: Sequence[str]) -> Sequence[Any]:
        run_lease.reset_tool_calls(lease=self._lease, batch=before, ids=ids)
        return [None] * len(ids)

    def _settle(
        self, before: run_lease.EventBatch, results: Sequence[tuple[str, str]]
    ) -> Sequence[Any]:
        run_lease.settle_tool_calls(lease=self._lease, batch=before, results=results)
        return [None] * len(results)


class EngineContext:
    """The RunContext port for one attempt at one run."""

    def __init__(
        self,
        *,
        thread_key: str,
        run_key: str,
        answers: Sequence[InterruptAnswer],
        committed_events: Sequence[BaseEvent],
        checkpoint: Any,
        memory: Any,
        journal: Journal,
        emit_out_of_band: Callable[[Sequence[BaseEvent]], None],
    ) -> None:
        self.thread_key = thread_key
        self.run_key = run_key
        self.answers = answers
        self.committed_events = committed_events
        self.checkpoint = checkpoint
        self.memory = memory
        self.journal: Journal = journal
        self.emit_out_of_band = emit_out_of_band
        self.saved_checkpoint: Any = None
        self.saved_memory: str | None = None  #: as JSON text

    def save_checkpoint(self, value: Any) -> None:
        self.saved_checkpoint = value

    def save_memory(self, value: Any) -> None:
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, RecursionError) as error:
            raise ValueError(f"What an agent keeps is JSON: {error}") from error
        if len(text) > MAX_MEMORY_CHARACTERS:
            raise ValueError(f"What an agent keeps may have {MAX_MEMORY_CHARACTERS} characters.")
        self.saved_memory = text
