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
        gettext("The trail has not been verified yet.")
        if found is None
        else gettext("The trail has not been verified for an hour or longer.")
    )
    note = gettext("That is done every few minutes where Signoff runs, by a process with its key.")
    return Badge("warn", says, found.at if found else None, "", None, [note], [])


def _verdict(found: VerificationRun) -> str:
    if found.verdict == "intact":
        return gettext("The trail is intact.")
    if found.verdict == "tampered":
        return gettext("The trail has been tampered with.")
    return gettext("Whether the trail is intact cannot be told.")


def _basis(found: VerificationRun) -> str:
    if not found.size:
        return gettext("There is no checkpoint that it could rest on.")
    return gettext(
        "{reached} entries were verified against the checkpoint of {size}, with the root {root}…, "
        "signed by {key}:"
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
                "Change nothing. Keep copies of the database and of the file of checkpoints, and "
                "run manage.py audit_verify beside them; docs/audit.md says what it tells."
            )
        )
    if found.size and not found.is_outside:
        notes.append(gettext("No checkpoint outside of the database vouches for this."))
    return notes


def _shown(place: VerificationProblem) -> tuple[str, str]:
    if not place.where:
        return gettext("In what belongs to others."), ""
    if place.seq is None:
        problem = say_problem(place.problem) if place.problem else gettext("it cannot be read")
        return capfirst(f"{say_place(place.where)}: {problem}"), ""
    problem = say_problem(place.problem)
    if place.thread_id is None:
        return gettext("Entry {seq} of a team: {problem}").format(
            seq=place.seq, problem=problem
        ), ""
    says = gettext("Entry {seq} of a thread: {problem}").format(seq=place.seq, problem=problem)
    history = reverse("audit_history", args=[place.thread_id])
    return says, f"{history}?after={max(0, place.seq - 1)}"
