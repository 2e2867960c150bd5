"""The tools that a team's agents have called, with their arguments and types."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Length

from agents.port import Effect
from inbox.models import ToolCall
from inbox.platform import clock
from inbox.queries.people.access import require
from inbox.rules.audit.audit_filters import first_id_of
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.past_calls import DAYS

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
    calls: int = 0  #: in the last 30 days
    #: The lowest and the highest number of an argument in the calls that were read.
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


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
    counts = _counts(team_id)
    read = {name: [json.loads(args[pk]) for pk in pks] for name, pks in calls.items()}
    return [
        TeamTool(name, _types(values), only_reads[name], counts.get(name, 0), _ranges(values))
        for name, values in read.items()
    ]


def _counts(team_id: UUID) -> dict[str, int]:
    """Return the numbers of calls in the last 30 days by tool."""
    since = first_id_of((clock.now() - timedelta(days=DAYS)).date())
    rows = ToolCall.objects.filter(team=team_id, pk__gte=since).order_by().values_list("name")
    return dict(rows.annotate(number=Count("pk")))


def _types(calls: list[Any]) -> dict[str, str]:
    """Return the types of arguments of several calls; different types are an unknown type."""
    types: dict[str, str] = {}
    for args in calls:
        for name, value in args.items() if isinstance(args, dict) else ():
            kind = json_type(value)
            if kind and types.setdefault(name, kind) != kind:
                types[name] = ""
    return dict(list(types.items())[:MAX_ARGUMENTS])


def _ranges(calls: list[Any]) -> dict[str, tuple[float, float]]:
    """Return the ranges of numbers; texts may be secret, and are not shown."""
    ranges: dict[str, tuple[float, float]] = {}
    for args in calls:
        for name, value in args.items() if isinstance(args, dict) else ():
            if json_type(value) == "number":
                low, high = ranges.get(name, (value, value))
                ranges[name] = min(low, value), max(high, value)
    return ranges


def json_type(value: Any) -> str:
    """Return the JSON type of a value, "" for null."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "")
