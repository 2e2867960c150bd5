"""
A clock that is set back, to make the history of the demo through the ordinary actions.

Why: lists and metrics read the time out of ids, and the library `uuid6` takes no time as an
argument (https://github.com/oittaa/uuid6-python). Its module is given another source of time.
Remove when: `uuid6.uuid7` takes a time.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import uuid6

from inbox.platform import clock


class PastClock:
    """A clock that goes on from where it was set."""

    def __init__(self, start: datetime) -> None:
        self.move_to(start)

    def move_to(self, moment: datetime) -> None:
        self._set_to, self._set_at = moment, time.monotonic()

    def now(self) -> datetime:
        return self._set_to + timedelta(seconds=time.monotonic() - self._set_at)


@contextmanager
def clock_set_back(start: datetime) -> Iterator[PastClock]:
    """
    Set the clock of this process, and that of new ids, back to `start`.

    Only before the server and the worker start: the clock decides every expiry, for all threads.
    Move it forward only, so that ids and the audit trail stay in order.
    """
    past, before, library = PastClock(start), clock.past, cast("Any", uuid6)
    source, last_timestamp = library.time, library._last_v7_timestamp  # noqa: SLF001
    clock.past = past.now
    library.time = SimpleNamespace(time_ns=lambda: int(past.now().timestamp() * 1e9))
    library._last_v7_timestamp = None  # noqa: SLF001
    try:
        yield past
    finally:
        clock.past = before
        library.time, library._last_v7_timestamp = source, last_timestamp  # noqa: SLF001
