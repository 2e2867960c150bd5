"""Agents written as plain Python steps, which go on behind a pause with the next step."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput, RunErrorEvent

from agents.port import RunContext
from agents.sdk.capabilities import agent_capabilities
from agents.sdk.step import Clock, StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, Tool

#: Yields events one by one, or a list of them that belong together.
Step = Callable[[StepContext], AsyncIterator[BaseEvent | list[BaseEvent]]]


@dataclass(frozen=True)
class ScriptedAgent:
    """
    Runs scripts: lists of steps.

    A step that proposes a call which needs a person, or asks something, ends the run; the run that
    resumes it first does what was decided and goes on with the next step. What has to survive the
    pause is the name of the script and the number of the step.
    """

    name: str
    description: str
    tools: Sequence[Tool | InterruptTool]
    choose: Callable[[RunAgentInput], str]  #: names the script that a first run follows
    steps: Callable[[str], Sequence[Step]]  #: returns the steps of a script of that name
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True
    input_schema: Mapping[str, Any] | None = None

    def capabilities(self) -> AgentCapabilities:
        """Say what every scripted agent can do, and which tools this one has."""
        return agent_capabilities(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Do what was decided, then follow the script up to its end or its next pause."""
        context = StepContext(run_input, ctx, self.clock)
        script, position = self._where(run_input, ctx.checkpoint)
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

    def _where(self, run_input: RunAgentInput, checkpoint: Any) -> tuple[str, int]:
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
