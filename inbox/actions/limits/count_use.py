"""Counting what is too much to count on each start: the threads of a team and their events."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Sum

from inbox.models import TeamUse, Thread
from inbox.platform.clock import database_now


@transaction.atomic(durable=True)
def count_use_of_teams() -> None:
    """Count the threads and events of all teams that have threads. Safe to replay."""
    now = database_now()
    first = _first_id_at(now)
    rows = Thread.objects.filter(pk__lt=first).order_by().values_list("team")
    for team_id, threads, characters in rows.annotate(Count("pk"), Sum("event_bytes")):
        TeamUse.objects.update_or_create(
            team_id=team_id,
            defaults={
                "threads": threads,
                "threads_to": first,
                "event_bytes": characters,
                "counted_at": now,
            },
        )


def _first_id_at(at: datetime) -> UUID:
    """Return the smallest UUIDv7 of a time (RFC 9562, 5.7)."""
    milliseconds = int(at.timestamp() * 1000)
    return UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62)
