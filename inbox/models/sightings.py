"""Who has looked at which interrupt, and at what of it without masks."""

from django.conf import settings
from django.db import models

from inbox.models.interrupts import Interrupt


class Sighting(models.Model):
    """That a person has opened an interrupt, as it was shown under this digest; once each."""

    interrupt = models.ForeignKey(
        Interrupt, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    view_digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt", "user", "view_digest"], name="one_sighting_per_view"
            )
        ]


class Unmasking(models.Model):
    """That a person was shown one set of values without masks, under this digest; once each."""

    interrupt = models.ForeignKey(
        Interrupt, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    view_digest = models.CharField(max_length=64)
    what = models.CharField(
        max_length=20, help_text="as inbox.queries.decisions.masked_values names it"
    )
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt", "user", "view_digest", "what"], name="one_unmasking_per_view"
            )
        ]
