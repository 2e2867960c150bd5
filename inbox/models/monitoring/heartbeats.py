"""Heartbeats of workers, so that every process knows whether somebody takes runs."""

from django.db import models

from inbox.models.fields import id_field


class WorkerHeartbeat(models.Model):
    """A process that takes runs; it writes its row every few seconds and deletes it at the end."""

    id = id_field()
    host = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    is_consuming = models.BooleanField(help_text="whether it receives messages of the broker")
    swept_at = models.DateTimeField(null=True, help_text="end of its last sweep")
