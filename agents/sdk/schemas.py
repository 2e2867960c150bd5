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
    return approval_schema_for(
        tool.input_model.model_json_schema(), accepts_feedback=tool.accepts_feedback
    )


def approval_schema_for(
    arguments: Mapping[str, Any] | None, *, accepts_feedback: bool = False
) -> dict[str, Any]:
    """
    Return the response schema of an approval: `approved`, `reason` and `editedArgs`.

    `editedArgs` replaces all arguments, so it has their schema; without one there are no edits.
    `feedback` says that the agent reads a question or a correction beside a denial.
    """
    feedback = {"feedback": {"type": "string"}} if accepts_feedback else {}
    if arguments is None:
        return interrupts.approval_schema(**feedback)
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
    return {**definitions, **interrupts.approval_schema(edited_args=edited_args, **feedback)}


def with_feedback(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return an approval's response schema that accepts `feedback` beside a denial."""
    approval = interrupts.approval_schema(feedback={"type": "string"})
    added = schema or {}
    return {
        **approval,
        **added,
        "properties": {**approval["properties"], **added.get("properties", {})},
        "required": [*dict.fromkeys(["approved", *added.get("required", [])])],
    }
