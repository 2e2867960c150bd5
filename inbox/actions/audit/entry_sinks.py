"""The positions of the sinks of audit entries, each leased by one process at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from inbox.models import EntrySink
from inbox.models.locks import lock_entry_sink
from inbox.platform.clock import database_now
from inbox.queries.audit.sink_lag import entries_from

#: Entries of one message to a sink.
ENTRIES_AT_ONCE = 250
#: The lease of the process that sends to a sink, and the pause after a failure.
LEASE, PAUSE = timedelta(minutes=5), timedelta(seconds=10)


@dataclass(frozen=True)
class EntryBatch:
    """Consecutive entries of the log from a position, and the end of the lease on the sink."""

    until: datetime
    first: int  #: position of the first entry
    lines: Sequence[dict[str, Any]]


@transaction.atomic(durable=True)
def claim_entry_sink(*, address: str) -> EntryBatch | None:
    """
    Lease a sink, and return the next entries for it; None if there are none.

    Also None while another process has the lease, and for PAUSE after a failure.
    """
    now = database_now()
    EntrySink.objects.get_or_create(address=address)
    sink = lock_entry_sink(address)
    if sink.not_before is not None and sink.not_before > now:
        return None
    lines = entries_from(sink.position, ENTRIES_AT_ONCE)
    if not lines:
        return None
    sink.not_before = now + LEASE
    sink.save(update_fields=["not_before"])
    return EntryBatch(sink.not_before, sink.position, lines)


@transaction.atomic(durable=True)
def record_entries_sent(*, address: str, position: int, until: datetime) -> bool:
    """
    Record that a sink has all entries before a position, and end the lease.

    Return False without recording if the lease was lost: the entries are sent again.
    """
    sink = lock_entry_sink(address)
    if sink.not_before != until:
        return False
    sink.position, sink.problem = position, ""
    sink.tried_at, sink.not_before = database_now(), None
    sink.save(update_fields=["position", "problem", "tried_at", "not_before"])
    return True


@transaction.atomic(durable=True)
def record_entries_failure(*, address: str, problem: str, until: datetime) -> None:
    """Record why sending to a sink failed, and pause it."""
    now = database_now()
    sink = lock_entry_sink(address)
    if sink.not_before == until:
        sink.problem, sink.tried_at, sink.not_before = problem[:200], now, now + PAUSE
        sink.save(update_fields=["problem", "tried_at", "not_before"])
