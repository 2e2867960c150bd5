"""The first decision of a person: whether it was made, and the requests that lead to it."""

from collections.abc import Hashable
from datetime import datetime
from uuid import UUID

from inbox.models import Endorsement, Interrupt
from inbox.queries.decisions.inbox_lists import list_for
from inbox.queries.decisions.interrupts import listed_decision
from inbox.queries.notifications.recipients import attention_to, is_waiting
from inbox.queries.people.access import teams_of
from inbox.queries.policies.policies import load_rulings
from inbox.queries.policies.quorum import current_quorum
from inbox.queries.runs.threads import HEAVY_OF_INTERRUPTS
from inbox.rules.decisions.list_filters import InterruptFilter, ListState
from inbox.rules.notifications.events import fits_a_slot
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus

#: The requests that are looked at: the first of the list.
_READ = 10


def last_decided_by(actor: Actor) -> Interrupt | None:
    """Return the request that the person has decided last, alone or as one of several."""
    # Team and status let the planner use the partial index on closed interrupts.
    closed = Interrupt.objects.filter(team__in=teams_of(actor), decided_by=actor.user_id)
    closed = closed.exclude(status=InterruptStatus.OPEN).order_by("-closed_at")
    if row := closed.only("tool_call", "thread").first():
        return row
    endorsements = Endorsement.objects.filter(
        user=actor.user_id, withdrawn_at=None, interrupt__team__in=teams_of(actor)
    )
    endorsement = endorsements.select_related("interrupt").order_by("-created_at").first()
    return endorsement.interrupt if endorsement else None


def example_for(actor: Actor, now: datetime) -> UUID | None:
    """Return a decided request to look at, one that a person has decided if there is one."""
    rows = list_for(actor, InterruptFilter(state=ListState.DECIDED), now=now, limit=_READ).rows
    decisions = [(row, listed_decision(row)) for row in rows]
    by_people = [row.pk for row, decision in decisions if decision and decision.user_id]
    return next(iter([*by_people, *(row.pk for row in rows)]), None)


def decidable_by(actor: Actor, now: datetime) -> tuple[UUID | None, bool]:
    """
    Return the first open request that the person may approve now, and whether any is open.

    Requests of their own runs, of other people by a policy, and claimed ones are left out.
    """
    ids = [row.pk for row in list_for(actor, InterruptFilter(), now=now, limit=_READ).rows]
    with_runs = Interrupt.objects.select_related("team", "run", "run__requester_key")
    by_id = with_runs.defer(*HEAVY_OF_INTERRUPTS).in_bulk(ids)
    rows = [by_id[pk] for pk in ids if pk in by_id]
    load_rulings(rows)
    claimed = attention_to(rows, actor.user_id, now).claimed
    answers: dict[Hashable, bool] = {}  # many requests ask the same
    for row in rows:
        if row.pk in claimed or not is_waiting(row.status, row.expires_at, now):
            continue
        quorum = current_quorum(row, now)
        is_own = row.is_proposal and actor.user_id in row.run.requester_person_ids
        key = row.team_id, tuple(quorum.slots), quorum.self_approval, is_own
        if key not in answers:
            people = quorum.eligible_people([actor.user_id or 0])
            answers[key] = any(fits_a_slot(person, quorum.slots) for person in people)
        if answers[key]:
            return row.pk, True
    return None, bool(ids)
