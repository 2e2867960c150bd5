"""Queued runs, in the order in which workers should start them."""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, F, Q, Value, When, Window
from django.db.models.functions import RowNumber

from inbox.models import Run
from inbox.platform.clock import database_now
from inbox.rules.runs.states import RunStatus

#: The entries of a run that resumes nothing.
NO_ENTRIES = "[]"


class QueuedRun(NamedTuple):
    """A queued run with the facts that decide about its thread."""

    run_id: UUID
    team: UUID
    agent: UUID
    is_resume: bool


def is_resume(run: Run) -> bool:
    """Return whether a run continues with answers: a resume, or the retry of one."""
    return run.resume != NO_ENTRIES


def queued_runs(*, most: int, age: timedelta = timedelta()) -> list[QueuedRun]:
    """
    Return queued runs, in turns: first the oldest of each agent, then the second ones.

    Without the new runs of paused agents. In each turn the resumes come first. So the queue of one
    team does not hide those of others.
    """
    resumes = Case(When(resume=NO_ENTRIES, then=Value(0)), default=Value(1))
    turn = Window(
        RowNumber(),
        partition_by=[F("agent"), F("resumes_something")],
        order_by=F("queued_at").asc(),
    )
    rows = (
        Run.objects.filter(status=RunStatus.QUEUED, pulled=False)
        .filter(queued_at__lte=database_now() - age)
        .filter(Q(agent__paused_at=None) | ~Q(resume=NO_ENTRIES))
        .annotate(resumes_something=resumes)
        .annotate(turn=turn)
        .order_by("turn", "-resumes_something", "queued_at")
        .values_list("pk", "team", "agent", "resumes_something")
    )
    return [QueuedRun(*row[:3], is_resume=bool(row[3])) for row in rows[:most]]
