"""Repeating an action that has lost a race for a unique value, or was ended by a deadlock."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import structlog
from django.db import IntegrityError, OperationalError

log = structlog.get_logger(__name__)

_MAX_TRIES = 4
_DEADLOCK_DETECTED = "40P01"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def retry_on_conflict(action: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Call the action once more if a concurrent transaction has committed the same unique value."""

    @wraps(action)
    def retried(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return action(*args, **kwargs)
        except IntegrityError:
            return action(*args, **kwargs)

    return retried


def retry_on_deadlock(action: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """
    Call the action again, up to three times, if PostgreSQL ended its transaction in a deadlock.

    Around the transaction: PostgreSQL has rolled all of it back, and the others go on meanwhile.
    """

    @wraps(action)
    def retried(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for _ in range(_MAX_TRIES - 1):
            try:
                return action(*args, **kwargs)
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", "") != _DEADLOCK_DETECTED:
                    raise
                log.warning("deadlock", action=action.__name__)
        return action(*args, **kwargs)

    return retried
