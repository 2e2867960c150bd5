"""Counters of calls in the memory of one process."""

import time
from collections import Counter
from math import floor
from threading import Lock

from limits.storage import MemoryStorage


class Windows(MemoryStorage):
    """
    What `limits`' sliding window counter keeps: a count for this window and for the one before.

    Its own storage starts a thread for most calls, which goes through all that is kept, and two
    threads may lose a count. Here what is old goes as a whole, when its window has gone by.
    """

    STORAGE_SCHEME = ["windows"]

    def __init__(self) -> None:
        super().__init__()
        self._turn = Lock()
        #: seconds of a window -> its number, the counts in it, and those in the one before
        self._kept: dict[int, tuple[int, Counter[str], Counter[str]]] = {}

    def acquire_sliding_window_entry(
        self, key: str, limit: int, expiry: int, amount: int = 1
    ) -> bool:
        with self._turn:
            before, seconds_left, now, _ = self._read(key, expiry)
            if floor(before * seconds_left / expiry + now) + amount > limit:
                return False
            self._kept[expiry][1][key] += amount
            return True

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """As `limits` has it: both counts, each with the seconds that it counts for."""
        with self._turn:
            return self._read(key, expiry)

    def _read(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        number, gone = divmod(time.monotonic(), expiry)
        kept, now, before = self._kept.get(expiry, (int(number), Counter(), Counter()))
        if kept != number:
            before = now if number == kept + 1 else Counter()
            now = Counter()
        self._kept[expiry] = (int(number), now, before)
        return before[key], expiry - gone, now[key], 2 * expiry - gone
