"""The badge with the result of the last audit verification."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from inbox.queries.audit.verification_runs import (
    VerificationProblem,
    VerificationRun,
    last_verification,
)
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.audit.verifier_messages import say_place, say_problem


@dataclass(frozen=True)
class Badge:
    """The displayed result of a verification."""

    tone: str  #: ok, bad or warn
    says: str
    at: datetime | None
    basis: str  #: the checkpoint verified against
    signed_at: datetime | None
    notes: Sequence[str]
    places: Sequence[tuple[str, str]]  #: (problem, URL of its entry or "")


def badge_for(actor: Actor) -> Badge:
    run = last_verification(actor)
    if run is None or run.is_stale:
        return _unverified(run)
    return Badge(
        tone={"intact": "ok", "tampered": "bad"}.get(run.verdict, "warn"),
        says=_verdict(run),
        at=run.at,
        basis=_basis(run),
        signed_at=run.sealed_at,
        notes=_notes(run),
        places=list(dict.fromkeys(map(_problem, run.places))),
    )


def _unverified(run: VerificationRun | None) -> Badge:
    says = (
        gettext("The audit trail has not been verified yet.")
        if run is None
        else gettext("The audit trail has not been verified for an hour or more.")
    )
    note = gettext("A process with the signing key does this every few minutes where Signoff runs.")
    return Badge("warn", says, run.at if run else None, "", None, [note], [])


def _verdict(run: VerificationRun) -> str:
    if run.verdict == "intact":
        return gettext("The audit trail is intact.")
    if run.verdict == "tampered":
        return gettext("The audit trail has been tampered with.")
    return gettext("The integrity of the audit trail is unknown.")


def _basis(run: VerificationRun) -> str:
    if not run.size:
        return gettext("There is no checkpoint to verify against.")
    return gettext(
        "{reached} entries verified against the checkpoint of {size} with root "
        "{root}…, signed by {key}:"
    ).format(
        reached=run.verified_entries,
        size=run.size,
        root=run.root[:12],
        key=escape_invisible(run.key_name),
    )


def _notes(run: VerificationRun) -> list[str]:
    notes = []
    if run.verdict == "tampered":
        notes.append(
            gettext(
                "Do not change anything. Copy the database and the checkpoint file, "
                "then run manage.py audit_verify on the copies. docs/audit.md "
                "explains its messages."
            )
        )
    if run.size and not run.has_external_checkpoint:
        notes.append(gettext("No external checkpoint yet."))
    return notes


def _problem(place: VerificationProblem) -> tuple[str, str]:
    if not place.where:
        return gettext("In data of other teams."), ""
    if place.seq is None:
        problem = say_problem(place.problem) if place.problem else gettext("it cannot be read")
        return capfirst(f"{say_place(place.where)}: {problem}"), ""
    problem = say_problem(place.problem)
    if place.thread_id is None:
        return gettext("Team entry {seq}: {problem}").format(seq=place.seq, problem=problem), ""
    says = gettext("Thread entry {seq}: {problem}").format(seq=place.seq, problem=problem)
    history = reverse("audit_history", args=[place.thread_id])
    return says, f"{history}?after={max(0, place.seq - 1)}"
