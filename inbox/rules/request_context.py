"""The request that is being served, by the name that its client, the log and the trail share."""

import re
from contextvars import ContextVar

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of the request that is being served, also in its database threads; "" outside one."""
    return _current.get()


def begin_request(request_id: str) -> None:
    """From here on this task, and the threads that work for it, serve the request of this id."""
    _current.set(request_id)


def is_request_id(text: str) -> bool:
    """Whether a request may bear this name, which is written to logs as it is."""
    return _NAME.fullmatch(text) is not None
