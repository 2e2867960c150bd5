"""Auditing exports of the audit trail."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.team_lock import lock_permitted_team
from inbox.models.locks import lock_thread
from inbox.platform.clock import database_now
from inbox.queries.people.access import require
from inbox.rules.audit.export_formats import Format
from inbox.rules.people.access import Actor, Permission


@transaction.atomic(durable=True)
def record_export(
    *,
    team_id: UUID,
    thread_id: UUID | None,
    form: Format,
    parameters: Mapping[str, str],
    entries: int,
    size: int,
    actor: Actor,
) -> None:
    """
    Record, before it begins, an export of entries of a team or a thread.

    `parameters` are those of the filter. `size` is that of the export's checkpoint, at which the
    export can be repeated.

    Raises:
        NotFound, Forbidden: the actor may not read it or does not administer the team.
    """
    about: dict[str, Any]
    if thread_id is None:
        lock_permitted_team(team_id, actor, Permission.ADMIN)
        about, now = {"team_id": team_id}, database_now()
    else:
        thread, now = lock_thread(thread_id)
        about = {"thread": thread}
    for permission in (Permission.READ, Permission.ADMIN):
        require(actor, team_id, permission)
    audit_trail.record(
        "audit.exported",
        actor,
        now,
        format=form.value,
        filter=dict(parameters),
        entries=entries,
        checkpoint=size,
        **about,
    )
