"""Reading a thread's log."""

from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import BigIntegerField, Func

from inbox.models import Event
from inbox.models.statements import Select

#: Events that are read without asking for their sizes before.
_FIRST = 16


class Events(NamedTuple):
    """A part of a thread's log."""

    rows: list[tuple[int, str, str, str]]  #: (seq, run id, type, body), in order
    is_cut: bool  #: whether it ends at a limit, and there is more


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
        .values_list("seq", "run_id", "type", "body")[:_FIRST]
    )
)


def read_events(*, thread_id: UUID, after: int, limit: int, most_bytes: int) -> Events:
    """
    Return up to `limit` events after `after`, and no more of them after `most_bytes` of bodies.

    At least one is returned, if there is any: an event may have a megabyte. Most reads are of a few
    events, and are one query; further ones are measured before they are read.
    """
    log = Event.objects.filter(thread_id=thread_id).order_by("seq")
    columns = log.values_list("seq", "run_id", "type", "body")
    found = _EVENTS.all(thread=thread_id, after=after)[:limit]
    number, size = 0, 0
    for _, _, _, body in found:
        number, size = number + 1, size + len(body.encode())
        if size >= most_bytes:
            break
    del found[number:]
    if size < most_bytes and _FIRST == number < limit:
        start = end = found[-1][0]
        sizes = log.filter(seq__gt=start).values_list("seq", _Bytes("body"))
        for seq, length in sizes[: limit - number]:
            end, size = seq, size + length
            if size >= most_bytes:
                break
        found += columns.filter(seq__gt=start, seq__lte=end)
    is_full = len(found) == limit or size >= most_bytes
    is_cut = is_full and log.filter(seq__gt=found[-1][0]).exists()
    return Events([(seq, str(run_id), kind, body) for seq, run_id, kind, body in found], is_cut)
