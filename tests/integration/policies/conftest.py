"""Runs that propose payments."""

import json

import ag_ui.core as agui
import pytest

from tests.support.steps import start

SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "editedArgs": {"type": "object"},
        "reason": {"type": "string"},
    },
    "required": ["approved"],
}


@pytest.fixture
def run_paying(world, as_agent):
    """Start a run whose agent proposes payments of these arguments, and drive it."""
    proposal = {}

    async def play(run_input, ctx):
        calls, schema = proposal["calls"], proposal["schema"]
        if ctx.answers:
            yield agui.RunFinishedEvent(thread_id="t", run_id="r")
            return
        for number, args in enumerate(calls):
            yield agui.ToolCallStartEvent(tool_call_id=f"c{number}", tool_call_name="refund")
            yield agui.ToolCallArgsEvent(tool_call_id=f"c{number}", delta=json.dumps(args))
            yield agui.ToolCallEndEvent(tool_call_id=f"c{number}")
        interrupts = [
            agui.Interrupt(
                id=f"i{number}",
                reason="tool_call",
                tool_call_id=f"c{number}",
                response_schema=schema,
            )
            for number in range(len(calls))
        ]
        outcome = agui.RunFinishedInterruptOutcome(interrupts=interrupts)
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
        )

    agent = as_agent(play)

    def start_run(*calls, schema=SCHEMA, **more):
        proposal.update(calls=calls, schema=schema)
        return start(world, "go", agent=agent, **more)

    return start_run
