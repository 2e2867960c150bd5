"""Read receipts: views of interrupts and of unmasked values."""

from django.conf import settings
from django.db import models

from inbox.models.interrupts import Interrupt


class Sighting(models.Model):
    """The first time a person opened an interrupt with this view digest."""

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
    """The first time a person unmasked a set of values of this view digest."""

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
