"""What the pages of the trail say of its last verification."""

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
    """A verdict in words, and where it comes from."""

    tone: str  #: ok, bad or warn
    says: str
    at: datetime | None
    basis: str  #: the checkpoint that it rests on
    signed_at: datetime | None
    notes: Sequence[str]
    places: Sequence[tuple[str, str]]  #: what is wrong where, and the address of that


def badge_for(actor: Actor) -> Badge:
    found = last_verification(actor)
    if found is None or found.is_stale:
        return _unverified(found)
    return Badge(
        tone={"intact": "ok", "tampered": "bad"}.get(found.verdict, "warn"),
        says=_verdict(found),
        at=found.at,
        basis=_basis(found),
        signed_at=found.sealed_at,
        notes=_notes(found),
        places=list(dict.fromkeys(map(_shown, found.places))),
    )


def _unverified(found: VerificationRun | None) -> Badge:
    says = (
        gettext("The audit trail has not been verified yet.")
        if found is None
        else gettext("The audit trail has not been verified for an hour or more.")
    )
    note = gettext("A process with the signing key does this every few minutes where Signoff runs.")
    return Badge("warn", says, found.at if found else None, "", None, [note], [])


def _verdict(found: VerificationRun) -> str:
    if found.verdict == "intact":
        return gettext("The audit trail is intact.")
    if found.verdict == "tampered":
        return gettext("The audit trail has been tampered with.")
    return gettext("The integrity of the audit trail is unknown.")


def _basis(found: VerificationRun) -> str:
    if not found.size:
        return gettext("There is no checkpoint to verify against.")
    return gettext(
        "{reached} entries verified against the checkpoint of {size} with root "
        "{root}…, signed by {key}:"
    ).format(
        reached=found.reached,
        size=found.size,
        root=found.root[:12],
        key=escape_invisible(found.key_name),
    )


def _notes(found: VerificationRun) -> list[str]:
    notes = []
    if found.verdict == "tampered":
        notes.append(
            gettext(
                "Do not change anything. Copy the database and the checkpoint file, "
                "then run manage.py audit_verify on the copies. docs/audit.md "
                "explains its messages."
            )
        )
    if found.size and not found.is_outside:
        notes.append(gettext("No external checkpoint yet."))
    return notes


def _shown(place: VerificationProblem) -> tuple[str, str]:
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
