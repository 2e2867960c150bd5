"""
In-memory storage of rate limits.

Why: `limits.storage.MemoryStorage` starts a thread for most calls, which iterates over all keys,
and it loses counts: `get` may drop the lock of a key that another thread holds (limits 5.8).
Remove when: MemoryStorage is thread-safe and expires keys without a thread.
"""

import time
from collections import Counter
from math import floor
from threading import Lock

from limits.storage import MemoryStorage


class SlidingWindowMemory(MemoryStorage):
    """Counts of the current and the previous window; older windows are dropped as a whole."""

    STORAGE_SCHEME = ["windows"]

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        #: window length in seconds -> window number, its counts, counts of the previous window
        self._windows: dict[int, tuple[int, Counter[str], Counter[str]]] = {}

    def acquire_sliding_window_entry(
        self, key: str, limit: int, expiry: int, amount: int = 1
    ) -> bool:
        with self._lock:
            previous, seconds_left, current, _ = self._read(key, expiry)
            if floor(previous * seconds_left / expiry + current) + amount > limit:
                return False
            self._windows[expiry][1][key] += amount
            return True

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Return both counts, each with the seconds until it expires."""
        with self._lock:
            return self._read(key, expiry)

    def _read(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        number, elapsed = divmod(time.monotonic(), expiry)
        last_number, current, previous = self._windows.get(
            expiry, (int(number), Counter(), Counter())
        )
        if last_number != number:
            previous = current if number == last_number + 1 else Counter()
            current = Counter()
        self._windows[expiry] = (int(number), current, previous)
        return previous[key], expiry - elapsed, current[key], 2 * expiry - elapsed
