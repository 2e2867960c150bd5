"""Timers and pauses of the background work of one process."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

#: A request that waits for the interpreter or for the one writer of SQLite waits for this long.
SLICE_SECONDS = 0.01
#: Pauses as multiples of the work before them, in an idle and in a busy process.
_IDLE, _BUSY = 1.0, 12.0
#: The part of the attainable processor time from which other threads make the process a busy one.
_BUSY_SHARE = 0.2
#: A process counts as less and less busy for about 30 slices after its last request.
_DECAY = 0.9
_LONGEST_PAUSE_SECONDS = 1.0


class Timer:
    """A timer that is due at once, and then every `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0

    def is_due(self) -> bool:
        """Return whether the timer is due, and restart it if so."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True

    def reset(self) -> None:
        """Make the timer due at once."""
        self._next = 0.0


class Pacer:
    """
    Pause one thread's work after each slice, for longer while other threads of the process work.

    The processor time of the other threads tells how busy they are, so requests and runs need not
    report what they do.
    """

    def __init__(self) -> None:
        self._busy = 0.0
        self.start()

    def start(self) -> None:
        """Begin a slice; time since the last one counts as neither work nor pause."""
        self._begun, self._own = time.perf_counter(), time.thread_time()
        self._others = time.process_time() - self._own

    def pause_if_due(self) -> None:
        """Pause if the slice is over, and begin the next one."""
        worked = time.perf_counter() - self._begun
        if worked < SLICE_SECONDS:
            return
        # On a machine that others use too, a thread gets a part of a core at most.
        attainable = max((time.thread_time() - self._own) / worked, 0.05)
        factor = _IDLE + self._busy * (_BUSY - _IDLE)
        time.sleep(min(worked * factor, _LONGEST_PAUSE_SECONDS))
        others = time.process_time() - time.thread_time() - self._others
        share = others / (time.perf_counter() - self._begun) / attainable
        self._busy = max(min(share / _BUSY_SHARE, 1.0), self._busy * _DECAY)
        self.start()

    def paced(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, with pauses between them."""
        self.start()
        for item in items:
            yield item
            self.pause_if_due()
