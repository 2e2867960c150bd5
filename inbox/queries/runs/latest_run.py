"""The latest run of a thread, and the latest retry of a run."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import Q

from inbox.models import Run, Thread
from inbox.models.statements import Select
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus


def latest_run(thread: Thread) -> Run | None:
    """Return the run that started last; only this one can be active or interrupted."""
    return _LATEST_RUN.first(thread=thread.pk)


_LATEST_RUN = Select(
    lambda params: Run.objects.filter(thread=params.thread).order_by("-first_seq")[:1]
)


def interrupted_run(thread: Thread) -> Run | None:
    """Return the interrupted run that waits for a resume; no other run can start meanwhile."""
    run = latest_run(thread)
    return run if run and run.status == RunStatus.INTERRUPTED else None


def unfinished_threads() -> Iterator[UUID]:
    """Return the threads whose latest run is active or interrupted."""
    is_unfinished = Q(status__in=ACTIVE_RUN_STATUSES) | Q(
        status=RunStatus.INTERRUPTED, resumed_by=None
    )
    threads = Run.objects.filter(is_unfinished).order_by().values_list("thread", flat=True)
    return threads.distinct().iterator()


def last_retry(run: Run) -> Run:
    """Return the last retry of the run, or the run itself."""
    while (retry := getattr(run, "retried_by", None)) is not None:
        run = retry
    return run
