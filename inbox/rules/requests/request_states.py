"""The states of requests of external agents, and those of their items and calls."""

from enum import StrEnum


class RequestStatus(StrEnum):
    OPEN = "open"  #: an item waits for an answer, or an answer may still be withdrawn
    DECIDED = "decided"  #: all items are answered, and approved calls are not finished
    DONE = "done"  #: nothing is left to do
    WITHDRAWN = "withdrawn"  #: by the program; nothing of it is executed
    EXPIRED = "expired"  #: nobody has answered any item in time
    LAPSED = "lapsed"  #: no approved call was started in time


class ItemStatus(StrEnum):
    OPEN = "open"
    APPROVED = "approved"  #: a call was approved, or a question answered with yes
    DENIED = "denied"
    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class CallState(StrEnum):
    """The execution of an approved call, as programs and people see it."""

    WAITING = "waiting"  #: may be started
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"  #: nobody knows whether it took effect; a person is asked
    LAPSED = "lapsed"  #: was not started in time, or its approval was revoked
    HANDED_OVER = "handed_over"  #: started by a program that reports nothing
    NOT_RUN = "not_run"  #: the request was withdrawn, or a person stopped it after a doubt


class CallEffect(StrEnum):
    ONCE = "once"  #: must not happen twice
    IDEMPOTENT = "idempotent"  #: may be repeated with the same idempotency key


class ReportedOutcome(StrEnum):
    """The outcome that a program reports of a call; the values are stored."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"  #: it has had no effect
    UNKNOWN = "unknown"
    HANDED_OVER = "handed_over"  #: stored for calls without a report
