"""Runs of an actor's teams, grouped by their threads."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery, Window
from django.db.models.functions import RowNumber

from inbox.models import Run
from inbox.queries.decisions.merge_pages import SearchPage, search
from inbox.queries.people.access import teams_of
from inbox.queries.runs.threads import HEAVY_OF_RUNS, runs_by_id
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import RunStatus

#: The number of runs of one thread in the list.
MAX_RUNS_OF_THREAD = 5


@dataclass(frozen=True)
class ThreadRuns:
    """The latest runs of one thread, the latest first, and the number of all."""

    runs: Sequence[Run]
    count: int
    resumed: Collection[UUID]  #: ids of runs that another run resumes


@dataclass(frozen=True)
class RunSummary:
    """The number of a thread's runs, and the status of the latest."""

    count: int
    status: RunStatus


def threads_with_runs_for(
    actor: Actor, *, limit: int, after: UUID | None, statuses: Collection[RunStatus] = ()
) -> tuple[SearchPage[Run, UUID], Mapping[UUID, ThreadRuns]]:
    """
    Return a page of the latest run of each thread, and the runs of these threads by thread id.

    With `statuses`, only runs in one of these states count; an interrupted run counts while it is
    the latest run of its thread.
    """
    status = Q(status__in=statuses) if statuses else Q()
    newer = Run.objects.filter(thread=OuterRef("thread"), pk__gt=OuterRef("pk"))
    if RunStatus.INTERRUPTED not in statuses:
        newer = newer.filter(status)
    parts = [
        Run.objects.filter(team=team, **part)
        for team in teams_of(actor)
        for part in ([{"status": name} for name in statuses] or [{}])
    ]
    latest = search(parts, Q(~Exists(newer)), limit=limit, after=after, load=runs_by_id)
    return latest, _runs_by_thread([run.thread_id for run in latest.rows], status)


def _runs_by_thread(thread_ids: Sequence[UUID], status: Q) -> Mapping[UUID, ThreadRuns]:
    if not thread_ids:
        return {}
    places = (
        Run.objects.filter(status, thread__in=thread_ids)
        .annotate(
            place=Window(RowNumber(), partition_by=F("thread"), order_by=F("pk").desc()),
            count=Window(Count("pk"), partition_by=F("thread")),
        )
        .filter(place__lte=MAX_RUNS_OF_THREAD)
    )
    counts = dict(places.values_list("pk", "count"))
    resumes = Run.objects.filter(resumes__in=list(counts)).values_list("resumes", flat=True)
    resumed = frozenset(pk for pk in resumes if pk)
    groups: dict[UUID, list[Run]] = defaultdict(list)
    for run in Run.objects.filter(pk__in=list(counts)).defer(*HEAVY_OF_RUNS).order_by("-pk"):
        groups[run.thread_id].append(run)
    return {pk: ThreadRuns(runs, counts[runs[0].pk], resumed) for pk, runs in groups.items()}


def run_summaries(thread_ids: Iterable[UUID]) -> Mapping[UUID, RunSummary]:
    """Return the summaries of these threads, without threads that have no run."""
    runs = Run.objects.filter(thread=OuterRef("thread")).order_by("-pk")
    rows = (
        Run.objects.filter(thread__in=list(thread_ids))
        .values("thread")
        .annotate(count=Count("pk"), last=Subquery(runs.values("status")[:1]))
        .order_by()
    )
    return {row["thread"]: RunSummary(row["count"], RunStatus(row["last"])) for row in rows}
