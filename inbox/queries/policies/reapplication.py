"""Open requests on which the policies in force would rule differently from the stored ruling."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db.models import QuerySet

from inbox.models import Interrupt, Team, Thread
from inbox.platform.clock import database_now
from inbox.queries.policies.backtests import require_drafting
from inbox.queries.policies.policies import (
    RunFacts,
    answerable_ruling,
    facts_of,
    load_rulings,
    policies_in_force,
    run_with_facts,
    stored_ruling,
)
from inbox.queries.runs.threads import HEAVY_OF_RUNS, HEAVY_OF_THREADS
from inbox.rules.people.access import Actor
from inbox.rules.policies.evaluation import Ruling, evaluate, is_same_outcome
from inbox.rules.policies.facts import Facts, facts_from_json
from inbox.rules.runs.states import InterruptStatus

#: Requests that a preview reads.
MAX_REQUESTS = 500
#: Columns with whole conversations, which no ruling needs.
_HEAVY = (
    *(f"run__{name}" for name in HEAVY_OF_RUNS),
    *(f"thread__{name}" for name in HEAVY_OF_THREADS),
)


@dataclass(frozen=True)
class ChangedRuling:
    """An open interrupt with the ruling of the policies in force, which is another one."""

    interrupt: Interrupt
    before: Ruling | None  #: None: there was no policy
    after: Ruling
    facts: Facts


@dataclass(frozen=True)
class Preview:
    """The changes that applying the policies again would make now."""

    requests: int  #: that were read
    changes: Sequence[ChangedRuling]
    is_complete: bool  #: False if there are more than MAX_REQUESTS open requests


def preview_reapplication(actor: Actor, team: Team) -> Preview:
    """
    Return how the policies in force would rule on a team's open requests.

    Raises:
        NotFound, Forbidden.
    """
    require_drafting(actor, team.pk)
    now = database_now()
    rows = list(_open_interrupts(team=team.pk, now=now)[: MAX_REQUESTS + 1])
    is_complete = len(rows) <= MAX_REQUESTS
    rows = rows[:MAX_REQUESTS]
    load_rulings(rows)
    changes = [
        change
        for thread, group in groupby(rows, key=lambda row: row.thread)
        for change in changed_rulings(thread, list(group), now)
    ]
    return Preview(len(rows), changes, is_complete)


def open_interrupts_of(thread: Thread, now: datetime) -> list[Interrupt]:
    """Return the open interrupts of a thread that have not expired, in the order of the outcome."""
    rows = list(_open_interrupts(thread=thread.pk, now=now))
    load_rulings(rows)
    return rows


def threads_with_open_interrupts(team_id: UUID, *, after: UUID | None, limit: int) -> list[UUID]:
    """Return threads of a team by id, from the one behind `after`."""
    rows = Interrupt.objects.filter(team=team_id, status=InterruptStatus.OPEN)
    if after is not None:
        rows = rows.filter(thread__gt=after)
    return list(rows.order_by("thread").values_list("thread", flat=True).distinct()[:limit])


def changed_rulings(
    thread: Thread, rows: Sequence[Interrupt], now: datetime
) -> Iterator[ChangedRuling]:
    """
    Yield the rulings of the policies in force that differ from those on open interrupts of a run.

    The facts are those of the stored ruling; an interrupt without one gets the facts of today and
    the time at which it was opened. The times that a new ruling sets start now.
    """
    policies = [policy for _, policy in policies_in_force(thread.team)]
    shared: dict[UUID, RunFacts] = {}
    for row in rows if policies else ():
        before = stored_ruling(row)
        since = row.created_at if row.ruling is None else row.ruling.created_at
        facts = _facts(thread, row, shared)
        # The same moment for both: their times are counted from it.
        then = answerable_ruling(row, evaluate(policies, facts, since), now)
        if not is_same_outcome(before or evaluate([], facts, since), then):
            after = answerable_ruling(row, evaluate(policies, facts, now), now)
            yield ChangedRuling(row, before, after, facts)


def _facts(thread: Thread, row: Interrupt, shared: dict[UUID, RunFacts]) -> Facts:
    """Return the facts; `shared` keeps those of runs that were read."""
    if row.ruling is None:
        if row.run_id not in shared:
            _, shared[row.run_id] = run_with_facts(thread, row.run_id)
        return facts_of(shared[row.run_id], row, row.created_at)
    stored = facts_from_json(json.loads(row.ruling.body)["facts"])
    return replace(stored, args=json.loads(row.args) if row.args else None)


def _open_interrupts(*, now: datetime, **lookup: UUID) -> "QuerySet[Interrupt]":
    rows = Interrupt.objects.filter(status=InterruptStatus.OPEN, **lookup)
    rows = rows.exclude(expires_at__lte=now).order_by("thread", "position")
    return rows.select_related("tool_call", "run", "claim", "thread__team").defer(*_HEAVY)
