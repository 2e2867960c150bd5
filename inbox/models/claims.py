"""Claims of reviewers on interrupts."""

from django.conf import settings
from django.db import models

from inbox.models.interrupts import Interrupt
from inbox.rules.decisions.collaboration import Holder


class Claim(models.Model):
    """
    A reviewer's lease on an open interrupt; the row is deleted when the interrupt closes.

    An expired lease has no effect, and anyone may replace it.
    """

    interrupt = models.OneToOneField(
        Interrupt, primary_key=True, on_delete=models.PROTECT, related_name="claim"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    claimed_at = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "until"], name="claims_of_a_person")]

    @property
    def holder(self) -> Holder:
        return Holder(self.user_id, self.user.display_name, self.until)
