"""Figures about the whole site, read from the database for metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Min, Q

from inbox.models import (
    Announcement,
    AuditCheckpoint,
    AuditEntry,
    Delivery,
    Interrupt,
    Notification,
    Run,
)
from inbox.platform.clock import database_now
from inbox.queries.audit.sink_lag import SinkState, sink_states
from inbox.queries.monitoring.readiness import WorkerState, worker_state
from inbox.rules.notifications.events import NotificationStatus
from inbox.rules.runs.states import InterruptStatus, RunStatus
from inbox.rules.webhooks.delivery_rules import DeliveryStatus

#: Upper bounds of the ages of open requests; older ones are `older`.
AGES: Final[Mapping[str, timedelta]] = {
    "5m": timedelta(minutes=5),
    "1h": timedelta(hours=1),
    "8h": timedelta(hours=8),
    "1d": timedelta(days=1),
}
#: Teams with names of their own in metrics; the rest are counted together.
MAX_TEAMS: Final = 200
OTHER_TEAMS: Final = "(other)"
#: Counting stops here: after an import there may be millions of entries without a signature.
MAX_UNSIGNED: Final = 10_000


@dataclass(frozen=True)
class TeamFigures:
    """The open requests of a team."""

    by_age: Mapping[str, int]
    oldest_seconds: float


@dataclass(frozen=True)
class Backlog:
    """Messages that are to be sent, and for how long the first of them has been due."""

    pending: int
    late_seconds: float


@dataclass(frozen=True)
class SiteFigures:
    runs: Mapping[str, int]  #: queued and running
    teams: Mapping[str, TeamFigures]  #: by slug
    webhooks: Backlog
    notifications: Backlog
    announcements_late_seconds: float
    unsigned_entries: int  #: up to MAX_UNSIGNED
    checkpoint_seconds: float | None  #: age of the last checkpoint
    workers: WorkerState
    sinks: Mapping[str, SinkState]


def site_figures() -> SiteFigures:
    """Read all figures; each query reads an index of what is open, queued or unsent."""
    now = database_now()
    checkpoint = AuditCheckpoint.objects.order_by("-size").values("at", "newest_entry").first()
    unsigned = AuditEntry.objects.filter(pk__gt=checkpoint["newest_entry"] if checkpoint else 0)
    unexpanded = Announcement.objects.filter(expanded_at=None).aggregate(at=Min("at"))["at"]
    return SiteFigures(
        runs={status.value: _runs(status) for status in (RunStatus.QUEUED, RunStatus.RUNNING)},
        teams=_teams(now),
        webhooks=_backlog(
            Delivery.objects.filter(status=DeliveryStatus.PENDING, endpoint__disabled_at=None),
            "next_try_at",
            now,
        ),
        notifications=_backlog(
            Notification.objects.filter(status=NotificationStatus.PENDING), "due_at", now
        ),
        announcements_late_seconds=_seconds(unexpanded, now),
        unsigned_entries=unsigned.order_by("pk")[:MAX_UNSIGNED].count(),
        checkpoint_seconds=_seconds(checkpoint["at"], now) if checkpoint else None,
        workers=worker_state(),
        sinks=sink_states(),
    )


def _runs(status: RunStatus) -> int:
    return Run.objects.filter(status=status, pulled=False).count()


def _teams(now: datetime) -> Mapping[str, TeamFigures]:
    bounds = dict(zip(AGES, (Q(created_at__gt=now - age) for age in AGES.values()), strict=True))
    rows = (
        Interrupt.objects.filter(status=InterruptStatus.OPEN)
        .values("team__slug")
        .annotate(
            total=Count("pk"),
            oldest=Min("created_at"),
            **{f"within_{name}": Count("pk", filter=bound) for name, bound in bounds.items()},
        )
        .order_by("-total", "team__slug")
    )
    teams: dict[str, TeamFigures] = {}
    for number, row in enumerate(rows):
        name = row["team__slug"] if number < MAX_TEAMS else OTHER_TEAMS
        teams[name] = _joined(teams.get(name), _team(row, now))
    return teams


def _team(row: Mapping[str, Any], now: datetime) -> TeamFigures:
    by_age, younger = {}, 0
    for name in AGES:
        by_age[name] = row[f"within_{name}"] - younger
        younger = row[f"within_{name}"]
    by_age["older"] = row["total"] - younger
    return TeamFigures(by_age, _seconds(row["oldest"], now))


def _joined(first: TeamFigures | None, second: TeamFigures) -> TeamFigures:
    if first is None:
        return second
    by_age = {name: first.by_age[name] + number for name, number in second.by_age.items()}
    return TeamFigures(by_age, max(first.oldest_seconds, second.oldest_seconds))


def _backlog(rows: Any, due_column: str, now: datetime) -> Backlog:
    figures = rows.aggregate(pending=Count("pk"), first=Min(due_column))
    return Backlog(figures["pending"], _seconds(figures["first"], now))


def _seconds(at: datetime | None, now: datetime) -> float:
    """Return the seconds since a time, 0 for none and for times to come."""
    return 0.0 if at is None else max((now - at).total_seconds(), 0.0)
