"""Reading a thread's log."""

from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import BigIntegerField, F, Func, Sum, Window

from inbox.models import Event


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


def read_events(*, thread_id: UUID, after: int, limit: int, most_bytes: int) -> Events:
    """
    Return up to `limit` events after `after`, and no more of them after `most_bytes` of bodies.

    So at least one is returned, if there is any; an event may have a megabyte.
    """
    size, log = _Bytes("body"), Event.objects.filter(thread_id=thread_id)
    rows = (
        # A seq is never left out: the range has `limit` events, and no others are measured.
        log.filter(seq__gt=after, seq__lte=after + limit)
        .annotate(end=Window(Sum(size), order_by="seq"), start=F("end") - size)
        .filter(start__lt=most_bytes)
        .order_by("seq")
        .values_list("seq", "run_id", "type", "body", "end")
    )
    found = list(rows)
    is_full = len(found) == limit or (bool(found) and found[-1][-1] >= most_bytes)
    is_cut = is_full and log.filter(seq__gt=found[-1][0]).exists()
    return Events([(seq, str(run_id), kind, body) for seq, run_id, kind, body, _ in found], is_cut)
