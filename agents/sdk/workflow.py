"""Agents written as one async function, which goes on behind a pause as if it had never stopped."""

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
    tools: Sequence[Tool | InterruptTool] = ()  #: what capabilities tell of
    input_schema: Mapping[str, Any] | None = None
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True

    def capabilities(self) -> AgentCapabilities:
        """Say what every workflow can do, and which tools this one has."""
        return agent_capabilities(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Drive the function up to its end or its next pause."""
        context = StepContext(run_input, ctx, self.clock)
        said: asyncio.Queue[BaseEvent | None] = asyncio.Queue(maxsize=1)
        flow = WorkflowContext(context, said.put)
        driving = asyncio.ensure_future(_drive(self.function, flow, said))
        try:
            while (event := await said.get()) is not None:
                yield event
            if await driving:
                ctx.save_checkpoint(flow.checkpoint)
            yield context.run_finished()
        finally:
            # Nobody listens any more if the run was stopped.
            driving.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await driving


async def _drive(
    function: Callable[[WorkflowContext], Awaitable[None]],
    flow: WorkflowContext,
    said: "asyncio.Queue[BaseEvent | None]",
) -> bool:
    """Call the function, and return whether it paused; None says that there is no more to come."""
    try:
        await function(flow)
    except BaseException:
        # A task group wraps the pause in a group of its own.
        if not flow.is_paused:
            raise
    else:
        if not flow.is_paused:
            flow.check_end()
    finally:
        await said.put(None)
    return flow.is_paused


def workflow(
    *,
    name: str = "",
    description: str = "",
    tools: Sequence[Tool | InterruptTool] = (),
    input_model: type[BaseModel] | None = None,
) -> Callable[[Callable[[WorkflowContext], Awaitable[None]]], Workflow]:
    """
    Make an agent of an async function.

    Its name is the function's, with dashes, its description the docstring. `input_model` is what a
    run is started with; the inbox asks for it with a form.
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
