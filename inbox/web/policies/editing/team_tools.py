"""The tools to choose from in the form for a rule: of the agents' descriptions and of calls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from inbox import engine
from inbox.queries.agents.agents import agents_for
from inbox.queries.policies.tools import MAX_ARGUMENTS, MAX_TOOLS, TeamTool, recent_tools
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor

_TYPES = {"string", "number", "boolean", "array", "object"}


def team_tools(actor: Actor, team_id: UUID) -> list[TeamTool]:
    """
    Return the tools of a team's agents, by name; arguments come from their JSON Schema.

    Agents that do not describe their tools are known by the calls that they made.

    Raises:
        NotFound, Forbidden.
    """
    tools = {tool.name: tool for tool in recent_tools(actor, team_id)}
    agents = [agent for agent in agents_for(actor) if agent.team_id == team_id]
    for implementation in dict.fromkeys(agent.implementation for agent in agents):
        for item in _described_tools(implementation):
            called = tools.get(item["name"], TeamTool(item["name"], {}))
            types = _types_of(item.get("parameters") or {})
            tools[called.name] = replace(called, arguments={**called.arguments, **types})
    return sorted(tools.values(), key=lambda tool: tool.name)[:MAX_TOOLS]


def _described_tools(implementation: str) -> Sequence[Mapping[str, Any]]:
    try:
        return (engine.capabilities_of(implementation).get("tools") or {}).get("items") or ()
    except NotFound:
        return ()


def _types_of(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the types of the arguments in a JSON Schema; "" where it is not plain."""
    properties = schema.get("properties") or {}
    definitions = schema.get("$defs") or {}
    return {
        name: _type_of(part, definitions) for name, part in list(properties.items())[:MAX_ARGUMENTS]
    }


def _type_of(schema: Any, definitions: Mapping[str, Any]) -> str:
    if not isinstance(schema, dict):
        return ""
    if isinstance(reference := schema.get("$ref"), str):
        schema = definitions.get(reference.removeprefix("#/$defs/"), {})
    branches = schema.get("anyOf") or [schema]
    names = {part.get("type") for part in branches if isinstance(part, dict)} - {"null"}
    kind = names.pop() if len(names) == 1 else ""
    kind = "number" if kind == "integer" else kind
    return kind if kind in _TYPES else ""
