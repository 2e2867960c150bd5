"""The tools that a team's agents have called, with their arguments and types."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models.functions import Length

from agents.port import Effect
from inbox.models import ToolCall
from inbox.queries.people.access import require
from inbox.rules.people.access import Actor, Permission

CALLS_READ = 500
CALLS_PER_TOOL = 5
MAX_TOOLS = 50
MAX_ARGUMENTS = 50
_MAX_CHARACTERS = 20_000  #: of arguments; longer ones are not read


@dataclass(frozen=True)
class TeamTool:
    """A tool, with the JSON type of each argument; "" is an unknown type."""

    name: str
    arguments: Mapping[str, str]
    only_reads: bool = False


def recent_tools(actor: Actor, team_id: UUID) -> list[TeamTool]:
    """
    Return the tools of a team's last calls, the most recent first.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = (
        ToolCall.objects.filter(team=team_id)
        .annotate(size=Length("args"))
        .order_by("-id")
        .values_list("pk", "name", "effect", "size")[:CALLS_READ]
    )
    calls: dict[str, list[UUID]] = {}
    only_reads: dict[str, bool] = {}
    for pk, name, effect, size in rows:
        if name not in calls and len(calls) == MAX_TOOLS:
            continue
        only_reads.setdefault(name, effect == Effect.READ)
        keys = calls.setdefault(name, [])
        if size <= _MAX_CHARACTERS and len(keys) < CALLS_PER_TOOL:
            keys.append(pk)
    keys = [pk for pks in calls.values() for pk in pks]
    args = dict(ToolCall.objects.filter(pk__in=keys).values_list("pk", "args"))
    return [
        TeamTool(name, _arguments([args[pk] for pk in pks]), only_reads[name])
        for name, pks in calls.items()
    ]


def _arguments(texts: list[str]) -> dict[str, str]:
    """Return the types of arguments of several calls; different types are an unknown type."""
    types: dict[str, str] = {}
    for text in texts:
        args = json.loads(text)
        for name, value in args.items() if isinstance(args, dict) else ():
            kind = json_type(value)
            if kind and types.setdefault(name, kind) != kind:
                types[name] = ""
    return dict(list(types.items())[:MAX_ARGUMENTS])


def json_type(value: Any) -> str:
    """Return the JSON type of a value, "" for null."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "")
