"""Checks of what a process depends on outside of the database: its disk and its broker."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.conf import settings

#: The timeout of a command to Redis.
BROKER_SECONDS = 1.0
#: A file of this size must fit on the disk.
_PROBE = b"\0" * 4096


class PartStatus(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    FAILING = "failing"


@dataclass(frozen=True)
class Part:
    """The state of one thing that the product depends on."""

    status: PartStatus
    detail: Mapping[str, Any] = field(default_factory=dict)


def disk() -> Part:
    """
    Check that the data directory can be written to.

    It is degraded while it has less free space than uploads need.
    """
    try:
        free = shutil.disk_usage(settings.DATA_DIR).free
        with tempfile.TemporaryFile(dir=settings.DATA_DIR, prefix="signoff-probe-") as file:
            file.write(_PROBE)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Part(PartStatus.FAILING, {"error": os.strerror(error.errno or 0)})
    is_low = free < settings.FREE_DISK_BYTES
    return Part(PartStatus.DEGRADED if is_low else PartStatus.OK, {"free_bytes": free})


def broker() -> Part:
    """Check that Redis answers; without Redis the broker is in this process."""
    if settings.EMBEDDED:
        return Part(PartStatus.OK, {"kind": "in-process"})
    from redis import Redis, RedisError  # noqa: PLC0415 - the embedded deployment does not need it

    try:
        with Redis.from_url(
            settings.REDIS_URL, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
        ) as client:
            queued = client.llen(settings.CELERY_TASK_DEFAULT_QUEUE)
    except RedisError as error:
        return Part(PartStatus.FAILING, {"kind": "redis", "error": type(error).__name__})
    return Part(PartStatus.OK, {"kind": "redis", "messages": queued})


class Liveness:
    """The signs of life of this process: functions that return False once a part is stuck."""

    def __init__(self) -> None:
        self._checks: dict[str, Callable[[], bool]] = {}

    def add(self, name: str, check: Callable[[], bool]) -> None:
        self._checks[name] = check

    def stuck_parts(self) -> list[str]:
        return [name for name, check in self._checks.items() if not check()]


liveness = Liveness()
