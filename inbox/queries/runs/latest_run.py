"""The latest run of a thread, and the latest retry of a run."""

from inbox.models import Run, Thread
from inbox.models.statements import Select
from inbox.rules.runs.states import RunStatus


def latest_run(thread: Thread) -> Run | None:
    """The run that started last; all that a thread can be waiting for or busy with is this one."""
    return _LATEST_RUN.first(thread=thread.pk)


_LATEST_RUN = Select(
    lambda params: Run.objects.filter(thread=params.thread).order_by("-first_seq")[:1]
)


def interrupted_run(thread: Thread) -> Run | None:
    """The interrupted run that nothing has resumed: while it waits, no other run can start."""
    run = latest_run(thread)
    return run if run and run.status == RunStatus.INTERRUPTED else None


def last_retry(run: Run) -> Run:
    """The run that does this one's work now: itself, or the last retry of it."""
    while (retry := getattr(run, "retried_by", None)) is not None:
        run = retry
    return run
