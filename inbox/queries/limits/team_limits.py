"""The limits of a team, and the use that it makes of them."""

import time
from datetime import timedelta
from threading import Lock
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Max, QuerySet, Sum

from inbox.models import AgentRequest, Interrupt, Run, StoredBlob, Team, TeamLimits, TeamUse, Thread
from inbox.models.files.files import BlobState
from inbox.models.statements import Select
from inbox.platform.clock import database_now
from inbox.platform.rate_limits import concurrency_slots
from inbox.queries.people.access import is_installation_admin, require
from inbox.queries.people.teams import team_by_slug, team_for
from inbox.rules.errors import Forbidden, NotFound
from inbox.rules.limits.team_limits import Limit, Limits, LimitUse
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus, RunStatus
from inbox.rules.text.messages import TranslatableMessage

#: Other processes see a change of limits after this time.
_MEMORY_SECONDS = 1.0
MINUTE = timedelta(minutes=1)

_ROW = Select(lambda params: TeamLimits.objects.filter(team=params.team))


class LimitMemory:
    """Limits of teams that were read within the last second."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._limits: dict[UUID, tuple[float, Limits]] = {}

    def limits_of(self, team_id: UUID) -> Limits:
        now = time.monotonic()
        with self._lock:
            at, limits = self._limits.get(team_id, (0.0, {}))
        if limits and now - at < _MEMORY_SECONDS:
            return limits
        limits = _read_limits(team_id)
        with self._lock:
            self._limits[team_id] = now, limits
        return limits

    def clear(self) -> None:
        with self._lock:
            self._limits.clear()


limit_memory = LimitMemory()


def limits_of(team_id: UUID) -> Limits:
    """Return the limits that count for a team, up to a second old."""
    return limit_memory.limits_of(team_id)


def default_of(limit: Limit) -> int | None:
    """Return the limit of teams that have none of their own."""
    if limit is Limit.FILE_BYTES:
        return int(settings.TEAM_FILE_BYTES)
    most: int | None = settings.TEAM_LIMITS[limit]
    return most


def _read_limits(team_id: UUID) -> Limits:
    row = _ROW.first(team=team_id)
    own = {limit: getattr(row, limit.value, None) for limit in Limit}
    return {limit: default_of(limit) if own[limit] is None else own[limit] for limit in Limit}


def queued_runs_of(team_id: UUID) -> QuerySet[Run]:
    return Run.objects.filter(team=team_id, status=RunStatus.QUEUED, pulled=False)


def running_runs_of(team_id: UUID) -> QuerySet[Run]:
    return Run.objects.filter(team=team_id, status=RunStatus.RUNNING, pulled=False)


def open_interrupts_of(team_id: UUID, agent_id: UUID | None = None) -> QuerySet[Interrupt]:
    rows = Interrupt.objects.filter(team=team_id, status=InterruptStatus.OPEN)
    return rows if agent_id is None else rows.filter(agent=agent_id)


def number_of_threads(team_id: UUID) -> int:
    """Return the number of threads: as last counted by the sweeper, and those since then."""
    use = TeamUse.objects.filter(team=team_id).first()
    threads = Thread.objects.filter(team=team_id)
    if use is None:
        return threads.count()
    return use.threads + threads.filter(pk__gte=use.threads_to).count()


def bytes_of_events(team_id: UUID) -> int:
    """Return the size of all events, as last counted by the sweeper."""
    return TeamUse.objects.filter(team=team_id).values_list("event_bytes", flat=True).first() or 0


def bytes_of_files(team_id: UUID) -> int:
    stored = StoredBlob.objects.filter(team=team_id, state=BlobState.STORED)
    return stored.aggregate(total=Sum("size"))["total"] or 0


def slots_name(limit: Limit, team_id: UUID | str) -> str:
    """Return the name under which the open connections of a team are counted."""
    return f"{limit.value} of team:{team_id}"


def limits_in_use(team_id: UUID) -> list[LimitUse]:
    """Return every limit of a team with its use; for agents the use of the busiest one."""
    row = TeamLimits.objects.filter(team=team_id).first()
    minute = AgentRequest.objects.filter(team=team_id, created_at__gt=database_now() - MINUTE)
    used = {
        Limit.RUNNING_RUNS: running_runs_of(team_id).count(),
        Limit.QUEUED_RUNS: queued_runs_of(team_id).count(),
        Limit.OPEN_REQUESTS: open_interrupts_of(team_id).count(),
        Limit.AGENT_OPEN_REQUESTS: _most_of_an_agent(open_interrupts_of(team_id)),
        Limit.AGENT_REQUESTS_PER_MINUTE: _most_of_an_agent(minute),
        Limit.THREADS: number_of_threads(team_id),
        Limit.STREAMS: concurrency_slots.number(slots_name(Limit.STREAMS, team_id)),
        Limit.SOCKETS: concurrency_slots.number(slots_name(Limit.SOCKETS, team_id)),
        Limit.EVENT_BYTES: bytes_of_events(team_id),
        Limit.FILE_BYTES: bytes_of_files(team_id),
    }
    uses = []
    for limit in Limit:
        default, own = default_of(limit), getattr(row, limit.value, None)
        most = default if own is None else own
        uses.append(LimitUse(limit, used[limit], most, default, own))
    return uses


def _most_of_an_agent(rows: QuerySet[Any]) -> int:
    counts = rows.order_by().values("agent").annotate(number=Count("pk"))
    return counts.aggregate(most=Max("number"))["most"] or 0


def team_with_limits(actor: Actor, slug: str) -> Team:
    """
    Return a team whose limits the actor may see.

    Raises:
        NotFound, Forbidden.
    """
    team = team_for(actor, slug)
    require(actor, team.pk, Permission.READ)
    return team


def team_to_limit(actor: Actor, slug: str) -> Team:
    """
    Return any team, for an administrator of the installation.

    Raises:
        NotFound, Forbidden.
    """
    require_limits_admin(actor)
    team = team_by_slug(slug)
    if team is None:
        raise NotFound()
    return team


def require_limits_admin(actor: Actor) -> None:
    """Raise Forbidden unless the actor administers the installation."""
    if not is_installation_admin(actor):
        raise Forbidden(TranslatableMessage("Only superusers can change the limits of a team."))
