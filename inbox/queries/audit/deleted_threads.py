"""Threads that were deleted by their age, of which the audit trail is left."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from inbox.models import Agent, AuditEntry, Thread
from inbox.queries.people.access import permissions_in, require
from inbox.queries.runs.threads import thread_for
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

DELETED = "thread.deleted"


@dataclass(frozen=True)
class ThreadDeletion:
    """The deletion of a thread; the texts are empty once they are erased from the trail."""

    thread_id: UUID
    team_id: UUID
    at: datetime
    days: int | None  #: without activity
    agent: str
    external_id: str

    @property
    def message(self) -> TranslatableMessage:
        day = f"{self.at:%Y-%m-%d}"
        if self.days is None:
            return TranslatableMessage(
                "This was deleted with its thread on {day}. The audit trail is kept.", day=day
            )
        return TranslatableMessage(
            "This was deleted with its thread on {day} (days without activity: {days}). "
            "The audit trail is kept.",
            day=day,
            days=self.days,
        )


def deletion_of(thread_id: UUID) -> ThreadDeletion | None:
    """Return the deletion of a thread, None if it was not deleted."""
    entries = AuditEntry.objects.filter(chain=thread_id, action=DELETED).select_related("payload")
    entry = entries.first()
    if entry is None or entry.team_id is None:
        return None
    detail = entry.content["detail"]
    days = detail.get("days")
    return ThreadDeletion(
        thread_id=entry.chain,
        team_id=entry.team_id,
        at=entry.at,
        days=days if isinstance(days, int) else None,
        agent=str(detail.get("agent", "")),
        external_id=str(detail.get("external_id", "")),
    )


def deletion_behind(actor: Actor, ids: Iterable[Any]) -> ThreadDeletion | None:
    """
    Return the deletion that explains why nothing is at an address, None if nothing was deleted.

    `ids` are those in the address: of a thread, a run, an interrupt or a tool call. Only for actors
    who may read the team.
    """
    for pk in ids:
        if not isinstance(pk, UUID):
            continue
        for about in (Q(chain=pk), Q(interrupt=pk), Q(run=pk), Q(tool_call=pk)):
            chain = AuditEntry.objects.filter(about).values_list("chain", flat=True).first()
            deletion = deletion_of(chain) if chain else None
            if deletion and Permission.READ in permissions_in(actor, deletion.team_id):
                return deletion
    return None


def thread_of_trail(actor: Actor, thread_id: UUID) -> Thread:
    """
    Return a thread, or for a deleted one a row with what the trail has of it, to read its trail.

    Raises:
        NotFound, Forbidden.
    """
    deletion = deletion_of(thread_id)
    if deletion is None:
        return thread_for(actor, thread_id)
    require(actor, deletion.team_id, Permission.READ)
    return Thread(
        pk=thread_id,
        team_id=deletion.team_id,
        agent=Agent(slug=deletion.agent),
        external_id=deletion.external_id,
    )


def of_deleted_thread() -> Exists:
    """Return the condition that an audit entry is in the chain of a deleted thread."""
    return Exists(AuditEntry.objects.filter(chain=OuterRef("chain"), action=DELETED))
