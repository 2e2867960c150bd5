"""The last background verification of the audit trail, as an actor may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from inbox.models import AuditVerification, Thread
from inbox.platform.clock import database_now
from inbox.queries.people.access import access_filter, teams_of
from inbox.rules.people.access import Actor

#: A verification runs every few minutes; an older result is not current.
STALE_AFTER = timedelta(hours=1)
#: The first words of the verifier's locations outside of chains, and of unreadable entries.
_OF_ALL = ("log", "blocks", "checkpoint", "checkpoints")
_UNREADABLE = ("entry", "behind")


@dataclass(frozen=True)
class VerificationProblem:
    """A finding of the verifier; `where` and `problem` are "" if it is about another team."""

    where: str
    problem: str  #: "" if it may quote data of another team
    seq: int | None = None  #: of the entry in its chain; None outside of chains
    thread_id: UUID | None = None  #: of the entry


@dataclass(frozen=True)
class VerificationRun:
    """A verification with its checkpoint."""

    verdict: str  #: intact, tampered or unknown
    at: datetime
    is_stale: bool
    verified_entries: int  #: the number of verified entries
    size: int  #: the number of entries in the checkpoint, 0 without one
    root: str  #: in hex
    sealed_at: datetime | None
    key_name: str
    has_external_checkpoint: bool  #: the checkpoint is also stored outside of the database
    places: Sequence[VerificationProblem]


def last_verification(actor: Actor) -> VerificationRun | None:
    """Return the last verification, None before the first one."""
    check = AuditVerification.objects.exclude(at=None).first()
    if check is None or check.at is None:
        return None
    point = check.checkpoint
    return VerificationRun(
        verdict=check.verdict,
        at=check.at,
        is_stale=database_now() - check.at > STALE_AFTER,
        verified_entries=check.verified_entries,
        size=point.get("size", 0),
        root=point.get("root", ""),
        sealed_at=datetime.fromisoformat(point["time"]) if "time" in point else None,
        key_name=check.key_name,
        has_external_checkpoint=check.has_external_checkpoint,
        places=[
            _problem(actor, finding["where"], finding["problem"]) for finding in check.findings
        ],
    )


def _problem(actor: Actor, where: str, problem: str) -> VerificationProblem:
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
