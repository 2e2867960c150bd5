"""The entries that sinks have not received yet, and for how long."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from inbox.models import AuditCheckpoint, AuditEntry, EntrySink
from inbox.platform.clock import database_now
from inbox.queries.audit.trail import lines_of
from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class SinkState:
    """The state of one sink."""

    lag_seconds: float  #: age of the oldest entry that it lacks
    problem: str  #: of the last attempt, "" after a success


def entries_from(position: int, most: int) -> list[dict[str, Any]]:
    """Return the entries of the log from a position, as lines of an export."""
    rows = AuditEntry.objects.filter(
        leaf__position__gte=position, leaf__position__lt=position + most
    )
    return list(lines_of(rows.order_by("leaf__position")))


def sink_states() -> Mapping[str, SinkState]:
    """Return the states of the sinks in the setting, by name: their number and scheme."""
    if not settings.AUDIT_ENTRY_SINKS:
        return {}
    now = database_now()
    rows = {row.address: row for row in EntrySink.objects.all()}
    unsigned = _oldest_unsigned()
    states = {}
    for number, address in enumerate(settings.AUDIT_ENTRY_SINKS):
        row = rows.get(address) or EntrySink(address=address)
        oldest = _oldest_from(row.position) or unsigned
        lag = 0.0 if oldest is None else max((now - oldest).total_seconds(), 0.0)
        states[f"{number}:{urlsplit(address).scheme}"] = SinkState(round(lag, 1), row.problem)
    return states


def largest_lag() -> float:
    """Return the lag of the sink that is furthest behind, in seconds."""
    return max((state.lag_seconds for state in sink_states().values()), default=0.0)


def is_lag_too_large() -> bool:
    """Return whether decisions have to wait for a sink (SIGNOFF_AUDIT_SINK_MAX_LAG)."""
    limit = settings.AUDIT_SINK_MAX_LAG
    return bool(limit) and largest_lag() > limit


def check_sinks() -> None:
    """
    Raise unless every sink has recent entries.

    Raises:
        AuditSinkLags.
    """
    if is_lag_too_large():
        raise errors.AuditSinkLags(
            TranslatableMessage(
                "Decisions are paused: a copy of the audit trail has not been received for more "
                "than {seconds} seconds. Nothing was changed. Tell your administrator.",
                seconds=f"{settings.AUDIT_SINK_MAX_LAG:g}",
            )
        )


def _oldest_from(position: int) -> datetime | None:
    rows = AuditEntry.objects.filter(leaf__position=position)
    return rows.values_list("at", flat=True).first()


def _oldest_unsigned() -> datetime | None:
    newest = AuditCheckpoint.objects.order_by("-size").values_list("newest_entry", flat=True)
    unsigned = AuditEntry.objects.filter(pk__gt=newest.first() or 0)
    return unsigned.order_by("pk").values_list("at", flat=True).first()
