"""Reading a thread's log."""

from uuid import UUID

from inbox.models import Event


def read_events(*, thread_id: UUID, after: int, limit: int) -> list[tuple[int, str, str, str]]:
    """(seq, run id, type, body) of up to `limit` events after `after`, in order."""
    rows = (
        Event.objects.filter(thread_id=thread_id, seq__gt=after)
        .order_by("seq")
        .values_list("seq", "run_id", "type", "body")[:limit]
    )
    return [(seq, str(run_id), kind, body) for seq, run_id, kind, body in rows]
