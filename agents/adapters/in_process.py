"""Agents of other frameworks that run in our worker, imported where they run and nowhere else."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput

from agents.port import RunContext

#: The name of an extra -> the module that adapts its framework, and what people call that.
FRAMEWORKS = {
    "langgraph": ("agents.adapters.langgraph.adapter", "LangGraph"),
    "pydantic-ai": ("agents.adapters.pydantic_ai", "Pydantic AI"),
    "maf": ("agents.adapters.maf", "Microsoft Agent Framework"),
    "genkit": ("agents.adapters.genkit", "Genkit"),
}
#: In LangGraph each graph decides whether arguments may be edited; nothing is known before it runs.
_FRAMEWORKS_WITH_EDITS = frozenset({"pydantic-ai", "maf", "genkit"})


@dataclass(frozen=True)
class InProcessAgent:
    """
    An object of a framework, such as a compiled graph, as an agent of ours.

    Its code decides what a run does; the effects of its tools go through our journal. What such a
    framework did cannot be said again, so a run that lost its worker fails, and a person may try it
    again: with the same decisions, and without a second call of what has a result.
    """

    name: str
    framework: str  #: a key of FRAMEWORKS
    path: str  #: "module:attribute", imported when a run begins
    restartable: bool = False
    input_schema: Mapping[str, Any] | None = None

    @property
    def description(self) -> str:
        """What is known without importing it."""
        return f"An agent of {FRAMEWORKS[self.framework][1]}."

    def capabilities(self) -> AgentCapabilities:
        """What every one of them can do."""
        return AgentCapabilities(
            identity=agui.IdentityCapabilities(name=self.name, description=self.description),
            transport=agui.TransportCapabilities(streaming=True),
            human_in_the_loop=agui.HumanInTheLoopCapabilities(
                supported=True,
                approvals=True,
                interrupts=True,
                approve_with_edits=self.framework in _FRAMEWORKS_WITH_EDITS or None,
            ),
        )

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Import the framework and have its adapter drive the object, a `framework_run`."""
        adapter = FRAMEWORKS[self.framework][0]
        try:
            # Seconds of work, which must not hold the event loop.
            module = await asyncio.to_thread(import_module, adapter)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("agents"):
                raise
            yield agui.RunErrorEvent(
                message=f"This worker has no {error.name}: install the extra {self.framework!r}.",
                code="AGENT_ERROR",
            )
            return
        target = await asyncio.to_thread(_import, self.path)
        async for event in _events(module, target, run_input, ctx):
            yield event


def _import(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def _events(
    module: ModuleType, target: Any, run_input: RunAgentInput, ctx: RunContext
) -> AsyncIterator[BaseEvent]:
    events: AsyncIterator[BaseEvent] = module.run(target, run_input, ctx)
    return events
