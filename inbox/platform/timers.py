"""Timers for periodic work in one process."""

import time


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
