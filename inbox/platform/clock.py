"""
The wall clock: no other module of the inbox reads it.

Durations and timeouts inside one process use `time.monotonic`, which no change of the clock moves.
"""

import time
from collections.abc import Callable
from datetime import datetime

from django.db import connection
from django.utils import timezone

#: Set by `inbox.management.past_clock` only.
past: Callable[[], datetime] | None = None


def now() -> datetime:
    """Return this machine's time, for pages, sessions and messages; no decision depends on it."""
    return past() if past else timezone.now()


def now_ns() -> int:
    """Return this machine's time in nanoseconds since 1970, for spans of traces."""
    return time.time_ns()


def database_now() -> datetime:
    """Return the current time of the clock that all workers share; it decides every expiry."""
    return _read_clock()


def _read_clock() -> datetime:
    """
    Read the clock; tests of time replace this one function.

    Not the transaction's start: `now()` would accept an answer that waited for a lock past its
    expiry. SQLite runs in this process and has this machine's clock.
    """
    if past or connection.vendor != "postgresql":
        return now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (time,) = cursor.fetchone()
    return time  # type: ignore[no-any-return]
