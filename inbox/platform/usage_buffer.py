"""In-memory buffer of API key usage; `actions.people.api_key_usage` writes it to the database."""

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

#: Minimum time between two writes for one key: of its use, and of rejections (audit entries).
USED_EVERY, REFUSED_EVERY = timedelta(minutes=1), timedelta(hours=1)

_lock = threading.Lock()
_used: dict[UUID, datetime] = {}
_refused: dict[UUID, "Refusal"] = {}


class Refusal(NamedTuple):
    """A rejected use of a key; `address` is that of a client outside of its networks, else ""."""

    at: datetime
    address: str


def note_use(key_id: UUID, now: datetime, *, written_at: datetime | None) -> None:
    """Buffer the use of a key, unless one was written a moment ago."""
    if written_at is None or now - written_at >= USED_EVERY:
        with _lock:
            _used[key_id] = now


def note_refusal(
    key_id: UUID, now: datetime, *, written_at: datetime | None, address: str = ""
) -> None:
    """Buffer the rejection of an expired or replaced token, or of a client's address."""
    if written_at is None or now - written_at >= REFUSED_EVERY:
        with _lock:
            _refused[key_id] = Refusal(now, address)


def take() -> tuple[dict[UUID, datetime], dict[UUID, Refusal]]:
    """Empty the buffer and return its uses and rejections, by key."""
    with _lock:
        notes = dict(_used), dict(_refused)
        _used.clear()
        _refused.clear()
    return notes


def put_back(used: Mapping[UUID, datetime], refused: Mapping[UUID, Refusal]) -> None:
    """Put back notes that could not be written; later notes win."""
    with _lock:
        _used.update({**used, **_used})
        _refused.update({**refused, **_refused})
