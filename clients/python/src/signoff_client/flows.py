"""The operations on requests, as steps without I/O: blocking and async clients run them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

from signoff_client.errors import (
    AlreadyStarted,
    ApiError,
    InDoubt,
    Lapsed,
    NotApproved,
    Pending,
)
from signoff_client.exchanges import PATIENCE_SECONDS, Pause, Steps, exchange
from signoff_client.requests import Item, Request, read_request

#: How long the server holds one GET; below the idle limits of common proxies.
HOLD_SECONDS: Final = 25
#: How long a wait survives a server that is away.
OUTAGE_SECONDS: Final = 900
_ERRORS: Final[dict[str, type[NotApproved]]] = {
    "CALL_STARTED": AlreadyStarted,
    "ALREADY_REPORTED": AlreadyStarted,
    "APPROVAL_LAPSED": Lapsed,
    "IN_DOUBT": InDoubt,
    "NOT_APPROVED": NotApproved,
    "ARGUMENTS_DIFFER": NotApproved,
    "DECISION_NOT_VERIFIED": NotApproved,
}


def create(
    members: Mapping[str, Any],
    *,
    key: str = "",
    wait_seconds: float = 0,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Steps[Request]:
    """
    Send a request once, however often it has to be repeated.

    `key` is the program's own idempotency key: sent again, even by another process, it returns the
    same request. Without one each call makes a request of its own.
    """
    hold = int(min(wait_seconds, HOLD_SECONDS))
    answer = yield from exchange(
        "POST",
        "/api/requests" + (f"?wait={hold}" if hold else ""),
        members,
        headers={"Idempotency-Key": key or str(uuid4())},
        hold_seconds=hold,
        patience_seconds=patience_seconds,
    )
    return read_request(answer)


def get(request_id: str, *, hold_seconds: int = 0, patience_seconds: float = 30) -> Steps[Request]:
    """Read a request; the server may hold the answer until it is decided."""
    answer = yield from exchange(
        "GET",
        f"/api/requests/{quote(request_id, safe='')}?{urlencode({'wait': hold_seconds})}",
        hold_seconds=hold_seconds,
        patience_seconds=patience_seconds,
    )
    return read_request(answer)


def get_run(run_id: str, *, patience_seconds: float = PATIENCE_SECONDS) -> Steps[Any]:
    path = f"/api/runs/{quote(run_id, safe='')}"
    return (yield from exchange("GET", path, patience_seconds=patience_seconds))


def list_requests(
    filters: Mapping[str, str], *, patience_seconds: float = PATIENCE_SECONDS
) -> Steps[list[Request]]:
    """Read the newest requests that match the filters."""
    path = f"/api/requests?{urlencode(filters)}"
    answer = yield from exchange("GET", path, patience_seconds=patience_seconds)
    return [read_request(row) for row in answer["results"]]


def wait(request_id: str, seconds: float | None) -> Steps[Request]:
    """
    Wait until a request is not open any more, for ever if `seconds` is None.

    A server that is away meanwhile does no harm; the wait goes on when it is back.

    Raises:
        Pending: it is still open after `seconds`.
        Unreachable: the server was away at the end, or for more than OUTAGE_SECONDS.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        left = HOLD_SECONDS if deadline is None else deadline - time.monotonic()
        hold = max(0, int(min(left, HOLD_SECONDS)))
        patience = OUTAGE_SECONDS if deadline is None else min(max(left, 5), OUTAGE_SECONDS)
        sent_at = time.monotonic()
        request = yield from get(request_id, hold_seconds=hold, patience_seconds=patience)
        if not request.is_open:
            return request
        if deadline is not None and time.monotonic() >= deadline - 0.05:
            raise Pending(request)
        if time.monotonic() - sent_at < 0.5:  # the server does not hold: do not spin
            left = 1.0 if deadline is None else deadline - time.monotonic()
            yield Pause(max(0.05, min(1.0, left)))


def withdraw(request_id: str, reason: str) -> Steps[Request]:
    """Close what is open of a request; raise ApiError if it has been decided."""
    path = f"/api/requests/{quote(request_id, safe='')}/withdraw"
    return read_request((yield from exchange("POST", path, {"reason": reason} if reason else {})))


def start(
    request: Request,
    item: Item,
    attempt: str,
    *,
    lease_seconds: int | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Steps[Mapping[str, Any]]:
    """
    Use up the approval of a call; the same attempt again prolongs its lease.

    Raises:
        AlreadyStarted, Lapsed, InDoubt, NotApproved: the call must not run.
    """
    body: dict[str, Any] = {"attempt": attempt, "args_digest": item.args_digest}
    if lease_seconds is not None:
        body["lease_seconds"] = lease_seconds
    try:
        answer = yield from exchange(
            "POST",
            _item_path(request.id, item.id, "start"),
            body,
            patience_seconds=patience_seconds,
        )
    except ApiError as error:
        if kind := _ERRORS.get(error.code):
            raise kind(str(error), request, item) from error
        raise
    started: Mapping[str, Any] = answer
    return started


def report(
    request_id: str,
    item_id: str,
    attempt: str,
    outcome: str,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    **more: Any,
) -> Steps[Mapping[str, Any]]:
    """
    Report how a call ended: "succeeded", "failed" (it had no effect) or "unknown".

    A result that the server cannot store is left out: the outcome matters more.
    """
    path = _item_path(request_id, item_id, "report")
    body = {"attempt": attempt, "outcome": outcome, **more}
    try:
        answer = yield from exchange("POST", path, body, patience_seconds=patience_seconds)
    except (ApiError, TypeError, ValueError) as error:
        refused = not isinstance(error, ApiError) or error.status in (400, 413, 422)
        if not refused or not more.keys() & {"result", "executed_args"}:
            raise
        note = f"The result was not stored: {error}"[:1000]
        body = {"attempt": attempt, "outcome": outcome, "error": note}
        answer = yield from exchange("POST", path, body, patience_seconds=patience_seconds)
    reported: Mapping[str, Any] = answer
    return reported


def _item_path(request_id: str, item_id: str, action: str) -> str:
    return f"/api/requests/{quote(request_id, safe='')}/items/{quote(item_id, safe='')}/{action}"


def request_members(
    defaults: Mapping[str, Any], members: Mapping[str, Any], items: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the body of a request; items and shorthand together are the server's error."""
    body = {**defaults, **members}
    return {**body, "items": [dict(item) for item in items]} if items else body
