"""The last background verification of the audit trail, as an actor may see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from inbox.models import AuditVerification, Thread
from inbox.platform.clock import database_now
from inbox.queries.people.access import access_filter, teams_of
from inbox.rules.people.access import Actor

#: A verification runs every few minutes; an older result is not current.
STALE_AFTER = timedelta(hours=1)
#: A lost process blocks the verification for at most this long, and people wait no longer for it.
LEASE = timedelta(minutes=30)
#: The verifier's places outside of chains, and those of unreadable entries.
_OF_ALL = ("log", "positions", "position", "blocks", "checkpoint", "checkpoints", "note")
_UNREADABLE = ("line", "after_line")


@dataclass(frozen=True)
class VerificationProblem:
    """A finding of the verifier, as codes; without any if it is about another team."""

    place: str = ""
    code: str = ""  #: "" if the text may quote data of another team
    arguments: Mapping[str, Any] = field(default_factory=dict)
    thread_id: UUID | None = None  #: of the entry


@dataclass(frozen=True)
class VerificationRun:
    """The last verification, and the part of its findings that an actor may see."""

    row: AuditVerification
    is_stale: bool
    problems: Sequence[VerificationProblem]


def is_requested(check: AuditVerification) -> bool:
    """Return whether a person asked for a verification that has not begun."""
    asked_at, began_at = check.requested_at, check.started_at
    return asked_at is not None and (began_at is None or began_at < asked_at)


def is_overdue(check: AuditVerification, now: datetime) -> bool:
    """Return whether a person asked for a verification that no process has begun in time."""
    asked_at = check.requested_at
    return is_requested(check) and asked_at is not None and now >= asked_at + LEASE


def progress_of(check: AuditVerification, now: datetime) -> int | None:
    """Return the number of entries read by the verification on its way; None without one."""
    if is_requested(check):
        return None if is_overdue(check, now) else 0
    began_at, ended_at = check.started_at, check.at
    is_running = began_at is not None and (ended_at is None or ended_at < began_at)
    return check.checked if is_running and now < check.not_before else None


def is_verification_due() -> bool:
    """Return whether a verification may be due, without locking."""
    check = AuditVerification.objects.first()
    return check is None or check.not_before <= database_now()


def verification_progress() -> tuple[int | None, bool]:
    """Return `progress_of` and `is_overdue` of the verification."""
    check, now = AuditVerification.objects.first(), database_now()
    return (progress_of(check, now), is_overdue(check, now)) if check else (None, False)


def last_verification(actor: Actor) -> VerificationRun | None:
    """Return the last verification, None before the first one."""
    check = AuditVerification.objects.exclude(at=None).first()
    if check is None or check.at is None:
        return None
    return VerificationRun(
        check,
        is_stale=database_now() - check.at > STALE_AFTER,
        problems=[_visible_part(actor, finding) for finding in check.findings],
    )


def _visible_part(actor: Actor, finding: Mapping[str, Any]) -> VerificationProblem:
    place, arguments = finding.get("place", ""), finding.get("arguments", {})
    visible = VerificationProblem(place, finding.get("code", ""), arguments)
    if place in _OF_ALL:
        return visible
    if place in _UNREADABLE:
        return replace(visible, code="")  # the text quotes an error, which may repeat data
    try:
        chain = UUID(arguments["chain"])
    except (LookupError, ValueError):
        return VerificationProblem()
    if Thread.objects.filter(access_filter(actor, team="team", agent="agent"), pk=chain).exists():
        return replace(visible, thread_id=chain)
    return visible if chain in teams_of(actor) else VerificationProblem()
