"""
`/livez`, `/readyz` and `/metrics`, as ASGI applications.

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
from inbox.api.runs.streaming_app import security_headers
from inbox.platform.db_executor import in_db_thread
from inbox.platform.monitoring.parts import PartStatus, liveness
from inbox.queries.monitoring.exposition import CONTENT_TYPE, metrics_page
from inbox.queries.monitoring.readiness import needed_names, readiness, response_of

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
    status, body = response_of(result, _query(scope), details=may_see_details(scope))
    await _respond(scope, send, status, body)


async def metrics_of_site(scope: Any, receive: Receive, send: Send) -> None:
    """Answer with the metrics to callers with SIGNOFF_METRICS_TOKEN; without it there are none."""
    if not settings.METRICS_TOKEN:
        await _respond(scope, send, 404, {"detail": "SIGNOFF_METRICS_TOKEN is not set."})
    elif not has_token(dict(scope["headers"]).get(b"authorization", b"")):
        await _respond(scope, send, 401, {"detail": "Send SIGNOFF_METRICS_TOKEN as bearer token."})
    else:
        page = await in_db_thread(metrics_page)
        await _respond(scope, send, 200, page, CONTENT_TYPE)


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
    return needed_names(parameters.get("need", []))


async def _respond(
    scope: Any,
    send: Send,
    status: int,
    body: dict[str, Any] | bytes,
    content_type: str = "application/json",
) -> None:
    is_allowed = scope["method"] in ("GET", "HEAD")
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    content = content if is_allowed else b""
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-store"),
        *((name.lower().encode(), value.encode()) for name, value in security_headers().items()),
    ]
    if not is_allowed:
        status, headers = 405, [*headers, (b"allow", b"GET, HEAD")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send(
        {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content}
    )
