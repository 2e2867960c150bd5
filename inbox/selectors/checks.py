"""What the last verification of the trail in the background has found, as an actor may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from inbox.domain.access import Actor
from inbox.models import AuditCheck, Thread
from inbox.models.clock import database_now
from inbox.selectors.access import teams_of, within_reach

#: What is older says nothing of the trail as it is: verifications are made every few minutes.
STALE_AFTER = timedelta(hours=1)
#: What the verifier calls what belongs to no chain.
_OF_ALL = ("log", "blocks", "checkpoint")


@dataclass(frozen=True)
class Place:
    """Where something is wrong, and what: both "" where that is another team's."""

    where: str
    problem: str
    thread_id: UUID | None  #: whose history has it
    seq: int


@dataclass(frozen=True)
class Checked:
    """A verification, with the checkpoint that it rests on."""

    verdict: str  #: intact, tampered or unknown
    at: datetime
    is_stale: bool
    reached: int  #: so many entries were verified
    size: int  #: so many the checkpoint has sealed, 0 if there is none
    root: str  #: in hex
    sealed_at: datetime | None
    key_name: str
    is_outside: bool  #: whether a checkpoint outside of the database vouches for it
    places: Sequence[Place]


def last_check(actor: Actor) -> Checked | None:
    """None until the trail was verified for the first time."""
    check = AuditCheck.objects.exclude(at=None).first()
    if check is None or check.at is None:
        return None
    point = check.point
    return Checked(
        verdict=check.verdict,
        at=check.at,
        is_stale=database_now() - check.at > STALE_AFTER,
        reached=check.reached,
        size=point.get("size", 0),
        root=point.get("root", ""),
        sealed_at=datetime.fromisoformat(point["time"]) if "time" in point else None,
        key_name=check.key_name,
        is_outside=check.is_outside,
        places=[_place(actor, one["where"], one["problem"]) for one in check.problems],
    )


def _place(actor: Actor, where: str, problem: str) -> Place:
    first, _, seq = where.partition(" ")
    if first.rstrip("s") in _OF_ALL:
        return Place(where, problem, None, 0)
    try:
        chain = UUID(first)
    except ValueError:
        return Place("", "", None, 0)
    if Thread.objects.filter(within_reach(actor, team="team", agent="agent"), pk=chain).exists():
        return Place(where, problem, chain, int(seq) if seq.isdecimal() else 0)
    if chain in teams_of(actor):
        return Place(where, problem, None, 0)
    return Place("", "", None, 0)
