"""Tool calls: proposals, approvals and results."""

import json
from typing import Any

from django.db import models
from django.db.models import Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import choices, id_field, known_states
from inbox.models.people.teams import Team
from inbox.models.runs.threads import Run, Thread
from inbox.rules.decisions.consent import load_original_value
from inbox.rules.requests.request_states import ReportedOutcome
from inbox.rules.runs.states import ToolCallOutcome, ToolCallState


class ToolCall(models.Model):
    """
    A tool call of an agent; its primary key is the idempotency key of the effect.

    `args` are the proposed arguments and `edited_args` a reviewer's replacement, both canonical
    JSON text; `result` is the content of its TOOL_CALL_RESULT. `verdict` combines the decisions in
    force, and `decided_by` is their author (`Actor.ident`). `team` and `agent` are copied from the
    thread, so that one index serves each list.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(
        Thread, on_delete=models.PROTECT, related_name="tool_calls", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="tool_calls")
    tool_call_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200)
    args = models.TextField()
    original_args = models.TextField(
        null=True,
        help_text="`args` as the agent wrote them, if that differs from the canonical text",
    )
    edited_args = models.TextField(null=True)
    effect = models.CharField(max_length=10, blank=True)
    state = models.CharField(
        max_length=10, choices=choices(ToolCallState), default=ToolCallState.PROPOSED
    )
    verdict = models.CharField(max_length=10, blank=True, choices=choices(ToolCallOutcome))
    decided_by = models.CharField(max_length=64, blank=True)
    result = models.TextField(null=True)
    attempt = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="of the external program that started it, as it names it",
    )
    lease_until = models.DateTimeField(
        null=True, help_text="until when an external program has to report"
    )
    start_before = models.DateTimeField(
        null=True, help_text="until when an external program may start the approved call"
    )
    executed_args = models.TextField(
        null=True, help_text="as an external program reports them; null if as approved"
    )
    outcome = models.CharField(
        max_length=12,
        blank=True,
        default="",
        db_default="",
        choices=choices(ReportedOutcome),
        help_text="that an external program reported",
    )
    late_report = models.TextField(
        null=True, help_text="JSON text of a report after the call was in doubt"
    )
    proposed_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "tool_call_id"], name="one_tool_call_per_id"),
            known_states("state", ToolCallState, "tool_call_state_is_known"),
            models.CheckConstraint(
                condition=~Q(state__in=[ToolCallState.STARTED, ToolCallState.IN_DOUBT])
                | Q(started_at__isnull=False),
                name="started_call_has_its_time",
            ),
            models.CheckConstraint(
                condition=~Q(state=ToolCallState.SETTLED)
                | Q(result__isnull=False, settled_at__isnull=False),
                name="settled_call_has_its_result",
            ),
        ]
        indexes = [
            # With the columns that the daily counts read, beyond the order of the list.
            models.Index(fields=["team", "id", "name", "verdict"], name="calls_by_day"),
            models.Index(fields=["agent", "id"], name="calls_of_agent"),
            models.Index(fields=["team", "name", "id"], name="calls_of_tool"),
            models.Index(fields=["team", "verdict", "id"], name="calls_by_verdict"),
            models.Index(fields=["team", "decided_by", "id"], name="calls_by_person"),
            models.Index(fields=["tool_call_id"], name="calls_by_wire_id"),
            models.Index(
                fields=["lease_until"],
                condition=Q(state=ToolCallState.STARTED, lease_until__isnull=False),
                name="calls_by_lease",
            ),
            models.Index(
                fields=["start_before"],
                condition=Q(state=ToolCallState.PROPOSED, start_before__isnull=False),
                name="calls_by_last_start",
            ),
        ]

    @property
    def proposed(self) -> Any:
        """Return the value of `args` in the agent's own order and numbers."""
        return load_original_value(self.args, self.original_args)

    @property
    def approved(self) -> Any:
        """Return the value of `approved_args`, untouched ones in the agent's order and numbers."""
        return self.proposed if self.edited_args is None else json.loads(self.edited_args)

    @property
    def approved_args(self) -> str:
        return self.args if self.edited_args is None else self.edited_args
