"""
Redis transport of Celery that drops unreadable messages.

Why: a message that is not valid JSON raises in Kombu, and Celery stops the worker
(https://github.com/celery/celery/issues/4308).
Remove when: Kombu rejects messages that it cannot decode.
"""

from itertools import count
from typing import Any

import structlog
from kombu.transport import redis

log = structlog.get_logger(__name__)

#: The exceptions of Kombu for a message that is not JSON, or JSON of another shape.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)

_dropped = count(1)


def _log_drop(error: Exception) -> None:
    """Log a dropped message; the sweeper sends the wake-up of its row again."""
    log.warning(
        "unreadable message dropped", error=type(error).__name__, dropped_by_process=next(_dropped)
    )


class QoS(redis.QoS):
    """Unacknowledged deliveries; an unreadable one is removed instead of restored."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        try:
            super().restore_by_tag(tag, client, leftmost)
        except UNREADABLE as error:
            self._remove_from_indices(tag).execute()  # type: ignore[attr-defined]
            _log_drop(error)


class Channel(redis.Channel):
    """A channel that drops unreadable messages."""

    QoS = QoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except UNREADABLE as error:  # BRPOP has removed the message already
            _log_drop(error)
            return True


class Transport(redis.Transport):
    Channel = Channel
