"""Presentations that a team chooses for the tools of its agents."""

import json
from typing import Any

from django.db import models
from django.db.models import Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import id_field
from inbox.models.people.teams import Team
from inbox.rules.presentations.tool_presentations import MAX_TOOL_CHARACTERS


class ToolPresentation(models.Model):
    """
    A team's choice for the calls of a tool: of one agent, or of all agents without their own.

    `body` is the JSON text of `rules.presentations.tool_presentations.ToolPresentation`.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.CASCADE, related_name="+", help_text="null: all agents"
    )
    tool = models.CharField(max_length=MAX_TOOL_CHARACTERS)
    body = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "tool"], condition=Q(agent=None), name="one_presentation_of_a_tool"
            ),
            models.UniqueConstraint(
                fields=["team", "tool", "agent"], name="one_presentation_of_agents_tool"
            ),
        ]

    def read_body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.body)
        return body
