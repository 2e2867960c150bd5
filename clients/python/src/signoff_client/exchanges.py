"""HTTP exchanges without I/O: when to retry, how long to pause, and what an answer means."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar
from urllib.parse import urljoin

from signoff_client.errors import ApiError, Unreachable

#: How long one exchange is retried.
PATIENCE_SECONDS: Final = 30.0
TIMEOUT_SECONDS: Final = 15.0
LARGEST_ANSWER: Final = 16 * 2**20
_RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 10.0


class ConnectionLost(Exception):
    """No answer came, or only a part of it. It is unknown whether the server did the work."""


@dataclass(frozen=True)
class Send:
    """Send this and give the answer back, or raise ConnectionLost."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = TIMEOUT_SECONDS


@dataclass(frozen=True)
class Reply:
    """An answer; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    origin: str = ""  #: the address of the server


@dataclass(frozen=True)
class Pause:
    """Do nothing for a while."""

    seconds: float


Result = TypeVar("Result")
#: A conversation with the server: a client, blocking or not, carries out one step after the other.
Steps = Generator[Send | Pause, Reply | None, Result]


def exchange(
    method: str,
    path: str,
    body: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
    hold_seconds: float = 0,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Steps[Any]:
    """
    Return the JSON of the answer; retry what may succeed later. It must be safe to repeat.

    `hold_seconds` is how long the server may hold the answer back by itself.

    Raises:
        ApiError: the server refused it.
        Unreachable: there was no usable answer within `patience_seconds`.
    """
    send = Send(
        method,
        path,
        None if body is None else encode(body),
        headers or {},
        timeout=max(min(TIMEOUT_SECONDS, patience_seconds), 1) + hold_seconds,
    )
    deadline = time.monotonic() + patience_seconds
    attempt = 0
    while True:
        pause = pause_seconds(attempt)
        try:
            reply = yield send
            assert reply is not None  # noqa: S101 - the driver answers every Send
            if reply.status not in _RETRIED:
                return read_reply(reply)
            problem = f"it answers {reply.status}"
            pause = retry_after_seconds(reply.headers) or pause
        except ConnectionLost as lost:
            problem = str(lost)
        if time.monotonic() + pause > deadline:
            raise Unreachable(f"Signoff gave no usable answer to {method} {path}: {problem}")
        yield Pause(pause)
        attempt += 1


def encode(body: Any) -> bytes:
    """Return JSON; raise TypeError or ValueError for what it does not have, as NaN."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def pause_seconds(attempt: int) -> float:
    """Return a random pause, longer from attempt to attempt, so that clients do not march."""
    longest = min(_FIRST_PAUSE * 2.0 ** min(attempt, 16), _LONGEST_PAUSE)
    return random.uniform(longest / 2, longest)  # noqa: S311


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """
    Return the pause that the server wants, or None.

    It has up to a tenth more, so that not all clients come back at the same moment.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        seconds = float(value[:9])
    else:
        try:
            at = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        at = at if at.tzinfo else at.replace(tzinfo=timezone.utc)
        seconds = max((at - datetime.now(timezone.utc)).total_seconds(), 0)
    return seconds + random.uniform(0, seconds / 10)  # noqa: S311


def read_reply(reply: Reply) -> Any:
    """
    Return the JSON of an answer.

    Raises:
        ConnectionLost: it is not JSON, as from a proxy or a sign-in page in between.
        ApiError: the server, or something before it, refused the request.
    """
    if 300 <= reply.status < 400:
        target = reply.headers.get("location", "another address")
        detail = f"the server redirects to {target}. Set SIGNOFF_URL to Signoff's own address."
        raise ApiError(reply.status, "REDIRECTED", detail)
    try:
        answer = json.loads(reply.body)
    except ValueError as error:
        if 400 <= reply.status < 500:
            detail = f"the answer {reply.status} has no JSON; is SIGNOFF_URL Signoff's address?"
            raise ApiError(reply.status, "NO_PROBLEM", detail) from error
        raise ConnectionLost(f"its answer {reply.status} is not JSON") from error
    if reply.status < 300:
        return _with_full_urls(answer, reply.origin)
    problem = answer if isinstance(answer, dict) else {}
    code = str(problem.get("code", "REFUSED"))
    raise ApiError(reply.status, code, str(problem.get("detail", f"status {reply.status}")))


def _with_full_urls(answer: Any, origin: str) -> Any:
    """Return an answer with full addresses: a server may not know its own."""
    rows = answer.get("results", [answer]) if isinstance(answer, dict) else []
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("url"), str):
            row["url"] = urljoin(f"{origin}/", row["url"])
    return answer
