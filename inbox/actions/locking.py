"""The only lock: the row of the thread."""

from datetime import datetime
from uuid import UUID

from inbox.domain.errors import NotFound
from inbox.models import Thread
from inbox.models.clock import database_now


def lock_thread(thread_id: UUID) -> tuple[Thread, datetime]:
    """
    Take the thread's lock for the rest of the transaction, and read the time after it.

    What was read before is a rumour. On SQLite every transaction is IMMEDIATE, which is a lock on
    everything, taken earlier still.
    """
    thread = Thread.objects.select_for_update().filter(pk=thread_id).first()
    if thread is None:
        raise NotFound("There is no such thread.")
    return thread, database_now()
