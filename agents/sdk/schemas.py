"""The JSON Schemas that the SDK asks people with."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from agents.agui import interrupts
from agents.sdk.tools import Tool

#: What a form needs of a property; titles repeat the name, and defaults would be filled in unasked.
_LEFT_OUT = ("title", "default")


@cache
def approval_schema(tool: Tool) -> dict[str, Any]:
    """
    Build the schema that the approval of a tool's call is asked with.

    The same object each time: it is read, never changed.
    """
    return approval_schema_for(tool.input_model.model_json_schema())


def approval_schema_for(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """
    Build the schema of an approval: `approved`, and perhaps other arguments or a reason.

    `editedArgs` replaces the arguments as a whole, so it requires and refuses what their schema
    does; without one there is nothing to edit.
    """
    if arguments is None:
        return interrupts.approval_schema()
    properties = {
        name: {key: value for key, value in schema.items() if key not in _LEFT_OUT}
        for name, schema in arguments.get("properties", {}).items()
    }
    rules = {"required": arguments["required"]} if "required" in arguments else {}
    if arguments.get("additionalProperties") is False:
        rules["additionalProperties"] = False
    # What arguments refer to as "#/$defs/...": nested models and enums.
    shared = {"$defs": arguments["$defs"]} if "$defs" in arguments else {}
    edited_args = {"type": "object", "properties": properties, **rules}
    return {**shared, **interrupts.approval_schema(edited_args=edited_args)}
