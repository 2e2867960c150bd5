"""Reminders and escalations of open requests, which the sweeper carries out."""

from django.db import models
from django.db.models import Q

from inbox.models.fields import choices, id_field
from inbox.models.policies.policies import Ruling
from inbox.rules.policies.requirement import StepKind


class DueStep(models.Model):
    """
    A reminder or escalation that a ruling requires, at its time.

    Escalations take effect by the clock (MergedRequirement.slots_at); a step tells people about it.
    """

    id = id_field()
    ruling = models.ForeignKey(Ruling, on_delete=models.PROTECT, related_name="steps")
    kind = models.CharField(max_length=10, choices=choices(StepKind))
    number = models.PositiveSmallIntegerField(help_text="from 1, for each kind")
    due_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ruling", "kind", "number"], name="one_due_step_per_number"
            )
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(done_at=None), name="due_steps_to_do")
        ]
