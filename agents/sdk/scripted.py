"""Agents written as lists of steps; after an interrupt the next step runs."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from ag_ui.core import BaseEvent, RunAgentInput, RunErrorEvent

from agents.port import RunContext
from agents.sdk.agent import SdkAgent
from agents.sdk.step import StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import tools_by_name

#: Yields events one by one, or lists of events.
Step = Callable[[StepContext], AsyncIterator[BaseEvent | list[BaseEvent]]]


@dataclass(frozen=True)
class ScriptedAgent(SdkAgent):
    """
    Runs scripts: lists of steps.

    A step with an interrupt ends the run; the run that resumes it executes the decisions and
    continues with the next step. The checkpoint is the name of the script and the number of the
    step.
    """

    choose: Callable[[RunAgentInput], str]  #: returns the name of the script for a first run
    steps: Callable[[str], Sequence[Step]]  #: returns the steps of a script

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Execute the decisions, then run steps up to the end of the script or an interrupt."""
        context = StepContext(run_input, ctx, self.clock)
        if ctx.checkpoint is None:
            script, position = self.choose(run_input), 0
        else:
            script, position = ctx.checkpoint["script"], ctx.checkpoint["step"]
        async for event in execute_answered_calls(context, tools_by_name(self.tools)):
            yield event
        steps = self.steps(script)
        while position < len(steps) and not context.interrupts:
            async for event in _follow_step(steps[position], context):
                yield event
                if isinstance(event, RunErrorEvent):
                    return
            position += 1
        if context.interrupts:
            ctx.save_checkpoint({"script": script, "step": position})
        yield await context.run_finished()


async def _follow_step(step: Step, context: StepContext) -> AsyncIterator[BaseEvent]:
    async for item in step(context):
        if isinstance(item, list):
            for event in item:
                yield event
        else:
            yield item
    async for event in execute_proposed_calls(context):
        yield event
