"""The JSON Schemas that the SDK asks people with."""

from functools import cache
from typing import Any

from agents.sdk.tools import Tool

#: What a form needs of a property; titles repeat the name, and defaults would be filled in unasked.
_LEFT_OUT = ("title", "default")


@cache
def approval_schema(tool: Tool) -> dict[str, Any]:
    """
    Build the schema of an approval: `approved`, and perhaps other arguments or a reason.

    `editedArgs` replaces the arguments as a whole, so it requires and refuses what the tool does.
    The same object each time: it is read, never changed.
    """
    arguments = tool.input_model.model_json_schema()
    properties = {
        name: {key: value for key, value in schema.items() if key not in _LEFT_OUT}
        for name, schema in arguments.get("properties", {}).items()
    }
    rules = {"required": arguments["required"]} if "required" in arguments else {}
    if arguments.get("additionalProperties") is False:
        rules["additionalProperties"] = False
    # What arguments refer to as "#/$defs/...": nested models and enums.
    shared = {"$defs": arguments["$defs"]} if "$defs" in arguments else {}
    return {
        **shared,
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "editedArgs": {"type": "object", "properties": properties, **rules},
            "reason": {"type": "string"},
        },
        "required": ["approved"],
    }
