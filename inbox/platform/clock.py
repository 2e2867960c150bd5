"""The database's clock, which decides every expiry."""

from datetime import datetime

from django.db import connection
from django.utils import timezone


def database_now() -> datetime:
    """Return the current time of the clock that all workers share."""
    return _read_clock()


def _read_clock() -> datetime:
    """
    Read the clock; tests of time replace this one function.

    Not the transaction's start: `now()` would accept an answer that waited for a lock past its
    expiry. SQLite runs in this process and has this machine's clock.
    """
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now  # type: ignore[no-any-return]
