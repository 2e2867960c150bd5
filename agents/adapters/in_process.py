"""Agents of other frameworks that run in the worker; imported when a run begins."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput

from agents.adapters.framework_run import FrameworkRun
from agents.port import RunContext


class Framework(NamedTuple):
    """A framework whose objects can be agents."""

    adapter: str  #: the module of its adapter
    title: str
    package: str  #: that it installs
    target: str  #: what the path of an agent has to name


#: By the extra that installs it.
FRAMEWORKS = {
    "langgraph": Framework(
        "agents.adapters.langgraph.adapter",
        "LangGraph",
        "langgraph",
        "a graph, its builder, or a function without arguments that returns one",
    ),
    "pydantic-ai": Framework(
        "agents.adapters.pydantic_ai", "Pydantic AI", "pydantic_ai", "an Agent"
    ),
    "maf": Framework(
        "agents.adapters.maf", "Microsoft Agent Framework", "agent_framework", "an Agent"
    ),
    "genkit": Framework(
        "agents.adapters.genkit", "Genkit", "genkit", "a prompt of ai.define_prompt"
    ),
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
        return f"An agent of {FRAMEWORKS[self.framework].title}."

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
        adapter = FRAMEWORKS[self.framework].adapter
        try:
            # The import takes seconds and must not block the event loop.
            module = await asyncio.to_thread(import_module, adapter)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("agents"):
                raise
            yield agui.RunErrorEvent(
                message=f"The worker lacks {error.name}; {missing_extra(self.framework)}.",
                code="AGENT_ERROR",
            )
            return
        target = await asyncio.to_thread(_import, self.path)
        framework_run = FrameworkRun(run_input, ctx)
        async for event in framework_run.run(module.converse(target, framework_run)):
            yield event


def missing_extra(extra: str) -> str:
    """Return how to install the extra of a framework."""
    return (
        f"install the extra {extra!r} with `make run EXTRAS={extra}`, or with "
        f"`pip install -r requirements/{extra}.txt`"
    )


def is_installed(extra: str) -> bool:
    """Return whether the framework is installed, without importing it."""
    return find_spec(FRAMEWORKS[extra].package) is not None


def framework_of(target: Any) -> str:
    """Return the extra of the framework that defines the object's class, "" if there is none."""
    packages = {kind.__module__.partition(".")[0] for kind in type(target).__mro__}
    return next(
        (extra for extra, framework in FRAMEWORKS.items() if framework.package in packages), ""
    )


def is_target(extra: str, target: Any) -> bool:
    """Return whether an object can be an agent of the framework, as far as its class says."""
    is_builder = extra == "langgraph" and inspect.isfunction(target)
    return framework_of(target) == extra or is_builder


def _import(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
