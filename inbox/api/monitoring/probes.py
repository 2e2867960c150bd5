"""
`/livez` and `/readyz`, as ASGI applications.

They are outside of Django's middleware: an orchestrator asks by the address of a container, which
is not among the allowed hosts, and without https.
"""

import hmac
import ipaddress
import json
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings

from inbox.api.base.request_ids import Receive, Send
from inbox.platform.db_executor import in_db_thread
from inbox.platform.monitoring.parts import PartStatus, liveness
from inbox.queries.monitoring.readiness import Readiness, needed_parts, readiness

_FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip"})


async def livez(scope: Any, receive: Receive, send: Send) -> None:
    """Answer from the event loop alone: 200 unless a part of this process is stuck."""
    stuck = liveness.stuck_parts()
    status = PartStatus.FAILING if stuck else PartStatus.OK
    await _respond(scope, send, 503 if stuck else 200, {"status": status})


async def readyz(scope: Any, receive: Receive, send: Send) -> None:
    """
    Answer 503 if a part fails that this process needs, and 200 otherwise.

    `?need=workers` makes further parts needed, `?need=all` all of them. Callers from this machine
    or with the token of the metrics get the states of all parts.
    """
    result = await in_db_thread(readiness)
    status, body = readiness_response(result, _query(scope), details=may_see_details(scope))
    await _respond(scope, send, status, body)


def readiness_response(
    result: Readiness, needs: list[str], *, details: bool, is_worker: bool = False
) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of `/readyz`; unknown names of parts are ignored."""
    needed = needed_parts(is_worker=is_worker) | {name for name in needs if name in result.parts}
    status = result.status(result.parts if "all" in needs else needed)
    body: dict[str, Any] = {"status": status}
    if details:
        body["parts"] = result.described()
    return 503 if status is PartStatus.FAILING else 200, body


def may_see_details(scope: Any) -> bool:
    """
    Return whether a caller is on this machine or has the token of the metrics.

    A request that a proxy passed on comes from the proxy's address, so it counts as remote.
    """
    headers = dict(scope["headers"])
    if has_token(headers.get(b"authorization", b"")):
        return True
    client = scope.get("client") or ("",)
    return not _FORWARDED & headers.keys() and _is_loopback(client[0])


def has_token(authorization: bytes) -> bool:
    """Return whether a header has SIGNOFF_METRICS_TOKEN as its bearer token."""
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    return bool(settings.METRICS_TOKEN) and hmac.compare_digest(authorization, expected)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _query(scope: Any) -> list[str]:
    parameters = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return [name for value in parameters.get("need", []) for name in value.split(",")]


async def _respond(scope: Any, send: Send, status: int, body: dict[str, Any]) -> None:
    is_allowed = scope["method"] in ("GET", "HEAD")
    content = json.dumps(body).encode() if is_allowed else b""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if not is_allowed:
        status, headers = 405, [*headers, (b"allow", b"GET, HEAD")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send(
        {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content}
    )
