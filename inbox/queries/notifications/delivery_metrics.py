"""Metrics of the notifications about a team's requests."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median, quantiles
from typing import Final
from uuid import UUID

from django.db.models import Count

from inbox.models import Notification
from inbox.platform.clock import database_now
from inbox.queries.people.access import require
from inbox.rules.notifications.events import NotificationStatus
from inbox.rules.people.access import Actor, Permission

DAYS: Final = 7
#: Notifications whose delay is measured, the latest ones.
_MOST_TIMED: Final = 2_000


@dataclass(frozen=True)
class KindMetrics:
    """The notifications of one kind of channel in the last days, by status."""

    kind: str
    sent: int
    dropped: int
    failed: int
    pending: int
    #: Seconds from the due time to the acceptance by the server, of the latest; None without any.
    median_seconds: float | None
    p95_seconds: float | None


def delivery_metrics(actor: Actor, team_id: UUID) -> Sequence[KindMetrics]:
    """
    Return the metrics of notifications about a team's requests, by kind of channel.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    rows = Notification.objects.filter(
        interrupt__team=team_id, announcement__at__gt=database_now() - timedelta(days=DAYS)
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, status, count in rows.values_list("channel__kind", "status").annotate(Count("pk")):
        counts[kind][status] = count
    delays: dict[str, list[float]] = defaultdict(list)
    sent = rows.filter(status=NotificationStatus.SENT).order_by("-pk")
    for kind, due_at, settled_at in sent.values_list("channel__kind", "due_at", "settled_at")[
        :_MOST_TIMED
    ]:
        if settled_at is not None:
            delays[kind].append(max(0.0, (settled_at - due_at).total_seconds()))
    return [
        KindMetrics(
            kind,
            sent=counts[kind][NotificationStatus.SENT],
            dropped=counts[kind][NotificationStatus.DROPPED],
            failed=counts[kind][NotificationStatus.FAILED],
            pending=counts[kind][NotificationStatus.PENDING],
            median_seconds=median(delays[kind]) if delays[kind] else None,
            p95_seconds=_p95(delays[kind]),
        )
        for kind in sorted(counts)
    ]


def _p95(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=20, method="inclusive")[-1]
