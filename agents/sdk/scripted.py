"""Agents written as lists of steps; after an interrupt the next step runs."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput, RunErrorEvent

from agents.port import RunContext
from agents.sdk.schemas import agent_capabilities
from agents.sdk.step import Clock, StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, Tool

#: Yields events one by one, or lists of events.
Step = Callable[[StepContext], AsyncIterator[BaseEvent | list[BaseEvent]]]


@dataclass(frozen=True)
class ScriptedAgent:
    """
    Runs scripts: lists of steps.

    A step with an interrupt ends the run; the run that resumes it executes the decisions and
    continues with the next step. The checkpoint is the name of the script and the number of the
    step.
    """

    name: str
    description: str
    tools: Sequence[Tool | InterruptTool]
    choose: Callable[[RunAgentInput], str]  #: returns the name of the script for a first run
    steps: Callable[[str], Sequence[Step]]  #: returns the steps of a script
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True
    input_schema: Mapping[str, Any] | None = None

    def capabilities(self) -> AgentCapabilities:
        return agent_capabilities(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Execute the decisions, then run steps up to the end of the script or an interrupt."""
        context = StepContext(run_input, ctx, self.clock)
        script, position = self._start_position(run_input, ctx.checkpoint)
        async for event in execute_answered_calls(
            context, {tool.name: tool for tool in self.tools}
        ):
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
        yield context.run_finished()

    def _start_position(self, run_input: RunAgentInput, checkpoint: Any) -> tuple[str, int]:
        if checkpoint is None:
            return self.choose(run_input), 0
        return checkpoint["script"], checkpoint["step"]


async def _follow_step(step: Step, context: StepContext) -> AsyncIterator[BaseEvent]:
    async for item in step(context):
        if isinstance(item, list):
            for event in item:
                yield event
        else:
            yield item
    async for event in execute_proposed_calls(context):
        yield event
