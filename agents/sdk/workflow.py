"""Agents written as one async function, which is replayed after an interrupt."""

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput
from pydantic import BaseModel

from agents.port import RunContext
from agents.sdk.capabilities import agent_capabilities
from agents.sdk.step import Clock, StepContext
from agents.sdk.tools import InterruptTool, Tool, tools_by_name
from agents.sdk.workflow_context import WorkflowContext


@dataclass(frozen=True)
class Workflow:
    """An agent that is an async function of a Flow."""

    name: str
    description: str
    function: Callable[[WorkflowContext], Awaitable[None]]
    tools: Sequence[Tool | InterruptTool] = ()  #: listed in the capabilities
    input_schema: Mapping[str, Any] | None = None
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True

    def capabilities(self) -> AgentCapabilities:
        return agent_capabilities(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Run the function up to its end or its next interrupt."""
        context = StepContext(run_input, ctx, self.clock)
        events: asyncio.Queue[BaseEvent | None] = asyncio.Queue(maxsize=1)
        workflow_context = WorkflowContext(context, events.put)
        task = asyncio.ensure_future(_drive(self.function, workflow_context, events))
        try:
            while (event := await events.get()) is not None:
                yield event
            if await task:
                ctx.save_checkpoint(workflow_context.checkpoint)
            yield context.run_finished()
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _drive(
    function: Callable[[WorkflowContext], Awaitable[None]],
    workflow_context: WorkflowContext,
    events: "asyncio.Queue[BaseEvent | None]",
) -> bool:
    """Run the function; return True if it paused. Put None into `events` at the end."""
    try:
        await function(workflow_context)
    except BaseException:
        # A task group wraps WorkflowPaused in an exception group.
        if not workflow_context.is_paused:
            raise
    else:
        if not workflow_context.is_paused:
            workflow_context.check_end()
    finally:
        await events.put(None)
    return workflow_context.is_paused


def workflow(
    *,
    name: str = "",
    description: str = "",
    tools: Sequence[Tool | InterruptTool] = (),
    input_model: type[BaseModel] | None = None,
) -> Callable[[Callable[[WorkflowContext], Awaitable[None]]], Workflow]:
    """
    Make an async function an agent.

    Its name is the function's, with dashes, its description the docstring. `input_model` is the
    model of a run's input, which the inbox shows as a form.
    """

    def decorate(function: Callable[[WorkflowContext], Awaitable[None]]) -> Workflow:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__}: a workflow is an async function.")
        tools_by_name(tools)
        return Workflow(
            name=name or function.__name__.replace("_", "-"),
            description=description or inspect.getdoc(function) or "",
            function=function,
            tools=tools,
            input_schema=input_model.model_json_schema() if input_model else None,
        )

    return decorate
