"""Audit entries, written by every action in its own transaction."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.domain.access import Actor
from inbox.domain.consent import canonical
from inbox.models import AuditEntry, Interrupt, Run, Thread


def record(**what: Any) -> None:
    """Write down who did what; the arguments are those of `entry`."""
    entry(**what).save(force_insert=True)


def record_all(entries: Iterable[AuditEntry]) -> None:
    """Write down many things that one actor did at once."""
    AuditEntry.objects.bulk_create(entries)


def entry(
    *,
    action: str,
    actor: Actor,
    now: datetime,
    thread: Thread | None = None,
    team_id: UUID | None = None,
    run: Run | None = None,
    interrupt: Interrupt | None = None,
    **detail: Any,
) -> AuditEntry:
    """Build an entry; `action` is a noun and a past participle: `run.started`."""
    if thread is not None:
        team_id = thread.team_id
    if team_id is None:
        raise ValueError("An audit entry belongs to a team.")
    return AuditEntry(
        team_id=team_id,
        thread=thread,
        run=run,
        interrupt=interrupt,
        action=action,
        actor_kind=actor.kind,
        actor_id=actor.ident[:64],
        actor_label=actor.label[:160],
        detail=canonical(detail),
        at=now,
    )
