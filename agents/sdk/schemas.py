"""Tools as AG-UI describes them: response schemas of approvals, and capabilities."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities

from agents.agui import interrupts
from agents.sdk.tools import InterruptTool, Tool

#: Titles repeat the name, and forms would fill in defaults.
_OMITTED_KEYS = ("title", "default")


@cache
def approval_schema(tool: Tool) -> dict[str, Any]:
    """
    Return the response schema of a tool's approvals; do not change it, it is cached.
    """
    return approval_schema_for(tool.input_model.model_json_schema())


def approval_schema_for(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """
    Return the response schema of an approval: `approved`, `reason` and `editedArgs`.

    `editedArgs` replaces all arguments, so it has their schema; without one there are no edits.
    """
    if arguments is None:
        return interrupts.approval_schema()
    properties = {
        name: {key: value for key, value in schema.items() if key not in _OMITTED_KEYS}
        for name, schema in arguments.get("properties", {}).items()
    }
    rules = {"required": arguments["required"]} if "required" in arguments else {}
    if arguments.get("additionalProperties") is False:
        rules["additionalProperties"] = False
    # The arguments refer to nested models and enums as "#/$defs/...".
    definitions = {"$defs": arguments["$defs"]} if "$defs" in arguments else {}
    edited_args = {"type": "object", "properties": properties, **rules}
    return {**definitions, **interrupts.approval_schema(edited_args=edited_args)}


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
