"""Agents of other frameworks that run in the worker; imported when a run begins."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput

from agents.adapters.framework_run import FrameworkRun
from agents.port import RunContext

#: Extra -> the adapter module, and the name of the framework.
FRAMEWORKS = {
    "langgraph": ("agents.adapters.langgraph.adapter", "LangGraph"),
    "pydantic-ai": ("agents.adapters.pydantic_ai", "Pydantic AI"),
    "maf": ("agents.adapters.maf", "Microsoft Agent Framework"),
    "genkit": ("agents.adapters.genkit", "Genkit"),
}
#: In LangGraph each graph decides at run time whether arguments may be edited.
_FRAMEWORKS_WITH_EDITS = frozenset({"pydantic-ai", "maf", "genkit"})


@dataclass(frozen=True)
class InProcessAgent:
    """
    A framework object, such as a compiled graph, as an agent.

    Its tool calls go through the journal. A framework cannot repeat its events, so a run that lost
    its worker fails; a person may retry it with the same decisions, and calls that have a result
    are not repeated.
    """

    name: str
    framework: str  #: a key of FRAMEWORKS
    path: str  #: "module:attribute", imported when a run begins
    restartable: bool = False
    input_schema: Mapping[str, Any] | None = None

    @property
    def description(self) -> str:
        return f"An agent of {FRAMEWORKS[self.framework][1]}."

    def capabilities(self) -> AgentCapabilities:
        """Return what is known without importing the agent."""
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
        """Import the framework and run the object with its adapter."""
        adapter = FRAMEWORKS[self.framework][0]
        try:
            # The import takes seconds and must not block the event loop.
            module = await asyncio.to_thread(import_module, adapter)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("agents"):
                raise
            yield agui.RunErrorEvent(
                message=f"The worker lacks {error.name}; install the extra {self.framework!r}.",
                code="AGENT_ERROR",
            )
            return
        target = await asyncio.to_thread(_import, self.path)
        framework_run = FrameworkRun(run_input, ctx)
        async for event in framework_run.run(module.converse(target, framework_run)):
            yield event


def _import(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
