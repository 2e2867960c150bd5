"""Reading a thread's log."""

from typing import NamedTuple
from uuid import UUID

from inbox.models import Event

#: Events of the first query; the size of these decides how many are read next.
_FIRST = 16


class Events(NamedTuple):
    """A part of a thread's log."""

    rows: list[tuple[int, str, str, str]]  #: (seq, run id, type, body), in order
    is_cut: bool  #: whether it ends at a limit, and there is more


def read_events(*, thread_id: UUID, after: int, limit: int, most_bytes: int) -> Events:
    """
    Return up to `limit` events after `after`, and no more of them after `most_bytes` of bodies.

    At least one is returned, if there is any: an event may have a megabyte.
    """
    log = Event.objects.filter(thread_id=thread_id).order_by("seq")
    rows: list[tuple[int, str, str, str]] = []
    size, wanted = 0, _FIRST
    while True:
        wanted = min(wanted, limit - len(rows))
        page = log.filter(seq__gt=after).values_list("seq", "run_id", "type", "body")[:wanted]
        read = 0
        for seq, run_id, kind, body in page:
            read += 1
            rows.append((seq, str(run_id), kind, body))
            size += len(body.encode())
            after = seq
            if size >= most_bytes or len(rows) == limit:
                return Events(rows, is_cut=log.filter(seq__gt=after).exists())
        if read < wanted:
            return Events(rows, is_cut=False)
        wanted = max(1, (most_bytes - size) * len(rows) // max(1, size))
