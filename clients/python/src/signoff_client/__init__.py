"""Ask people for approval in Signoff, wait for the answer, and run what was approved once."""

from signoff_client.calls import StartedCall
from signoff_client.client import Signoff
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
    SignoffError,
    Unreachable,
    Withdrawn,
)
from signoff_client.requests import Item, Request

__all__ = [
    "AlreadyStarted",
    "ApiError",
    "ConfigurationError",
    "Denied",
    "EditRefused",
    "Expired",
    "InDoubt",
    "Item",
    "Lapsed",
    "NotApproved",
    "Pending",
    "Request",
    "Signoff",
    "SignoffError",
    "StartedCall",
    "Unreachable",
    "Withdrawn",
]
