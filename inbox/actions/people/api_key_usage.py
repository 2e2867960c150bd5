"""
When keys were used: noted in memory by whoever lets them in, and written beside the requests.

A request never waits for this, and none fails when it cannot be written: what a process has noted
in its last seconds is lost with it, and nothing depends on it.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet

from inbox.actions.audit import audit_trail
from inbox.models import ApiKey
from inbox.rules.people.access import Actor, ActorKind

log = structlog.get_logger(__name__)

#: A key that is in use all the time is written this often, and a refused one, for the audit trail.
USED_EVERY, REFUSED_EVERY = timedelta(minutes=1), timedelta(hours=1)
WRITE_EVERY_SECONDS = 5.0

_guard = threading.Lock()
_used: dict[UUID, datetime] = {}
_refused: dict[UUID, datetime] = {}


def note_use(key: ApiKey, now: datetime) -> None:
    """Remember that a key was let in, if that was not written a moment ago."""
    if key.last_used_at is None or now - key.last_used_at >= USED_EVERY:
        with _guard:
            _used[key.pk] = now


def note_refusal(key: ApiKey, now: datetime) -> None:
    """Remember that a token was sent which works no more."""
    if key.last_refused_at is None or now - key.last_refused_at >= REFUSED_EVERY:
        with _guard:
            _refused[key.pk] = now


def write_notes() -> None:
    """
    Write what was noted; each key at most once a minute, whatever the number of processes.

    What cannot be written now is noted again.
    """
    with _guard:
        used, refused = dict(_used), dict(_refused)
        _used.clear()
        _refused.clear()
    try:
        for key_id, at in used.items():
            _due(key_id, "last_used_at", at - USED_EVERY).update(last_used_at=at)
        for key_id, at in refused.items():
            _write_refusal(key_id, at)
    except DatabaseError as error:
        log.warning("key_use.not_written", error=type(error).__name__)
        with _guard:
            for notes, taken in ((_used, used), (_refused, refused)):
                notes.update(taken | notes)


def write_until(stopping: Callable[[float], bool]) -> None:
    """Write every few seconds until `stopping(seconds)`, which waits so long, says yes."""
    while not stopping(WRITE_EVERY_SECONDS):
        if _used or _refused:
            write_notes()
            connection.close()


@transaction.atomic(durable=True)
def _write_refusal(key_id: UUID, at: datetime) -> None:
    if not _due(key_id, "last_refused_at", at - REFUSED_EVERY).update(last_refused_at=at):
        return  # another process has written it
    key = ApiKey.objects.get(pk=key_id)
    actor = Actor(kind=ActorKind.KEY, label=f"key {key.name}", key_id=key.pk)
    audit_trail.record(
        action="key.refused",
        actor=actor,
        now=at,
        team_id=key.team_id,
        key=str(key.pk),
        name=key.name,
        prefix=key.prefix,
    )


def _due(key_id: UUID, column: str, before: datetime) -> "QuerySet[ApiKey]":
    return ApiKey.objects.filter(Q(**{column: None}) | Q(**{f"{column}__lte": before}), pk=key_id)
