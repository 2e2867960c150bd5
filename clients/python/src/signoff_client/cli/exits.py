"""Exit codes of the command, signals, and output that nobody reads any more."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from signoff_client.errors import (
    AlreadyStarted,
    ApiError,
    ConfigurationError,
    Denied,
    EditRefused,
    Expired,
    InDoubt,
    Lapsed,
    NotApproved,
    Pending,
    Unreachable,
    Withdrawn,
)


class Exit(IntEnum):
    """Exit codes, which scripts rely on."""

    YES = 0
    NO = 1
    USAGE = 2  #: the command, the settings or the request is wrong
    EXPIRED = 3  #: expired, withdrawn or lapsed
    PENDING = 4
    UNREACHABLE = 5
    IN_DOUBT = 6
    FAILED = 7  #: approved, and the command ended without an effect or could not start


_CODES: list[tuple[type[BaseException], Exit]] = [
    (Denied, Exit.NO),
    (EditRefused, Exit.NO),
    (Expired, Exit.EXPIRED),
    (Withdrawn, Exit.EXPIRED),
    (Lapsed, Exit.EXPIRED),
    (Pending, Exit.PENDING),
    (Unreachable, Exit.UNREACHABLE),
    (InDoubt, Exit.IN_DOUBT),
    (AlreadyStarted, Exit.IN_DOUBT),
    (NotApproved, Exit.NO),
    (ApiError, Exit.USAGE),
    (ConfigurationError, Exit.USAGE),
]


class Terminated(BaseException):
    """SIGTERM or SIGHUP came. Not an Exception, so that only the outer edge handles it."""


def code_of(error: BaseException) -> Exit:
    """Return the exit code that belongs to an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.USAGE)


@contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated in the block when the process is told to end."""

    def terminate(number: int, _: Any) -> None:
        raise Terminated(signal.Signals(number).name)

    signals = [signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])
    previous = {number: signal.signal(number, terminate) for number in signals}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def write(text: str) -> bool:
    """Write a line to standard output; return False if nobody reads it."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        # Python would fail again at its end, with exit code 120, when it flushes the rest.
        with open(os.devnull, "w") as sink:  # noqa: PTH123
            _point_at(1, sink.fileno())
        return False
    return True


def write_json(value: Any) -> bool:
    return write(json.dumps(value, ensure_ascii=False))


def complain(text: str) -> None:
    """Write a line to standard error, if somebody reads it."""
    try:
        sys.stderr.write(f"signoff: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        with open(os.devnull, "w") as sink:  # noqa: PTH123
            _point_at(2, sink.fileno())


def _point_at(descriptor: int, target: int) -> None:
    try:
        os.dup2(target, descriptor)
    except OSError:
        return
