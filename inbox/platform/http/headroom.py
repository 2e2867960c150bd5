"""
Checks that a process may leave out, because a count was far from its limit a moment ago.

Counting on each start of a run would cost a statement or two; a count that is below half of its
limit is good for a few more uses within a second.
"""

import time
from collections.abc import Hashable
from threading import Lock

_SECONDS = 1.0
#: Concurrent requests that count at the same moment could exceed half of a smaller limit.
_SMALLEST = 64
#: A process may use this part of a limit before it counts again.
_PART = 16


class Headroom:
    """The uses that are left until a count is due again, by any key."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._left: dict[Hashable, tuple[float, int]] = {}

    def covers(self, key: Hashable, uses: int = 1) -> bool:
        """Return whether no count is due, and note the uses if so."""
        with self._lock:
            until, left = self._left.get(key, (0.0, 0))
            if time.monotonic() >= until or left < uses:
                return False
            self._left[key] = until, left - uses
            return True

    def grant(self, key: Hashable, *, used: int, most: int) -> bool:
        """Grant uses after a count; False if the limit is small, or half of it is used."""
        if most < _SMALLEST or 2 * used > most:
            return False
        with self._lock:
            self._left[key] = time.monotonic() + _SECONDS, most // _PART
        return True

    def clear(self) -> None:
        with self._lock:
            self._left.clear()


headroom = Headroom()
