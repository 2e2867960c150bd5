"""In-memory buffer of API key usage, flushed by `actions.people.api_key_usage`."""

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

#: Minimum time between two writes for one key: of its use, and of refusals (audit entries).
USED_EVERY, REFUSED_EVERY = timedelta(minutes=1), timedelta(hours=1)

_lock = threading.Lock()
_used: dict[UUID, datetime] = {}
_refused: dict[UUID, datetime] = {}


def note_use(key_id: UUID, now: datetime, *, written_at: datetime | None) -> None:
    """Buffer that a key was used, unless the database was told so a moment ago."""
    if written_at is None or now - written_at >= USED_EVERY:
        with _lock:
            _used[key_id] = now


def note_refusal(key_id: UUID, now: datetime, *, written_at: datetime | None) -> None:
    """Buffer that an expired or replaced token was sent."""
    if written_at is None or now - written_at >= REFUSED_EVERY:
        with _lock:
            _refused[key_id] = now


def is_empty() -> bool:
    return not (_used or _refused)


def take() -> tuple[dict[UUID, datetime], dict[UUID, datetime]]:
    """Empty the buffer and return what was in it: uses and refusals, by key."""
    with _lock:
        taken = dict(_used), dict(_refused)
        _used.clear()
        _refused.clear()
    return taken


def put_back(used: Mapping[UUID, datetime], refused: Mapping[UUID, datetime]) -> None:
    """Return what could not be written; later notes win."""
    with _lock:
        for buffer, unwritten in ((_used, used), (_refused, refused)):
            buffer.update({**unwritten, **buffer})
