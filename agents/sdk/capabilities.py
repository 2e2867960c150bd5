"""AG-UI capabilities of the agents of this SDK."""

from collections.abc import Sequence

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities

from agents.sdk.tools import InterruptTool, Tool


def agent_capabilities(
    name: str, description: str, tools: Sequence[Tool | InterruptTool]
) -> AgentCapabilities:
    """Return the capabilities of an agent with these tools."""
    return AgentCapabilities(
        identity=agui.IdentityCapabilities(name=name, description=description),
        transport=agui.TransportCapabilities(streaming=True),
        tools=agui.ToolsCapabilities(
            supported=bool(tools),
            items=[agui_tool(tool) for tool in tools],
            parallel_calls=True,
        ),
        human_in_the_loop=agui.HumanInTheLoopCapabilities(
            supported=True, approvals=True, interrupts=True, approve_with_edits=True
        ),
    )


def agui_tool(tool: Tool | InterruptTool) -> agui.Tool:
    """Return a tool in AG-UI's form."""
    return agui.Tool(
        name=tool.name,
        description=tool.description,
        parameters=tool.input_model.model_json_schema(),
    )
