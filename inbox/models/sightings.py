"""Who has looked at which interrupt."""

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
