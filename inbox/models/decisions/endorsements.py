"""Endorsements: approvals of one person each, where a policy requires several people."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.decisions.decisions import Decision
from inbox.models.fields import id_field
from inbox.models.runs.interrupts import Interrupt
from inbox.rules.runs.states import InterruptStatus


class Endorsement(models.Model):
    """
    One person's approval of an interrupt; the one that completes them writes the decision.

    In force until it is withdrawn by the person, or voided because the arguments have changed or
    the interrupt was closed in another way.
    """

    id = id_field()
    interrupt = models.ForeignKey(Interrupt, on_delete=models.PROTECT, related_name="endorsements")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    payload = models.TextField(help_text="canonical JSON text of the answer")
    view_digest = models.CharField(
        max_length=64, help_text="of the view with the changes of this answer"
    )
    method = models.CharField(max_length=40, blank=True, help_text="sign-in method of the session")
    created_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)
    decision = models.ForeignKey(
        Decision,
        null=True,
        on_delete=models.PROTECT,
        related_name="endorsements",
        help_text="the decision that it is part of",
    )

    def counts_for(self, interrupt: Interrupt) -> bool:
        """Return whether it is an answer to what the interrupt displays; always if it is closed."""
        is_open = interrupt.status == InterruptStatus.OPEN
        return not is_open or self.view_digest == interrupt.shown_digest

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt", "user"],
                condition=Q(withdrawn_at=None, voided_at=None),
                name="one_endorsement_per_person",
            )
        ]
