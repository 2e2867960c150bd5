"""Writing the heartbeats of workers."""

import socket
from datetime import timedelta
from uuid import UUID

from inbox.models import WorkerHeartbeat
from inbox.platform.clock import database_now

#: Rows of workers that crashed are deleted after this time.
KEPT = timedelta(hours=1)


def record_heartbeat(*, worker_id: UUID, is_consuming: bool, has_swept: bool) -> None:
    """
    Record that a worker is alive, and whether it has swept since its last heartbeat.

    Also deletes the rows of workers that have been silent for KEPT.
    """
    now = database_now()
    row = {"seen_at": now, "is_consuming": is_consuming}
    if has_swept:
        row["swept_at"] = now
    if not WorkerHeartbeat.objects.filter(pk=worker_id).update(**row):
        host = socket.gethostname()[:200]
        WorkerHeartbeat.objects.update_or_create(
            pk=worker_id, defaults={**row, "host": host, "started_at": now}
        )
        WorkerHeartbeat.objects.filter(seen_at__lt=now - KEPT).delete()


def delete_heartbeat(*, worker_id: UUID) -> None:
    """Delete the row of a worker that stops."""
    WorkerHeartbeat.objects.filter(pk=worker_id).delete()
