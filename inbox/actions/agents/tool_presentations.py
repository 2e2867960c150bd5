"""Presentations that a team chooses for the tools of its agents."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Agent, ToolPresentation
from inbox.platform.clock import database_now
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.presentations.tool_presentations import (
    MAX_TOOL_PRESENTATIONS,
    check_tool_presentation,
    tool_presentation_of,
)
from inbox.rules.text.messages import TranslatableMessage


@transaction.atomic(durable=True)
def set_tool_presentation(
    *, team_id: UUID, agent: str, tool: str, body: Mapping[str, Any], actor: Actor
) -> ToolPresentation:
    """
    Choose how the calls of a tool are shown; `agent` is a slug, "" for all agents of the team.

    `body` is described in `check_tool_presentation`. Applies to requests that were opened before,
    too: it changes the page, not the request. Idempotent: the same body writes no audit entry.

    Raises:
        NotFound, Forbidden, InvalidValue.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    check_tool_presentation(tool, body)
    agent_id = _agent_id(team_id, agent)
    rows = ToolPresentation.objects.filter(team=team_id)
    row = rows.filter(tool=tool, agent=agent_id).first()
    before = row.read_body() if row else None
    value = tool_presentation_of(body).to_json()
    if value == before and row is not None:
        return row
    if row is None:
        if rows.count() >= MAX_TOOL_PRESENTATIONS:
            raise errors.InvalidValue(
                TranslatableMessage(
                    "A team can have presentations of at most {most} tools. Remove one first.",
                    most=MAX_TOOL_PRESENTATIONS,
                )
            )
        row = ToolPresentation.objects.create(
            team_id=team_id, agent_id=agent_id, tool=tool, body=json.dumps(value)
        )
    else:
        row.body = json.dumps(value)
        row.save(update_fields=["body"])
    _record("team.presentation_set", row, agent, actor, before=before, value=value)
    return row


@transaction.atomic(durable=True)
def remove_tool_presentation(*, presentation_id: UUID, actor: Actor) -> None:
    """
    Show the calls of a tool as its agent and the values say.

    Raises:
        NotFound, Forbidden.
    """
    row = ToolPresentation.objects.filter(pk=presentation_id).first()
    if row is None:
        raise errors.NotFound()
    lock_permitted_team(row.team_id, actor, Permission.ADMIN)
    row = ToolPresentation.objects.filter(pk=presentation_id).select_related("agent").first()
    if row is None:  # somebody else has removed it meanwhile
        raise errors.NotFound()
    agent = row.agent.slug if row.agent else ""
    _record("team.presentation_removed", row, agent, actor, before=row.read_body())
    row.delete()


def _agent_id(team_id: UUID, slug: str) -> UUID | None:
    if not slug:
        return None
    agent = Agent.objects.filter(team=team_id, slug=slug).first()
    if agent is None:
        message = TranslatableMessage("The team has no agent {name}.", name=slug[:60])
        raise errors.InvalidValue(message, problems={"agent": [message]})
    return agent.pk


def _record(action: str, row: ToolPresentation, agent: str, actor: Actor, **detail: Any) -> None:
    audit_trail.record(
        action,
        actor,
        database_now(),
        team_id=row.team_id,
        tool=row.tool,
        agent=agent or None,
        **detail,
    )
