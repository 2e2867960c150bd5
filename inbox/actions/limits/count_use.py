"""Counting what is too much to count on each start: the threads of a team and their events."""

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Sum

from inbox.models import TeamUse, Thread
from inbox.models.fields import first_id_at
from inbox.platform.clock import database_now


@transaction.atomic(durable=True)
def count_use_of_teams() -> None:
    """Count the threads and events of all teams. Safe to replay."""
    now = database_now()
    first = first_id_at(now)
    rows = Thread.objects.filter(pk__lt=first).order_by().values_list("team")
    empty = TeamUse.objects.exclude(Exists(Thread.objects.filter(team=OuterRef("team"))))
    empty.update(threads=0, event_bytes=0, threads_to=first, counted_at=now)
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
