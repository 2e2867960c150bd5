"""Runs of an actor's teams, grouped by their threads."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import and_
from uuid import UUID

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, Window
from django.db.models.functions import RowNumber

from inbox.models import Decision, Endorsement, Interrupt, Run, Thread, User
from inbox.models.fields import first_id_at
from inbox.queries.decisions.merge_pages import SearchPage, search
from inbox.queries.people.access import teams_of
from inbox.queries.runs.threads import HEAVY_OF_RUNS, parts_of, runs_by_id
from inbox.rules.people.access import Actor
from inbox.rules.runs.run_filters import RunFilter
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, InterruptStatus

#: The number of runs of one thread that the list reads.
MAX_RUNS_OF_THREAD = 100


@dataclass(frozen=True)
class Wait:
    """The time in which a run waited for answers to its interrupts."""

    start: datetime
    end: datetime | None  #: None while an interrupt is open
    open_count: int
    expired_count: int


@dataclass(frozen=True)
class ThreadRuns:
    """The latest runs of one thread, the latest first, and the number of all."""

    runs: Sequence[Run]
    count: int
    waits: Mapping[UUID, Wait]  #: by run
    people: Mapping[int, str] = field(default_factory=dict)  #: those who answered: names by id


@dataclass(frozen=True)
class RunCounts:
    """The numbers of threads that run and that wait for people."""

    live: int
    waiting: int


def threads_with_runs_for(
    actor: Actor,
    filters: RunFilter,
    *,
    since: datetime | None,
    before: datetime | None,
    limit: int,
    after: UUID | None,
) -> tuple[SearchPage[Run, UUID], Mapping[UUID, ThreadRuns]]:
    """
    Return a page of the latest run of each thread, and the runs of these threads by thread id.

    The state is the one of the latest run. `since` and `before` are the times of the days of the
    filter; runs from `before` on do not count.
    """
    is_early = Q(pk__lt=first_id_at(before)) if before else Q()
    newer = Run.objects.filter(is_early, thread=OuterRef("thread"), pk__gt=OuterRef("pk"))
    is_latest = Q(~Exists(newer))
    condition = reduce(and_, map(_has_word, filters.text.split()), is_latest)
    parts = parts_of(actor, filters.agent)
    if searched_id := filters.searched_id:
        has_id = Q(pk=searched_id) | Q(runs=searched_id)
        if thread := Thread.objects.filter(has_id).values_list("pk", flat=True).first():
            parts = [{**part, "thread": thread} for part in parts]
            condition = is_latest
    if filters.statuses:
        parts = [{**part, "status": status} for part in parts for status in filters.statuses]
    rows = Run.objects.filter(is_early, Q(pk__gte=first_id_at(since)) if since else Q())
    latest = search(
        [rows.filter(**part) for part in parts],
        condition,
        limit=limit,
        after=after,
        load=runs_by_id,
    )
    return latest, _runs_by_thread([run.thread_id for run in latest.rows], is_early)


def _has_word(word: str) -> Q:
    """Return the condition that a word occurs in the title, or is an AG-UI id of the thread."""
    runs = Run.objects.filter(thread=OuterRef("thread"), external_id=word)
    is_id = Q(thread__external_id=word) | Q(Exists(runs))
    return Q(thread__title__icontains=word) | is_id


def _runs_by_thread(thread_ids: Sequence[UUID], is_early: Q) -> Mapping[UUID, ThreadRuns]:
    if not thread_ids:
        return {}
    places = (
        Run.objects.filter(is_early, thread__in=thread_ids)
        .annotate(
            place=Window(RowNumber(), partition_by=F("thread"), order_by=F("pk").desc()),
            count=Window(Count("pk"), partition_by=F("thread")),
        )
        .filter(place__lte=MAX_RUNS_OF_THREAD)
    )
    counts = dict(places.values_list("pk", "count"))
    groups: dict[UUID, list[Run]] = defaultdict(list)
    for run in Run.objects.filter(pk__in=list(counts)).defer(*HEAVY_OF_RUNS).order_by("-pk"):
        groups[run.thread_id].append(run)
    waits, people = waits_of(thread_ids), _people_of(thread_ids)
    return {
        pk: ThreadRuns(runs, counts[runs[0].pk], waits, people.get(pk, {}))
        for pk, runs in groups.items()
    }


def waits_of(thread_ids: Sequence[UUID]) -> Mapping[UUID, Wait]:
    """Return the waits of these threads' runs, by run."""
    rows = (
        Interrupt.objects.filter(thread__in=thread_ids)
        .values("run")
        .annotate(
            start=Min("created_at"),
            end=Max("closed_at"),
            open_count=Count("pk", filter=Q(status=InterruptStatus.OPEN)),
            expired_count=Count("pk", filter=Q(status=InterruptStatus.EXPIRED)),
        )
        .order_by()
    )
    return {
        row["run"]: Wait(
            start=row["start"],
            end=None if row["open_count"] else row["end"],
            open_count=row["open_count"],
            expired_count=row["expired_count"],
        )
        for row in rows
    }


def endorsements_of(thread_id: UUID) -> Sequence[Endorsement]:
    """Return the approvals by one of several people that are in force, in order, with users."""
    rows = Endorsement.objects.filter(withdrawn_at=None, voided_at=None)
    return list(rows.filter(interrupt__thread=thread_id).select_related("user").order_by("pk"))


def _people_of(thread_ids: Sequence[UUID]) -> Mapping[UUID, Mapping[int, str]]:
    """Return the names of the people who answered or approved, by thread and id."""
    decisions = Decision.objects.filter(withdrawn_at=None).exclude(user=None)
    endorsements = Endorsement.objects.filter(withdrawn_at=None, voided_at=None)
    pairs: dict[tuple[UUID, int], None] = {}
    for rows in (endorsements, decisions):
        answers = rows.filter(interrupt__thread__in=thread_ids).order_by()
        first = answers.values_list("interrupt__thread", "user").annotate(first=Min("pk"))
        pairs |= {(thread, user): None for thread, user, _ in first.order_by("first")}
    users = User.objects.in_bulk({user for _, user in pairs})
    people: dict[UUID, dict[int, str]] = defaultdict(dict)
    for thread, user in pairs:
        people[thread][user] = users[user].display_name
    return people


def run_counts(actor: Actor) -> RunCounts:
    """Return how many threads of the actor's teams run and wait now."""
    teams = teams_of(actor)
    live = Run.objects.filter(team__in=teams, status__in=ACTIVE_RUN_STATUSES)
    waiting = Interrupt.objects.filter(team__in=teams, status=InterruptStatus.OPEN)
    return RunCounts(live.count(), waiting.aggregate(count=Count("thread", distinct=True))["count"])
