"""
The log of a thread: the rows are the messages, in order and without gaps.

Foreign keys have no index of their own here where a constraint already makes one.
"""

from django.db import models

from inbox.models.threads import Run, Thread


class Event(models.Model):
    """One AG-UI event as it goes over the wire. Append-only: triggers refuse anything else."""

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
