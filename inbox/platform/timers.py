"""Track when periodic work of this process is due."""

import time


class Timer:
    """Says when something is due; the first time at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0

    def is_due(self) -> bool:
        """Return whether it is due; then it is not again until the time has gone by."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True

    def reset(self) -> None:
        """Make it due at once."""
        self._next = 0.0
