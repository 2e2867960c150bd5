"""The locks: the row of the thread, and that of the team for what administrators change."""

from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.models import Team, Thread
from inbox.models.clock import database_now
from inbox.queries.people.access import require
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission


def lock_thread(
    thread_id: UUID | None = None, *, with_team: bool = False, **address: Any
) -> tuple[Thread, datetime]:
    """
    Take the thread's lock for the rest of the transaction, and read the time after it.

    The thread is named by its id or by other fields of it. Rows that were read before may be stale:
    read them again. `with_team` reads the team's row as well, which is not locked. On SQLite every
    transaction is IMMEDIATE, which is a lock on everything, taken earlier still.

    Raises:
        NotFound: there is no such thread.
    """
    wanted = address or {"pk": thread_id}
    try:
        # `of`: fields of other rows may name the thread, but those rows are not locked. The whole
        # conversation is read by the few who need it only.
        rows = Thread.objects.select_for_update(of=("self",)).defer(
            "messages", "state", "client_messages"
        )
        if with_team:
            rows = rows.select_related("team")
        thread = rows.get(**wanted)
    except Thread.DoesNotExist:
        raise NotFound() from None
    return thread, database_now()


def lock_team(team_id: UUID, actor: Actor, permission: Permission) -> Team:
    """
    Take the team's lock for the rest of the transaction, and see that the actor may do this.

    Under the lock, too: while somebody waited for it, an administrator may have removed them. Not
    `FOR UPDATE`: whoever adds a thread to the team would have to wait as well.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, permission)
    team = Team.objects.select_for_update(no_key=True).get(pk=team_id)
    require(actor, team_id, permission)
    return team
