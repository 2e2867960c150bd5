"""The base of the agents of this SDK."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities

from agents.sdk.step import Clock
from agents.sdk.tools import InterruptTool, Tool


@dataclass(frozen=True)
class SdkAgent:
    """The attributes that all agents of the SDK have."""

    name: str
    description: str
    _: KW_ONLY
    tools: Sequence[Tool | InterruptTool] = ()
    input_schema: Mapping[str, Any] | None = None
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True

    def capabilities(self) -> AgentCapabilities:
        return AgentCapabilities(
            identity=agui.IdentityCapabilities(name=self.name, description=self.description),
            transport=agui.TransportCapabilities(streaming=True),
            tools=agui.ToolsCapabilities(
                supported=bool(self.tools), items=self.agui_tools(), parallel_calls=True
            ),
            human_in_the_loop=agui.HumanInTheLoopCapabilities(
                supported=True,
                approvals=True,
                interrupts=True,
                approve_with_edits=True,
                feedback=any(
                    isinstance(tool, Tool) and tool.accepts_feedback for tool in self.tools
                ),
            ),
        )

    def agui_tools(self) -> list[agui.Tool]:
        """Return the tools in AG-UI's form."""
        return [
            agui.Tool(
                name=tool.name,
                description=tool.description,
                parameters=tool.input_model.model_json_schema(),
            )
            for tool in self.tools
        ]
