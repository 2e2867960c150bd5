"""The Redis transport of Celery, which outlives messages that it cannot read."""

from itertools import count
from typing import Any

import structlog
from kombu.transport import redis

log = structlog.get_logger(__name__)

#: What kombu raises at a message that is no JSON, or JSON of another shape.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)

_dropped = count(1)


def _log_drop(error: Exception) -> None:
    """Count the message; its row, if it had one, is still queued and the sweeper sends it again."""
    log.warning(
        "unreadable message dropped", error=type(error).__name__, dropped_by_process=next(_dropped)
    )


class QoS(redis.QoS):
    """Deliveries without an acknowledgement; an unreadable one is removed instead of restored."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        try:
            super().restore_by_tag(tag, client, leftmost)
        except UNREADABLE as error:
            self._remove_from_indices(tag).execute()  # type: ignore[attr-defined]
            _log_drop(error)


class Channel(redis.Channel):
    """A channel that drops the message that it cannot read and goes on with the next one."""

    QoS = QoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except UNREADABLE as error:  # BRPOP has removed the message already
            _log_drop(error)
            return True


class Transport(redis.Transport):
    """
    Kombu's Redis transport with the channel above.

    Without it one message that is no JSON ends the consumer thread: kombu hands the exception to
    Celery, which takes it for a defect of its own and stops the worker.
    """

    Channel = Channel
