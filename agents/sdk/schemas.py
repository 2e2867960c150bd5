"""Response schemas of approvals."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from agents.agui import interrupts
from agents.sdk.tools import Tool

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
