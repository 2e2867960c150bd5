"""Presentations that a team chooses for tools, and the tools that its agents have called."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Q, Subquery

from inbox.models import Interrupt, ToolPresentation
from inbox.queries.people.access import require
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus

#: The last requests that are searched for tools.
REQUESTS_READ = 500


@dataclass(frozen=True)
class SeenTool:
    """A tool of an agent that has opened requests."""

    tool: str
    agent: str  #: its slug


def tool_presentations_for(
    actor: Actor, team_id: UUID, *, limit: int | None = None, after: UUID | None = None
) -> Sequence[ToolPresentation]:
    """
    Return a team's presentations of tools with their agents, in the order of their ids.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    rows = ToolPresentation.objects.filter(team=team_id).select_related("agent")
    rows = rows if after is None else rows.filter(pk__gt=after)
    return list(rows.order_by("pk")[:limit])


def tool_presentation_for(actor: Actor, presentation_id: UUID) -> ToolPresentation:
    """Raises NotFound, Forbidden."""
    row = (
        ToolPresentation.objects.filter(pk=presentation_id).select_related("agent", "team").first()
    )
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.ADMIN)
    return row


def stored_tool_presentation(team_id: UUID, tool: str, agent: str) -> ToolPresentation | None:
    """Return the row of this tool and agent, "" for all agents; checks no permission."""
    agents = Q(agent__slug=agent) if agent else Q(agent=None)
    return ToolPresentation.objects.filter(agents, team=team_id, tool=tool).first()


def seen_tools(team_id: UUID) -> Sequence[SeenTool]:
    """Return the tools of a team's last requests, the latest first; checks no permission."""
    rows = Interrupt.objects.filter(team=team_id).order_by("-pk").values_list("tool", "agent__slug")
    return [SeenTool(tool, agent) for tool, agent in dict.fromkeys(rows[:REQUESTS_READ]) if tool]


def last_request_of_tool(team_id: UUID, tool: str, agent: str) -> UUID | None:
    """
    Return the latest request of a tool, of any agent if `agent` is ""; checks no permission.

    Each of the two queries is served by an index of lists, which do not contain both kinds.
    """
    rows = Interrupt.objects.filter(team=team_id, tool=tool)
    if agent:
        rows = rows.filter(agent__slug=agent)
    keys = rows.values_list("pk", flat=True)
    is_open = Q(status=InterruptStatus.OPEN)
    return (
        keys.filter(is_open).order_by("-due_at", "-pk").first()
        or keys.filter(~is_open).order_by("-closed_at", "-pk").first()
    )


def body_for_interrupt() -> Subquery:
    """Return the column for a query of interrupts: the team's body for the tool, or null."""
    rows = ToolPresentation.objects.filter(
        Q(agent=OuterRef("agent")) | Q(agent=None), team=OuterRef("team"), tool=OuterRef("tool")
    )
    return Subquery(rows.order_by(F("agent").asc(nulls_last=True)).values("body")[:1])


def declared_body(row: Interrupt) -> Mapping[str, Any]:
    """Return the body that `body_for_interrupt` has read as `tool_presentation`."""
    text: str | None = row.tool_presentation  # type: ignore[attr-defined]
    body: Mapping[str, Any] = json.loads(text) if text else {}
    return body
