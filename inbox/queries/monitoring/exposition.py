"""The page of metrics that Prometheus reads."""

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import structlog
from django.db import DatabaseError, InterfaceError, connections

from inbox.platform.monitoring.metrics import metrics
from inbox.platform.monitoring.parts import PartStatus
from inbox.queries.monitoring.readiness import readiness
from inbox.queries.monitoring.site_figures import SiteFigures, site_figures

log = structlog.get_logger(__name__)

CONTENT_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"
#: Scrapes within this time get the same figures of the database.
CACHE_SECONDS: Final = 10.0
_STATES: Final = {PartStatus.OK: 1.0, PartStatus.DEGRADED: 0.5, PartStatus.FAILING: 0.0}


def metrics_page() -> bytes:
    """Return all metrics of this process, and those of the site, as text for Prometheus."""
    from prometheus_client import generate_latest  # noqa: PLC0415 - loaded with the metrics

    if not _site.is_added:
        _site.is_added = True
        metrics.add_collector(_site.collect)
    return generate_latest(metrics.registry)


class _Site:
    """Collects the figures of the database, the broker and the disk."""

    def __init__(self) -> None:
        self.is_added = False
        self._lock = threading.Lock()
        self._figures: SiteFigures | None = None
        self._until = 0.0

    def collect(self) -> Iterator[Any]:
        parts = readiness().parts
        yield _gauge(
            "signoff_ready",
            "Parts of readiness: 1 ok, 0.5 degraded, 0 failing.",
            {(name,): _STATES[part.status] for name, part in parts.items()},
            ("part",),
        )
        if "free_bytes" in parts["disk"].detail:
            free = parts["disk"].detail["free_bytes"]
            yield _gauge("signoff_disk_free_bytes", "Free space of the data directory.", {(): free})
        if "messages" in parts["broker"].detail:
            number = parts["broker"].detail["messages"]
            yield _gauge("signoff_broker_messages", "Wake-ups that wait in Redis.", {(): number})
        yield from _pool()
        if (figures := self._read()) is not None:
            yield from _site_gauges(figures)

    def _read(self) -> SiteFigures | None:
        """Return recent figures, None while the database is away."""
        with self._lock:
            if time.monotonic() >= self._until:
                try:
                    self._figures = site_figures()
                except (DatabaseError, InterfaceError) as error:
                    log.warning("metrics not read", error=type(error).__name__)
                    self._figures = None
                self._until = time.monotonic() + CACHE_SECONDS
            return self._figures


_site = _Site()


def _pool() -> Iterator[Any]:
    """Yield the state of the pool of database connections; SQLite has none."""
    pool = getattr(connections["default"], "pool", None)
    if pool is not None:
        stats = pool.get_stats()
        size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
        yield _gauge(
            "signoff_database_connections",
            "Connections of this process to the database.",
            {("idle",): idle, ("used",): size - idle},
            ("state",),
        )
        yield _gauge(
            "signoff_database_waiting",
            "Threads that wait for a connection.",
            {(): stats.get("requests_waiting", 0)},
        )


def _site_gauges(figures: SiteFigures) -> Iterator[Any]:
    yield _gauge(
        "signoff_runs",
        "Queued and running runs.",
        {(status,): number for status, number in figures.runs.items()},
        ("status",),
    )
    yield _gauge(
        "signoff_run_oldest_queued_seconds",
        "Age of the run that has been queued for longest.",
        {(): figures.workers.oldest_queued_seconds or 0.0},
    )
    yield _gauge(
        "signoff_requests_open",
        "Open requests by team and by the upper bound of their age.",
        {
            (slug, age): number
            for slug, team in figures.teams.items()
            for age, number in team.by_age.items()
        },
        ("team", "age"),
    )
    yield _gauge(
        "signoff_request_oldest_open_seconds",
        "Age of the oldest open request of each team.",
        {(slug,): team.oldest_seconds for slug, team in figures.teams.items()},
        ("team",),
    )
    for kind, backlog in (("webhook", figures.webhooks), ("notification", figures.notifications)):
        yield _gauge(
            f"signoff_{kind}s_pending", f"{kind.capitalize()}s to be sent.", {(): backlog.pending}
        )
        yield _gauge(
            f"signoff_{kind}_late_seconds",
            f"Time for which the first {kind} has been due.",
            {(): backlog.late_seconds},
        )
    yield _gauge(
        "signoff_announcement_late_seconds",
        "Time for which the first event has waited to be told to people.",
        {(): figures.announcements_late_seconds},
    )
    yield _gauge(
        "signoff_audit_unsigned_entries",
        "Audit entries that no checkpoint covers yet, up to 10000.",
        {(): figures.unsigned_entries},
    )
    yield _gauge(
        "signoff_audit_checkpoint_age_seconds",
        "Age of the last signed checkpoint.",
        {} if figures.checkpoint_seconds is None else {(): figures.checkpoint_seconds},
    )
    yield _gauge("signoff_workers", "Workers that take runs.", {(): figures.workers.workers})
    yield _gauge(
        "signoff_audit_sink_lag_seconds",
        "Age of the oldest audit entry that a sink lacks.",
        {(name,): state.lag_seconds for name, state in figures.sinks.items()},
        ("sink",),
    )
    swept = figures.workers.swept_seconds
    yield _gauge(
        "signoff_sweeper_age_seconds",
        "Time since the last sweep.",
        {} if swept is None else {(): swept},
    )


def _gauge(
    name: str, text: str, values: Mapping[tuple[str, ...], float], labels: tuple[str, ...] = ()
) -> Any:
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415 - as above

    family = GaugeMetricFamily(name, text, labels=labels)
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family
