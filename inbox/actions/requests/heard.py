"""
When programs last asked about their requests: buffered, and written outside of their calls.

No program waits for this or fails with it. What a process has buffered is lost with it.
"""

import threading
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import DatabaseError

from inbox.models import AgentRequest
from inbox.platform.clock import database_now
from inbox.queries.requests.programs import is_program
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)

#: Programs read more often than pages need to know.
_WRITE_EVERY = timedelta(seconds=10)
_BATCH = 500

_lock = threading.Lock()
_heard: dict[UUID, datetime] = {}


def note_heard(*, request: AgentRequest, actor: Actor) -> None:
    """Buffer that the program was heard of now, unless that was stored a moment ago."""
    now = database_now()
    if now - request.heard_at >= _WRITE_EVERY and is_program(actor, request.thread):
        note_heard_again(request.pk, now)


def note_heard_again(request_id: UUID, now: datetime) -> None:
    """Buffer that a program was heard of that is known to be one."""
    with _lock:
        _heard[request_id] = now


def flush_heard() -> None:
    """Write the buffered times: all become the last of them. Without a database they are lost."""
    with _lock:
        times = dict(_heard)
        _heard.clear()
    try:
        for ids in _batches(list(times)):
            last = max(times[request] for request in ids)
            AgentRequest.objects.filter(pk__in=ids, heard_at__lt=last).update(heard_at=last)
    except DatabaseError as error:
        log.warning("heard.not_written", error=type(error).__name__)


def _batches(ids: list[UUID]) -> list[list[UUID]]:
    return [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
