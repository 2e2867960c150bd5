"""Repeating an action that has lost a race for a unique value."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import IntegrityError

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
