"""Webhooks, their outbox and its delivery log."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from uuid6 import uuid7

from inbox.models.agents.agents import Agent
from inbox.models.fields import EncryptedTextField, choices, id_field
from inbox.models.people.teams import Team
from inbox.models.runs.interrupts import Interrupt
from inbox.models.runs.threads import Thread
from inbox.rules.webhooks.delivery_rules import DeliveryStatus, DisabledReason

_PENDING = Q(status=DeliveryStatus.PENDING)


class WebhookEndpoint(models.Model):
    """
    A URL that receives a team's events; its row is the lock of its deliveries.

    A removed endpoint remains as a row without secrets, because concurrent deliveries may refer to
    it. A transaction that locks it takes no other lock but that of its team afterwards, and one
    that holds a thread's lock never waits for it.
    """

    id = id_field()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="webhooks")
    agent = models.OneToOneField(
        Agent,
        null=True,
        on_delete=models.PROTECT,
        related_name="callbacks",
        help_text="whose programs are called back; such an endpoint has no events of its own",
    )
    url = models.CharField(max_length=2_000)
    description = models.CharField(max_length=200, blank=True)
    event_types = models.JSONField()
    secret = EncryptedTextField(help_text="encrypted")
    former_secret = EncryptedTextField(
        blank=True, help_text="encrypted; also signs until `former_until`"
    )
    former_until = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=10, choices=choices(DisabledReason), blank=True)
    failures = models.PositiveIntegerField(default=0, help_text="consecutive failures")
    failing_since = models.DateTimeField(null=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the webhook is disabled when this person leaves; null: not known, or a command",
    )
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    def encrypted_secrets(self, now: datetime) -> list[str]:
        """Return the secrets that sign messages now, the current one first."""
        has_former = self.former_until is not None and self.former_until > now
        return [self.secret, self.former_secret] if has_former else [self.secret]


class Delivery(models.Model):
    """
    One message to one endpoint, stored in the transaction of its event.

    Rows of a thread are inserted under its lock, so that keys are in the order of events. A message
    is sent again under the same id. An `is_manual` delivery does not delay others.
    """

    id = models.BigAutoField(primary_key=True)
    message_id = models.UUIDField(unique=True, default=uuid7, editable=False)
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.PROTECT, related_name="deliveries"
    )
    thread = models.ForeignKey(
        Thread, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    interrupt = models.ForeignKey(
        Interrupt, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    type = models.CharField(max_length=40)
    url = EncryptedTextField(
        blank=True,
        default="",
        db_default="",
        help_text="encrypted: of a callback; blank for the URL of the endpoint",
    )
    body = models.TextField(help_text="JSON text that is signed and sent")
    status = models.CharField(
        max_length=10, choices=choices(DeliveryStatus), default=DeliveryStatus.PENDING
    )
    is_manual = models.BooleanField(default=False)
    failed_attempts = models.PositiveSmallIntegerField(
        default=0, help_text="failures since it was queued"
    )
    next_try_at = models.DateTimeField()
    fence = models.IntegerField(default=0, help_text="incremented by each claim of a worker")
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)

    @property
    def wire_id(self) -> str:
        """The id of the message in the headers, the same in every attempt."""
        return f"msg_{self.message_id.hex}"

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt", "endpoint"],
                condition=Q(type="interrupt.expiring"),
                name="one_warning_per_interrupt",
            )
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "next_try_at"], condition=_PENDING, name="deliveries_by_time"
            ),
            models.Index(
                fields=["endpoint", "thread", "id"], condition=_PENDING, name="deliveries_in_order"
            ),
            models.Index(fields=["endpoint", "-id"], name="deliveries_of_endpoint"),
            models.Index(
                fields=["endpoint", "id"],
                condition=Q(status=DeliveryStatus.FAILED),
                name="deliveries_given_up",
            ),
            models.Index(fields=["next_try_at"], condition=~_PENDING, name="deliveries_by_age"),
        ]


class DeliveryAttempt(models.Model):
    """One HTTP request of a delivery, with its result."""

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, related_name="attempts")
    at = models.DateTimeField()
    status_code = models.PositiveSmallIntegerField(null=True)
    problem = models.CharField(max_length=200, blank=True)
    response = models.TextField(blank=True)
    milliseconds = models.PositiveIntegerField()
