"""
Metrics of this process, for Prometheus.

Without `enable` they count nothing and `prometheus_client` is not imported. Labels have values from
short fixed lists only, never texts of agents, people or clients.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from django.db import transaction

_Kind = Literal["Counter", "Gauge", "Histogram"]

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_RESUMES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_WAITS = (10.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0, 7 * 24 * 3600.0)


class Meter:
    """One metric; its methods do nothing before `enable`."""

    def __init__(
        self,
        kind: _Kind,
        name: str,
        text: str,
        labels: Sequence[str] = (),
        buckets: Sequence[float] = _QUICK,
    ) -> None:
        self.kind, self.name, self.text = kind, name, text
        self.labels, self.buckets = tuple(labels), buckets
        self._metric: Any = None
        METERS.append(self)

    def start(self, library: Any, registry: Any) -> None:
        more = {"buckets": self.buckets} if self.kind == "Histogram" else {}
        make = getattr(library, self.kind)
        self._metric = make(self.name, self.text, self.labels, registry=registry, **more)

    def add(self, *labels: str, number: float = 1) -> None:
        """Count events, or change a gauge."""
        if self._metric is not None:
            self._labelled(labels).inc(number)

    def add_on_commit(self, *labels: str, number: float = 1) -> None:
        """Count events of a transaction once it is committed."""
        if self._metric is not None:
            transaction.on_commit(lambda: self.add(*labels, number=number), robust=True)

    def observe(self, seconds: float, *labels: str) -> None:
        """Record one duration."""
        if self._metric is not None:
            self._labelled(labels).observe(max(seconds, 0.0))

    def observe_on_commit(self, seconds: float, *labels: str) -> None:
        """Record a duration once the transaction is committed."""
        if self._metric is not None:
            transaction.on_commit(lambda: self.observe(seconds, *labels), robust=True)

    def _labelled(self, labels: Sequence[str]) -> Any:
        return self._metric.labels(*labels) if labels else self._metric


METERS: list[Meter] = []

HTTP_SECONDS = Meter(
    "Histogram",
    "signoff_http_request_duration_seconds",
    "Time to the start of the response, by the template of the route.",
    ("method", "route", "status"),
)
SOCKETS_OPEN = Meter("Gauge", "signoff_websockets_open", "Open WebSockets.")
SOCKET_CLOSES = Meter(
    "Counter", "signoff_websocket_closes", "Closed WebSockets by close code.", ("code",)
)
FOLLOWERS = Meter(
    "Gauge", "signoff_feed_followers", "Streams and pages that follow the events of a thread."
)
QUEUE_SECONDS = Meter(
    "Histogram",
    "signoff_run_queue_seconds",
    "Time from queued to started, of new runs and of resumes.",
    ("kind",),
    _RESUMES,
)
RESUME_SECONDS = Meter(
    "Histogram",
    "signoff_approval_resume_seconds",
    "Time from the last decision on a run to the start of its resume, with grace periods.",
    (),
    _RESUMES,
)
RUNS_ENDED = Meter("Counter", "signoff_runs_ended", "Ended runs by status.", ("status",))
REQUESTS_OPENED = Meter("Counter", "signoff_requests_opened", "Opened requests (interrupts).")
DECISIONS = Meter(
    "Counter",
    "signoff_decisions",
    "Decisions by way in and outcome; expiries have the entrance expiry.",
    ("entrance", "outcome"),
)
DECISION_SECONDS = Meter(
    "Histogram",
    "signoff_request_wait_seconds",
    "Time from the opening of a request to its decision.",
    ("outcome",),
    _WAITS,
)
WEBHOOK_ATTEMPTS = Meter(
    "Counter", "signoff_webhook_attempts", "Attempts to send a webhook by result.", ("result",)
)
NOTIFICATIONS = Meter(
    "Counter",
    "signoff_notification_messages",
    "Messages to people by kind of channel and result.",
    ("channel", "result"),
)
REPAIRS = Meter(
    "Counter", "signoff_sweeper_repairs", "Work that the sweeper found overdue.", ("repair",)
)
REFUSALS = Meter(
    "Counter",
    "signoff_refused_calls",
    "Calls without permission or above a limit, by code.",
    ("code",),
)
SIGN_IN_FAILURES = Meter("Counter", "signoff_sign_in_failures", "Failed sign-ins.", ("reason",))


class Metrics:
    """The registry of this process, and further collectors for it."""

    def __init__(self) -> None:
        self.registry: Any = None  #: None while metrics are off
        self._lock = threading.Lock()

    @property
    def are_on(self) -> bool:
        return self.registry is not None

    def enable(self) -> None:
        """Start to count in this process; safe to call again."""
        with self._lock:
            if self.registry is not None:
                return
            import prometheus_client as library  # noqa: PLC0415 - takes memory, off by default

            registry = library.CollectorRegistry()
            library.ProcessCollector(registry=registry)
            library.PlatformCollector(registry=registry)
            library.GCCollector(registry=registry)
            for meter in METERS:
                meter.start(library, registry)
            self.registry = registry

    def add_collector(self, collect: Callable[[], Any]) -> None:
        """Have each scrape read more metrics."""
        self.registry.register(_Collector(collect))


class _Collector:
    def __init__(self, collect: Callable[[], Any]) -> None:
        self.collect = collect

    def describe(self) -> Sequence[Any]:
        """Name nothing, so that registering does not read the database."""
        return ()


metrics = Metrics()
