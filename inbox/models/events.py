"""
The event log of a thread, in order and without gaps.

Foreign keys have no separate index where a constraint already creates one.
"""

from django.db import models

from inbox.models.threads import Run, Thread


class Event(models.Model):
    """One AG-UI event in its wire format. Append-only by triggers."""

    thread = models.ForeignKey(
        Thread, on_delete=models.PROTECT, related_name="events", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="events", db_index=False)
    seq = models.BigIntegerField()
    type = models.CharField(max_length=40)
    body = models.TextField(help_text="the event's JSON text, exactly as every client gets it")
    from_agent = models.BooleanField(help_text="false where the engine added it")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "seq"], name="one_event_per_seq")]
        indexes = [models.Index(fields=["run", "seq"], name="events_of_a_run")]
