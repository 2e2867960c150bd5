"""
Celery broker for one process.

Why: Kombu's in-memory transport polls once a second.
Remove when: Kombu's in-memory transport blocks until there is a message.
"""

import threading
import time
from collections.abc import Callable
from queue import Empty
from typing import Any

from kombu.transport import memory


class _Notifier:
    """A counter of events that threads can wait for."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self.count = 0

    def notify(self) -> None:
        with self._condition:
            self.count += 1
            self._condition.notify_all()

    def wait_beyond(self, seen: int, timeout: float | None) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: self.count > seen, timeout)


_notifier = _Notifier()


class Channel(memory.Channel):
    """The memory channel, which notifies when there may be something to deliver."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        super()._put(queue, message, **kwargs)
        _notifier.notify()

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        super().basic_ack(delivery_tag, multiple)
        _notifier.notify()


class Transport(memory.Transport):
    """
    The memory transport, which waits for a notification instead of polling.

    An acknowledgement notifies too, because it frees a slot under the prefetch limit.
    """

    Channel = Channel

    def drain_events(  # type: ignore[override]
        self, connection: Any, **kwargs: Any
    ) -> None:
        timeout: float | None = kwargs.get("timeout")
        deadline = None if timeout is None else time.monotonic() + timeout
        deliver: Callable[..., None] = self._deliver
        while True:
            seen = _notifier.count
            try:
                self.cycle.get(deliver, timeout=0)  # type: ignore[union-attr]  # set when connected
            except Empty:
                left = None if deadline is None else deadline - time.monotonic()
                if not _notifier.wait_beyond(seen, left):
                    raise TimeoutError from None
            else:
                return
