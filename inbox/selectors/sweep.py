"""What is overdue, by the database's clock."""

from datetime import timedelta
from uuid import UUID

from inbox.domain.states import InterruptStatus, RunStatus
from inbox.models import Interrupt, Run
from inbox.models.clock import database_now

_AT_ONCE = 500


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
