"""Readiness: the state of everything that a process needs, and of what the site needs."""

import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count, Max, Min, Q

from inbox.models import Run, WorkerHeartbeat
from inbox.platform.clock import database_now
from inbox.platform.monitoring.parts import Part, PartStatus, broker, disk
from inbox.queries.audit.sink_lag import sink_states
from inbox.queries.notifications.outages import are_announcements_late
from inbox.rules.runs.states import RunStatus

#: A worker writes its heartbeat every 5 seconds.
WORKER_SILENT: Final = timedelta(seconds=20)
SWEEPER_SILENT: Final = timedelta(seconds=30)
#: Runs that have waited for longer than this have too few workers.
QUEUED_TOO_LONG: Final = timedelta(seconds=60)
#: Checkpoints are made every 30 seconds, and entries are sent after them.
SINK_LATE: Final = timedelta(minutes=2)
#: Callers within this time get the same result, so that requests cannot load the disk.
CACHE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class WorkerState:
    """The workers and the sweeper, as the database sees them."""

    workers: int  #: that take runs
    oldest_queued_seconds: float | None  #: None without queued runs
    swept_seconds: float | None  #: since the last sweep; None if there was none


@dataclass(frozen=True)
class Readiness:
    """The states of all parts by name."""

    parts: Mapping[str, Part]

    def status(self, needed: Collection[str]) -> PartStatus:
        """Return FAILING if a needed part fails, DEGRADED if another part is not well, else OK."""
        if any(self.parts[name].status is PartStatus.FAILING for name in needed):
            return PartStatus.FAILING
        are_well = all(part.status is PartStatus.OK for part in self.parts.values())
        return PartStatus.OK if are_well else PartStatus.DEGRADED

    def described(self) -> dict[str, dict[str, Any]]:
        return {
            name: {"status": part.status.value, **part.detail} for name, part in self.parts.items()
        }


#: What a web process needs to answer people and programs. Workers and Redis are not among them:
#: decisions are accepted without them, and another web process would be no better.
NEEDED_BY_WEB: Final = frozenset({"database", "disk"})
#: A worker gets its runs over the broker.
NEEDED_BY_WORKER: Final = NEEDED_BY_WEB | {"broker"}


def needed_parts(*, is_worker: bool) -> frozenset[str]:
    """Return the names of the parts without which a process must get no requests or runs."""
    needed = NEEDED_BY_WORKER if is_worker else NEEDED_BY_WEB
    # A scaled deployment with a bucket for files may have a read-only data directory.
    keeps_data = settings.EMBEDDED or not settings.FILES_URL
    return needed if keeps_data else needed - {"disk"}


def needed_names(values: Iterable[str]) -> list[str]:
    """Return the names in the parameters `need`, which may be lists with commas."""
    return [name for value in values for name in value.split(",")]


def response_of(
    result: Readiness, needs: Collection[str], *, details: bool, is_worker: bool = False
) -> tuple[int, dict[str, Any]]:
    """
    Return the status and the body of `/readyz`.

    `needs` are names of further needed parts, or `all`; unknown names are ignored.
    """
    needed = needed_parts(is_worker=is_worker) | {name for name in needs if name in result.parts}
    status = result.status(result.parts if "all" in needs else needed)
    body: dict[str, Any] = {"status": status.value}
    if details:
        body["parts"] = result.described()
    return 503 if status is PartStatus.FAILING else 200, body


def worker_state() -> WorkerState:
    now = database_now()
    fresh = Q(seen_at__gt=now - WORKER_SILENT, is_consuming=True)
    rows = WorkerHeartbeat.objects.aggregate(fresh=Count("pk", filter=fresh), swept=Max("swept_at"))
    queued = Run.objects.filter(status=RunStatus.QUEUED, pulled=False)
    oldest = queued.aggregate(at=Min("queued_at"))["at"]
    return WorkerState(rows["fresh"], _age(oldest, now), _age(rows["swept"], now))


def _age(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else round(max((now - at).total_seconds(), 0.0), 1)


class ReadinessCheck:
    """Checks all parts, at most once in CACHE_SECONDS."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._result: Readiness | None = None
        self._until = 0.0

    def __call__(self) -> Readiness:
        last = self._result
        # While one request checks, others get the last result: a part that hangs, such as Redis,
        # must not hold a thread of the database for each of them.
        if not self._lock.acquire(blocking=last is None) and last is not None:
            return last
        try:
            if self._result is None or time.monotonic() >= self._until:
                self._result = Readiness(_parts())
                self._until = time.monotonic() + CACHE_SECONDS
            return self._result
        finally:
            self._lock.release()


readiness = ReadinessCheck()


def _parts() -> dict[str, Part]:
    parts = {"database": Part(PartStatus.OK), "broker": broker(), "disk": disk()}
    try:
        state = worker_state()
        parts["workers"] = _workers(state)
        parts["sweeper"] = _sweeper(state)
        if settings.AUDIT_ENTRY_SINKS:
            parts["audit_sinks"] = _audit_sinks()
    except (DatabaseError, InterfaceError) as error:
        parts["database"] = Part(PartStatus.FAILING, {"error": type(error).__name__})
        for name in ("workers", "sweeper"):
            parts[name] = Part(PartStatus.DEGRADED, {"error": "unknown without the database"})
    else:
        parts["database"] = Part(PartStatus.OK, {"vendor": connection.vendor})
    return parts


def _workers(state: WorkerState) -> Part:
    detail = {"taking_runs": state.workers, "oldest_queued_seconds": state.oldest_queued_seconds}
    if not state.workers:
        return Part(PartStatus.FAILING, detail)
    is_late = (state.oldest_queued_seconds or 0.0) > QUEUED_TOO_LONG.total_seconds()
    return Part(PartStatus.DEGRADED if is_late else PartStatus.OK, detail)


def _audit_sinks() -> Part:
    states = sink_states()
    detail = {name: vars(state) for name, state in states.items()}
    lag = max(state.lag_seconds for state in states.values())
    if settings.AUDIT_SINK_MAX_LAG and lag > settings.AUDIT_SINK_MAX_LAG:
        return Part(PartStatus.FAILING, {**detail, "decisions": "refused"})
    is_late = lag > SINK_LATE.total_seconds() or any(state.problem for state in states.values())
    return Part(PartStatus.DEGRADED if is_late else PartStatus.OK, detail)


def _sweeper(state: WorkerState) -> Part:
    detail = {"swept_seconds": state.swept_seconds}
    if state.swept_seconds is None or state.swept_seconds > SWEEPER_SILENT.total_seconds():
        return Part(PartStatus.FAILING, detail)
    return Part(PartStatus.DEGRADED if are_announcements_late() else PartStatus.OK, detail)
