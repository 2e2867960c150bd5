"""The id of the current request, shared by the client, the log and the audit trail."""

import re
from contextvars import ContextVar

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """Return the id of the current request, also in its database threads; "" outside of one."""
    return _current.get()


def begin_request(request_id: str) -> None:
    """Set the id of the current request for this task and its database threads."""
    _current.set(request_id)


def is_request_id(text: str) -> bool:
    """Return whether a client's request id is safe to log as it is."""
    return _NAME.fullmatch(text) is not None
