"""What the engine lends an agent: a context whose every wish is granted between two turns."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agents.port import Answer, Effect, Journal, Permit, ToolRefused
from inbox.actions import work
from inbox.domain import errors
from inbox.domain.consent import canonical

#: Asks the driver to run a function in its own turn, outside of the event loop.
Ask = Callable[[Callable[[], Any]], "asyncio.Future[Any]"]


class EngineJournal:
    """The journal port over the actions that keep it."""

    def __init__(self, hold: work.Hold, ask: Ask) -> None:
        self._hold = hold
        self._ask = ask

    async def begin(self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect) -> Permit:
        try:
            text = canonical(dict(args))
            call = await self._ask(
                lambda: work.begin_tool_call(
                    hold=self._hold, tool_call_id=tool_call_id, args=text, effect=effect.value
                )
            )
        except (errors.Refusal, ValueError) as refusal:
            raise ToolRefused(str(refusal)) from refusal
        return Permit(idempotency_key=str(call.pk), result=call.result)

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        await self._ask(
            lambda: work.settle_tool_call(hold=self._hold, tool_call_id=tool_call_id, result=result)
        )


class EngineContext:
    """The RunContext port for one attempt at one run."""

    def __init__(
        self,
        *,
        run_key: str,
        answers: Sequence[Answer],
        checkpoint: Any,
        journal: Journal,
    ) -> None:
        self.run_key = run_key
        self.answers = answers
        self.checkpoint = checkpoint
        self.journal: Journal = journal
        self.saved_checkpoint: Any = None

    def save_checkpoint(self, value: Any) -> None:
        self.saved_checkpoint = value
