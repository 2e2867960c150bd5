"""Who did what, and when."""

from django.db import models

from inbox.models.interrupts import Interrupt
from inbox.models.people import Team
from inbox.models.threads import Run, Thread


class AuditEntry(models.Model):
    """One thing that somebody did, in the transaction that did it. Append-only, by triggers."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    thread = models.ForeignKey(Thread, null=True, on_delete=models.PROTECT, related_name="audit")
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="+")
    interrupt = models.ForeignKey(
        Interrupt, null=True, on_delete=models.PROTECT, related_name="audit"
    )
    action = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64)
    actor_label = models.CharField(max_length=160)
    detail = models.TextField(default="{}", help_text="canonical JSON text")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["team", "-id"], name="audit_of_a_team")]
