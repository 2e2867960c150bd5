"""Errors of the client: each outcome of a request that is not an approval has its own class."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from signoff_client.requests import Item, Request


class SignoffError(Exception):
    """Anything that this package raises on purpose."""


class ConfigurationError(SignoffError):
    """The address or the key of Signoff is missing, or must not be used as it is."""


class Unreachable(SignoffError):
    """Signoff gave no usable answer, in spite of retries."""


class ApiError(SignoffError):
    """Signoff refused what was sent; `code` is for programs, `detail` for people."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail

    @property
    def is_final(self) -> bool:
        """True if the same again is refused again: only a change of what was sent helps."""
        return self.status in (400, 413, 422)


class Pending(SignoffError):
    """The time to wait is over; the request is still open."""

    def __init__(self, request: Request) -> None:
        super().__init__(
            f"Nobody has decided request {request.id} yet: {request.url}. "
            "Wait for the same id to continue."
        )
        self.request = request


class NotApproved(SignoffError):
    """The call must not run; `request` and `item` say why."""

    def __init__(self, message: str, request: Request, item: Item) -> None:
        super().__init__(message)
        self.request = request
        self.item = item


class Denied(NotApproved):
    """A person, a key or a policy said no; `reason` is the text of the denial, if there is one."""

    @property
    def reason(self) -> str:
        return self.item.reason


class Expired(NotApproved):
    """The request expired before anybody decided."""


class Withdrawn(NotApproved):
    """The request was withdrawn before it was decided."""


class Lapsed(NotApproved):
    """The approval was not used in time, or was revoked; ask again."""


class InDoubt(NotApproved):
    """The call was started and nobody knows how it ended; Signoff asks a person about it."""


class AlreadyStarted(NotApproved):
    """Another attempt has this approval: it is running, or it has ended."""


class EditRefused(NotApproved):
    """A reviewer changed the arguments to ones that cannot be used; the call did not run."""
