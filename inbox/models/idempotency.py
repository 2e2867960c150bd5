"""Idempotency records."""

from django.db import models

from inbox.models.fields import id_field


class IdempotencyRecord(models.Model):
    """A request with an Idempotency-Key and the object it created, stored in one transaction."""

    id = id_field()
    key_digest = models.CharField(max_length=64, unique=True, help_text="of the actor and the key")
    request_digest = models.CharField(max_length=64)
    created_id = models.UUIDField(help_text="of the created object")
    created_at = models.DateTimeField()
