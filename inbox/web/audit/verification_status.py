"""The badge with the result of the last audit verification."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from inbox.queries.audit.verification_runs import (
    VerificationProblem,
    VerificationRun,
    last_verification,
    verification_progress,
)
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.durations import duration_text
from inbox.web.base.numbers import number_text
from tools.audit_verifier import PLACES, PROBLEMS

if TYPE_CHECKING:
    from inbox.models import AuditVerification


@dataclass(frozen=True)
class Badge:
    """The displayed result of a verification."""

    tone: str  #: ok, bad or warn
    says: str
    at: datetime | None
    basis: str  #: the checkpoint verified against
    signed_at: datetime | None
    notes: Sequence[str]
    problems: Sequence[tuple[str, str]]  #: (text, URL of its entry or "")
    entries: int = 0  #: that were verified
    took: str = ""  #: the duration of the verification, "" if it was not of all entries
    head: str = ""  #: the first and last digits of the root
    progress: int | None = None  #: entries read by the one on its way, None without one
    is_overdue: bool = False  #: no process has begun the one that a person started


def badge_for(actor: Actor) -> Badge:
    run, (progress, is_overdue) = last_verification(actor), verification_progress()
    if run is None or run.is_stale:
        return replace(_unverified(run), progress=progress, is_overdue=is_overdue)
    check, point = run.row, run.row.checkpoint
    return Badge(
        tone={"intact": "ok", "tampered": "bad"}.get(check.verdict, "warn"),
        says=_verdict(check),
        at=check.at,
        basis=_basis(check),
        signed_at=datetime.fromisoformat(point["time"]) if "time" in point else None,
        notes=_notes(check),
        problems=list(dict.fromkeys(map(describe, run.problems))),
        entries=check.verified_entries,
        took=duration_text(timedelta(seconds=check.seconds))
        if check.seconds is not None and check.at == check.fully_verified_at
        else "",
        head=f"{point['root'][:4]}…{point['root'][-4:]}" if point.get("root") else "",
        progress=progress,
        is_overdue=is_overdue,
    )


def _unverified(run: VerificationRun | None) -> Badge:
    says = (
        gettext("The audit trail has not been verified yet.")
        if run is None
        else gettext("The audit trail has not been verified for an hour or more.")
    )
    note = gettext("A process with the signing key does this every few minutes where Signoff runs.")
    return Badge("warn", says, run.row.at if run else None, "", None, [note], [])


def _verdict(check: "AuditVerification") -> str:
    if check.verdict == "intact":
        return gettext("The audit trail is intact.")
    if check.verdict == "tampered":
        return gettext("The audit trail has been tampered with.")
    return gettext("The integrity of the audit trail is unknown.")


def _basis(check: "AuditVerification") -> str:
    if not check.checkpoint.get("size"):
        return gettext("There is no checkpoint to verify against.")
    return gettext(
        "{reached} entries verified against the checkpoint of {size} with root "
        "{root}…, signed by {key}:"
    ).format(
        reached=number_text(check.verified_entries),
        size=number_text(check.checkpoint["size"]),
        root=check.checkpoint["root"][:12],
        key=escape_invisible(check.key_name),
    )


def _notes(check: "AuditVerification") -> list[str]:
    notes = []
    if check.verdict == "tampered":
        notes.append(
            gettext(
                "Do not change anything. Copy the database and the checkpoint file, "
                "then run manage.py audit_verify on the copies. docs/audit.md "
                "explains its messages."
            )
        )
    if check.checkpoint.get("size") and not check.has_external_checkpoint:
        notes.append(gettext("No external checkpoint yet."))
    return notes


def describe(finding: VerificationProblem) -> tuple[str, str]:
    """Return the text of a finding, and the URL of its entry or ""."""
    if not finding.place:
        return gettext("In data of other teams."), ""
    problem = (
        gettext(PROBLEMS[finding.code]).format(**finding.arguments)
        if finding.code
        else gettext("it cannot be read")
    )
    if finding.place != "entry":
        place = gettext(PLACES[finding.place]).format(**finding.arguments)
        return capfirst(f"{place}: {problem}"), ""
    seq = finding.arguments["seq"]
    if finding.thread_id is None:
        return gettext("Team entry {seq}: {problem}").format(seq=seq, problem=problem), ""
    text = gettext("Thread entry {seq}: {problem}").format(seq=seq, problem=problem)
    history = reverse("audit_history", args=[finding.thread_id])
    return text, f"{history}?after={max(0, seq - 1)}"
