"""
An ASGI application for views that stream, without Django's request cycle.

Each sync middleware costs an async view two thread switches, and streams need none of them. The
views authenticate their callers themselves.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from inbox.api.base.database_down import unavailable
from inbox.api.base.error_responses import json_response
from inbox.api.base.known_names import check_parameters
from inbox.api.base.request_ids import Receive, Send
from inbox.rules.errors import RequestRejected

View = Callable[..., Awaitable[HttpResponseBase]]


def security_headers() -> dict[str, str]:
    """Return the headers that the middleware of pages sends."""
    headers = {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "same-origin",
    }
    if settings.SECURE_HSTS_SECONDS:
        more = "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
        headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}{more}"
    return headers


class StreamingApp:
    """Serves one view, which has these query parameters, with the arguments of Channels' router."""

    def __init__(self, view: View, parameters: Collection[str]) -> None:
        self.view = view
        self.parameters = parameters

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if body is None:
            return
        request = ASGIRequest(scope, BytesIO(body))
        response_task = asyncio.create_task(self._answer(request, scope, send))
        disconnect_task = asyncio.create_task(until_disconnected(receive))
        await asyncio.wait({response_task, disconnect_task}, return_when=asyncio.FIRST_COMPLETED)
        for task in (disconnect_task, response_task):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await response_task

    async def _answer(self, request: HttpRequest, scope: Any, send: Send) -> None:
        try:
            check_parameters(request.GET, self.parameters)
            response = await self.view(request, **scope["url_route"]["kwargs"])
        except RequestRejected as refusal:
            response = json_response(refusal)
        except (OperationalError, InterfaceError) as error:
            response = unavailable(error)
        for name, value in security_headers().items():
            response.headers[name] = value
        headers = [
            (name.encode("ascii"), value.encode("latin-1"))
            for name, value in response.headers.items()
        ]
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": headers}
        )
        if isinstance(response, StreamingHttpResponse):
            async for part in response:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send({"type": "http.response.body", "body": response.content})  # type: ignore[attr-defined]


async def read_body(receive: Receive) -> bytes | None:
    """Return the body, whose size the server limits, or None if the client disconnected."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def until_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
