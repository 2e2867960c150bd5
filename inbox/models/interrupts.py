"""The questions that runs ended with."""

from datetime import UTC, datetime

from django.db import models
from django.db.models import Q

from inbox.domain.states import InterruptStatus
from inbox.models.fields import choices, id_field
from inbox.models.people import Team
from inbox.models.threads import Run, Thread
from inbox.models.toolcalls import ToolCall

#: When a question without an expiry is due: a column without nulls sorts by its index everywhere.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)


class Interrupt(models.Model):
    """
    One question of a run. Nothing but its state changes after it was asked.

    `body` is the AG-UI Interrupt as JSON text; the columns beside it serve lists and checks.
    `team` repeats the thread's, so that the pending list is one index.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(
        Thread, on_delete=models.PROTECT, related_name="interrupts", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="interrupts")
    tool_call = models.ForeignKey(
        ToolCall, null=True, on_delete=models.PROTECT, related_name="interrupts"
    )
    interrupt_id = models.CharField(max_length=200)
    position = models.IntegerField(help_text="its place in the outcome, from 0")
    reason = models.CharField(max_length=100)
    title = models.CharField(max_length=300)
    args = models.TextField(null=True, help_text="the tool's arguments when this was asked")
    body = models.TextField()
    view_digest = models.CharField(max_length=64)
    status = models.CharField(
        max_length=10, choices=choices(InterruptStatus), default=InterruptStatus.OPEN
    )
    expires_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(help_text="expires_at, or NEVER: the order of the pending list")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "interrupt_id"], name="one_interrupt_per_id")
        ]
        indexes = [
            models.Index(
                fields=["team", "due_at", "id"],
                condition=Q(status=InterruptStatus.OPEN),
                name="pending_by_expiry",
            ),
            models.Index(
                fields=["expires_at"],
                condition=Q(status=InterruptStatus.OPEN),
                name="open_by_expiry",
            ),
            models.Index(
                fields=["team", "-closed_at"],
                condition=~Q(status=InterruptStatus.OPEN),
                name="decided_by_time",
            ),
        ]
