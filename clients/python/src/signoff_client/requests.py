"""Requests and their items, as the server describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from signoff_client.errors import (
    AlreadyStarted,
    Denied,
    Expired,
    InDoubt,
    Lapsed,
    NotApproved,
    Withdrawn,
)


class _NoBoolean:
    """Raises where an object is used as a boolean: any object is true, also a denied request."""

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is neither true nor false, so this would go on after a denial: "
            "compare its `status`, or use `ask` or `start_call`."
        )


@dataclass(frozen=True)
class Item(_NoBoolean):
    """One approval (with `tool`), or one question."""

    id: str
    status: str  #: open, approved, denied, answered, withdrawn or expired
    tool: str | None
    args: Mapping[str, Any]  #: of an approved call: what to execute
    args_digest: str
    edited: bool
    payload: Any  #: the answer as it was sent
    reason: str
    decider: str  #: the name of the person, key or policy that decided, or empty
    decided_at: str | None
    state: str | None  #: of an approved call: waiting, started, succeeded, failed, in_doubt ...
    raw: Mapping[str, Any] = field(repr=False, default_factory=dict)


@dataclass(frozen=True)
class Request(_NoBoolean):
    """A set of items that was sent at once."""

    id: str
    status: str  #: open, decided, done, withdrawn, expired or lapsed
    url: str
    items: tuple[Item, ...]
    replayed: bool
    attached: bool
    raw: Mapping[str, Any] = field(repr=False, default_factory=dict)

    @property
    def item(self) -> Item:
        """The only item."""
        if len(self.items) != 1:
            raise ValueError(f"Request {self.id} has {len(self.items)} items: use `items`.")
        return self.items[0]

    @property
    def is_open(self) -> bool:
        return self.status == "open"

    def find(self, item_id: str | None) -> Item:
        """Return the item with this id, or the only one."""
        if item_id is None:
            return self.item
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(f"Request {self.id} has no item {item_id!r}")


def read_request(answer: Mapping[str, Any]) -> Request:
    """Return the request of an answer; members of newer servers are in `raw`."""
    return Request(
        id=answer["id"],
        status=answer["status"],
        url=answer.get("url") or "",
        items=tuple(map(_read_item, answer.get("items") or ())),
        replayed=bool(answer.get("replayed")),
        attached=bool(answer.get("attached")),
        raw=answer,
    )


def _read_item(item: Mapping[str, Any]) -> Item:
    return Item(
        id=item["id"],
        status=item["status"],
        tool=item.get("tool"),
        args=item.get("args") or {},
        args_digest=item.get("args_digest") or "",
        edited=bool(item.get("edited")),
        payload=item.get("payload"),
        reason=item.get("reason") or "",
        decider=(item.get("by") or {}).get("name") or "",
        decided_at=item.get("at"),
        state=item.get("state"),
        raw=item,
    )


def require_approval(request: Request, item: Item) -> None:
    """Raise the error that belongs to the item unless its call may start now."""
    if item.status == "approved" and item.state in (None, "waiting"):
        return
    raise _refusal(request, item)


def _refusal(request: Request, item: Item) -> NotApproved:
    subject = f"The call of {item.tool or item.id} in request {request.id}"
    by = f" by {item.decider}" if item.decider else ""
    reason = f": {item.reason}" if item.reason else ""
    errors: dict[str | None, tuple[type[NotApproved], str]] = {
        "lapsed": (Lapsed, "was approved, but not started in time."),
        "in_doubt": (InDoubt, "was started; nobody knows how it ended."),
        "not_run": (Withdrawn, "is not to run any more."),
        "approved": (AlreadyStarted, f"was started before: it is {item.state}."),
        "denied": (Denied, f"was denied{by}{reason}"),
        "withdrawn": (Withdrawn, f"was withdrawn{reason}"),
        "expired": (Expired, "expired before anybody decided."),
    }
    kind, text = (
        errors.get(item.state)
        or errors.get(item.status)
        or (NotApproved, f"is {item.status}, not approved.")
    )
    return kind(f"{subject} {text}", request, item)


def answer_of(request: Request, item: Item) -> Any:
    """Return the answer to a question: True or False, or what its schema describes."""
    if item.status == "answered":
        return item.payload
    if item.status == "approved":
        return True
    if item.status == "denied" and isinstance(item.payload, Mapping):
        return False
    raise _refusal(request, item)
