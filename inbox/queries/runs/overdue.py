"""What is overdue, by the database's clock."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from inbox.models import (
    AuditCheckpoint,
    AuditEntry,
    Delivery,
    Interrupt,
    Run,
    Team,
    WebhookEndpoint,
)
from inbox.models.clock import database_now
from inbox.rules.runs.states import InterruptStatus, RunStatus
from inbox.rules.webhooks.delivery_rules import LOG_RETENTION, DeliveryStatus, EventType

_AT_ONCE = 500
CHECKPOINT_INTERVAL = timedelta(seconds=30)


def runs_with_lost_workers() -> list[tuple[UUID, str]]:
    """Running runs whose lease ran out, with the registry name of their agent."""
    return list(
        Run.objects.filter(status=RunStatus.RUNNING, lease_until__lte=database_now()).values_list(
            "pk", "thread__agent__implementation"
        )[:_AT_ONCE]
    )


def runs_queued_for(age: timedelta) -> list[UUID]:
    """Runs that no worker took for so long that the ring may be lost."""
    return list(
        Run.objects.filter(
            status=RunStatus.QUEUED, queued_at__lte=database_now() - age
        ).values_list("pk", flat=True)[:_AT_ONCE]
    )


def runs_due_to_resume() -> list[UUID]:
    """Interrupted runs whose answers have waited for their team's grace period."""
    return list(
        Run.objects.filter(resume_at__lte=database_now()).values_list("pk", flat=True)[:_AT_ONCE]
    )


def threads_with_late_interrupts() -> list[UUID]:
    """Threads with open interrupts past their expiry."""
    return list(
        Interrupt.objects.filter(status=InterruptStatus.OPEN, expires_at__lte=database_now())
        .values_list("thread_id", flat=True)
        .distinct()[:_AT_ONCE]
    )


def threads_with_unannounced_expiry() -> list[UUID]:
    """Threads with open interrupts that expire soon, of which nobody was told who asked for it."""
    listening = {
        team
        for team, types in WebhookEndpoint.objects.filter(removed_at=None).values_list(
            "team_id", "event_types"
        )
        if EventType.INTERRUPT_EXPIRING in types
    }
    if not listening:
        return []
    now = database_now()
    told = Delivery.objects.filter(type=EventType.INTERRUPT_EXPIRING, interrupt=OuterRef("pk"))
    soon = Interrupt.objects.filter(
        status=InterruptStatus.OPEN,
        expires_at__gt=now,
        expires_at__lte=now + settings.EXPIRY_NOTICE,
        team__in=listening,
    )
    return list(
        soon.filter(~Exists(told)).values_list("thread_id", flat=True).distinct()[:_AT_ONCE]
    )


def is_checkpoint_due() -> bool:
    """
    Whether the last checkpoint is so old that the next one is signed within a minute of news.

    It is due as well after a checkpoint of the future: a clock that was ahead has been set right.
    """
    last = AuditCheckpoint.objects.order_by("-size").values_list("at", flat=True).first()
    now = database_now()
    return last is None or not now - CHECKPOINT_INTERVAL < last <= now


def teams_with_old_entries() -> list[UUID]:
    """Teams whose audit trail has names and texts for longer than they want it to."""
    teams = Team.objects.exclude(audit_days=None).values_list("pk", "audit_days", "audit_erased_to")
    now = database_now()
    found = []
    for team, days, erased_to in teams:
        later = AuditEntry.objects.filter(team=team, pk__gt=erased_to).order_by("pk")
        at = later.values_list("at", flat=True).first()
        if at is not None and at < now - timedelta(days=days or 0):
            found.append(team)
    return found


def endpoints_with_due_deliveries() -> list[UUID]:
    """Endpoints that are to be sent something now, which nobody is sending."""
    now = database_now()
    due = Delivery.objects.filter(
        Q(lease_until=None) | Q(lease_until__lte=now),
        endpoint=OuterRef("pk"),
        status=DeliveryStatus.PENDING,
        next_try_at__lte=now,
    )
    enabled = WebhookEndpoint.objects.filter(Exists(due), disabled_at=None, removed_at=None)
    return list(enabled.values_list("pk", flat=True)[:_AT_ONCE])


def endpoints_with_old_deliveries() -> list[UUID]:
    """Endpoints whose log goes back further than it is kept, as far as a short look finds them."""
    return sorted(set(old_deliveries().values_list("endpoint", flat=True)[:_AT_ONCE]))


def old_deliveries() -> QuerySet[Delivery]:
    """What arrived or was given up so long ago that no log keeps it, the oldest first."""
    settled = Delivery.objects.exclude(status=DeliveryStatus.PENDING)
    return settled.filter(next_try_at__lte=database_now() - LOG_RETENTION).order_by("next_try_at")
