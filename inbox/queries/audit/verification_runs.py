"""What the last verification of the trail in the background has found, as an actor may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from inbox.models import AuditCheck, Thread
from inbox.models.clock import database_now
from inbox.queries.people.access import access_filter, teams_of
from inbox.rules.people.access import Actor

#: What is older says nothing of the trail as it is: verifications are made every few minutes.
STALE_AFTER = timedelta(hours=1)
#: How the verifier begins to name what belongs to no chain, and what it could not read.
_OF_ALL = ("log", "blocks", "checkpoint", "checkpoints")
_UNREADABLE = ("entry", "behind")


@dataclass(frozen=True)
class VerificationProblem:
    """Where something is wrong, and what: both "" where that is another team's."""

    where: str
    problem: str  #: "" where it may quote what is another team's
    seq: int | None = None  #: which entry of a thread or a team; None where it is of no chain
    thread_id: UUID | None = None  #: whose history has it


@dataclass(frozen=True)
class VerificationRun:
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
    places: Sequence[VerificationProblem]


def last_verification(actor: Actor) -> VerificationRun | None:
    """None until the trail was verified for the first time."""
    check = AuditCheck.objects.exclude(at=None).first()
    if check is None or check.at is None:
        return None
    point = check.point
    return VerificationRun(
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


def _place(actor: Actor, where: str, problem: str) -> VerificationProblem:
    first, _, seq = where.partition(" ")
    if first in _OF_ALL:
        return VerificationProblem(where, problem)
    if first in _UNREADABLE:
        return VerificationProblem(
            where, ""
        )  # the problem is an error, which may repeat what it could not read
    try:
        chain, number = UUID(first), int(seq)
    except ValueError:
        return VerificationProblem("", "")
    if Thread.objects.filter(access_filter(actor, team="team", agent="agent"), pk=chain).exists():
        return VerificationProblem(where, problem, number, chain)
    if chain in teams_of(actor):
        return VerificationProblem(where, problem, number)
    return VerificationProblem("", "")
