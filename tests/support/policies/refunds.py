"""An agent that proposes refunds, and ends when it has the answers."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import ag_ui.core as agui

from tests.support.agents.scripted_agents import Play

SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "editedArgs": {"type": "object"},
        "reason": {"type": "string"},
    },
    "required": ["approved"],
}


def proposals(
    calls: Sequence[Any], *, schema: Any = SCHEMA, tool: str = "refund", is_endless: bool = False
) -> Play:
    """
    Return an agent that proposes one call for each of these arguments, a value or its JSON text.

    An endless one proposes them again after each answer.
    """

    async def play(run_input: agui.RunAgentInput, ctx: Any) -> AsyncIterator[agui.BaseEvent]:
        if ctx.answers and not is_endless:
            yield agui.RunFinishedEvent(thread_id="t", run_id="r")
            return
        end = f"-{run_input.run_id}" if is_endless else ""
        ids = [f"{number}{end}" for number in range(len(calls))]
        for name, args in zip(ids, calls, strict=True):
            text = args if isinstance(args, str) else json.dumps(args)
            yield agui.ToolCallStartEvent(tool_call_id=f"c{name}", tool_call_name=tool)
            yield agui.ToolCallArgsEvent(tool_call_id=f"c{name}", delta=text)
            yield agui.ToolCallEndEvent(tool_call_id=f"c{name}")
        interrupts = [
            agui.Interrupt(
                id=f"i{name}",
                reason="tool_call",
                tool_call_id=f"c{name}",
                response_schema=schema,
            )
            for name in ids
        ]
        outcome = agui.RunFinishedInterruptOutcome(interrupts=interrupts)
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
        )

    return play
