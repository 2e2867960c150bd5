"""Reads of a thread's event log."""

from collections.abc import Collection
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import BigIntegerField, Func, Max

from inbox.models import AuditEntry, Event, Thread
from inbox.models.statements import Select

#: The number of events that are read without reading their sizes first.
_UNMEASURED = 16


class Events(NamedTuple):
    """A slice of a thread's log."""

    rows: list[tuple[int, str, str, str]]  #: (seq, run id, type, body), in order
    is_cut: bool  #: whether it ends at a limit and more events follow


class _Bytes(Func):
    """The length of a text in UTF-8."""

    function = "OCTET_LENGTH"
    output_field = BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = "LENGTH(CAST(%(expressions)s AS BLOB))"
        return self.as_sql(compiler, connection, template=template, **more)


_EVENTS = Select(
    lambda params: (
        Event.objects.filter(thread=params.thread, seq__gt=params.after)
        .order_by("seq")
        .values_list("seq", "run_id", "type", "body")[:_UNMEASURED]
    )
)


def latest_seqs(thread_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the seq of the last event of each thread, 0 if it has none."""
    rows = Thread.objects.filter(pk__in=thread_ids).values_list("pk", "next_seq")
    return {pk: next_seq - 1 for pk, next_seq in rows}


def latest_changes(thread_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the seq of the last audit entry of each thread: every change writes one."""
    rows = AuditEntry.objects.filter(chain__in=thread_ids).values("chain")
    return dict(rows.annotate(last=Max("seq")).values_list("chain", "last"))


def read_events(*, thread_id: UUID, after: int, limit: int, max_bytes: int) -> Events:
    """
    Return up to `limit` events after `after`; stop after `max_bytes` of bodies.

    Returns at least one event, if there is any: one event may have a megabyte. Most reads return a
    few events in one query; the sizes of further ones are read before their bodies.
    """
    log = Event.objects.filter(thread_id=thread_id).order_by("seq")
    columns = log.values_list("seq", "run_id", "type", "body")
    events = _EVENTS.all(thread=thread_id, after=after)[:limit]
    number, size = 0, 0
    for _, _, _, body in events:
        number, size = number + 1, size + len(body.encode())
        if size >= max_bytes:
            break
    del events[number:]
    if size < max_bytes and _UNMEASURED == number < limit:
        start = end = events[-1][0]
        sizes = log.filter(seq__gt=start).values_list("seq", _Bytes("body"))
        for seq, length in sizes[: limit - number]:
            end, size = seq, size + length
            if size >= max_bytes:
                break
        events += columns.filter(seq__gt=start, seq__lte=end)
    is_full = len(events) == limit or size >= max_bytes
    is_cut = is_full and log.filter(seq__gt=events[-1][0]).exists()
    return Events([(seq, str(run_id), kind, body) for seq, run_id, kind, body in events], is_cut)
