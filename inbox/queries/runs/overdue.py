"""Work that is due by the database's clock, for the sweeper."""

from datetime import timedelta
from itertools import chain
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from inbox.models import (
    Announcement,
    AuditCheckpoint,
    AuditEntry,
    Delivery,
    DueStep,
    File,
    Grant,
    Interrupt,
    Invitation,
    Membership,
    Run,
    Team,
    ToolCall,
    WebhookEndpoint,
)
from inbox.platform.clock import database_now
from inbox.queries.runs.queued_runs import queued_runs
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import DECIDERS
from inbox.rules.runs.states import InterruptStatus, RunStatus, ToolCallState
from inbox.rules.webhooks.delivery_rules import LOG_RETENTION, DeliveryStatus, EventType

_MAX_ROWS = 500
CHECKPOINT_INTERVAL = timedelta(seconds=30)


def runs_with_lost_workers() -> list[tuple[UUID, str]]:
    """Return running runs with an expired lease, with the registry name of their agent."""
    return list(
        Run.objects.filter(
            status=RunStatus.RUNNING, pulled=False, lease_until__lte=database_now()
        ).values_list("pk", "thread__agent__implementation")[:_MAX_ROWS]
    )


def runs_queued_for(age: timedelta) -> list[UUID]:
    """Return runs that have been queued for so long that the wake-up may be lost, in turns."""
    return [run.run_id for run in queued_runs(most=_MAX_ROWS, age=age)]


def runs_due_to_resume() -> list[UUID]:
    """Return interrupted runs whose grace period is over."""
    return list(
        Run.objects.filter(resume_at__lte=database_now()).values_list("pk", flat=True)[:_MAX_ROWS]
    )


def threads_with_due_calls() -> list[UUID]:
    """Return threads with calls of external programs whose lease or time to start has ended."""
    now = database_now()
    leases = ToolCall.objects.filter(state=ToolCallState.STARTED, lease_until__lte=now)
    starts = ToolCall.objects.filter(state=ToolCallState.PROPOSED, start_before__lte=now)
    threads = [rows.values_list("thread_id", flat=True)[:_MAX_ROWS] for rows in (leases, starts)]
    return list(dict.fromkeys(chain(*threads)))


def lapsed_grants() -> list[UUID]:
    """Return active grants that have expired, or whose makers may not decide any more."""
    deciders = Membership.objects.filter(
        team=OuterRef("team"),
        user=OuterRef("made_by"),
        user__is_active=True,
        role__in=DECIDERS,
    )
    lapsed = Q(expires_at__lte=database_now()) | ~Exists(deciders)
    return list(
        Grant.objects.filter(lapsed, ended_at=None).values_list("pk", flat=True)[:_MAX_ROWS]
    )


def threads_with_late_interrupts() -> list[UUID]:
    """Return threads with open interrupts past their expiry."""
    return list(
        Interrupt.objects.filter(status=InterruptStatus.OPEN, expires_at__lte=database_now())
        .values_list("thread_id", flat=True)
        .distinct()[:_MAX_ROWS]
    )


def threads_with_due_steps() -> list[UUID]:
    """Return threads with reminders or escalations that are due."""
    due = DueStep.objects.filter(done_at=None, due_at__lte=database_now())
    threads = due.values_list("ruling__interrupt__thread_id", flat=True)
    return list(threads.distinct()[:_MAX_ROWS])


def threads_with_unannounced_expiry() -> list[UUID]:
    """Return threads with interrupts that expire soon, without a webhook message about it yet."""
    subscribed_teams = {
        team
        for team, types in WebhookEndpoint.objects.filter(removed_at=None).values_list(
            "team_id", "event_types"
        )
        if EventType.INTERRUPT_EXPIRING in types
    }
    if not subscribed_teams:
        return []
    now = database_now()
    notices = Delivery.objects.filter(type=EventType.INTERRUPT_EXPIRING, interrupt=OuterRef("pk"))
    expiring = Interrupt.objects.filter(
        status=InterruptStatus.OPEN,
        expires_at__gt=now,
        expires_at__lte=now + settings.EXPIRY_NOTICE,
        team__in=subscribed_teams,
    )
    unannounced = expiring.filter(~Exists(notices))
    return list(unannounced.values_list("thread_id", flat=True).distinct()[:_MAX_ROWS])


def unannounced_expiries() -> list[UUID]:
    """Return the interrupts that expire soon, of which people have not been told yet."""
    now = database_now()
    earlier = Announcement.objects.filter(kind=AnnouncementKind.EXPIRING, interrupt=OuterRef("pk"))
    expiring = Interrupt.objects.filter(
        ~Exists(earlier),
        status=InterruptStatus.OPEN,
        expires_at__gt=now,
        expires_at__lte=now + settings.EXPIRY_NOTICE,
    )
    return list(expiring.values_list("pk", flat=True)[:_MAX_ROWS])


def invitations_to_send() -> list[UUID]:
    """Return the invitations whose mail is due."""
    due = Invitation.objects.filter(next_try_at__lte=database_now())
    return list(due.values_list("pk", flat=True)[:_MAX_ROWS])


def is_checkpoint_due() -> bool:
    """
    Return whether the next checkpoint is due: one every CHECKPOINT_INTERVAL.

    It is also due if the last one is in the future, because a clock was set back.
    """
    last = AuditCheckpoint.objects.order_by("-size").values_list("at", flat=True).first()
    now = database_now()
    return last is None or not now - CHECKPOINT_INTERVAL < last <= now


def teams_with_old_entries() -> list[UUID]:
    """Return teams with audit payloads that are older than the team's retention."""
    teams = Team.objects.exclude(audit_days=None).values_list("pk", "audit_days", "audit_erased_to")
    now = database_now()
    due = []
    for team, days, erased_to in teams:
        later = AuditEntry.objects.filter(team=team, pk__gt=erased_to).order_by("pk")
        at = later.values_list("at", flat=True).first()
        if at is not None and at < now - timedelta(days=days or 0):
            due.append(team)
    return due


def teams_with_old_files() -> list[UUID]:
    """Return teams with files that are older than the team's retention."""
    now = database_now()
    teams = Team.objects.exclude(file_days=None).values_list("pk", "file_days")
    return [
        team
        for team, days in teams
        if File.objects.filter(
            team=team, erased_at=None, created_at__lt=now - timedelta(days=days or 0)
        ).exists()
    ]


def endpoints_with_due_deliveries() -> list[UUID]:
    """Return endpoints with deliveries that are due and that no worker has leased."""
    now = database_now()
    due = Delivery.objects.filter(
        Q(lease_until=None) | Q(lease_until__lte=now),
        endpoint=OuterRef("pk"),
        status=DeliveryStatus.PENDING,
        next_try_at__lte=now,
    )
    enabled = WebhookEndpoint.objects.filter(Exists(due), disabled_at=None, removed_at=None)
    return list(enabled.values_list("pk", flat=True)[:_MAX_ROWS])


def endpoints_with_old_deliveries() -> list[UUID]:
    """Return endpoints with deliveries older than LOG_RETENTION, as far as one query finds them."""
    return sorted(set(old_deliveries().values_list("endpoint", flat=True)[:_MAX_ROWS]))


def old_deliveries() -> QuerySet[Delivery]:
    """Return finished deliveries older than LOG_RETENTION, the oldest first."""
    settled = Delivery.objects.exclude(status=DeliveryStatus.PENDING)
    return settled.filter(next_try_at__lte=database_now() - LOG_RETENTION).order_by("next_try_at")
