"""The name of each request, in its answer, in the log, and for whoever writes it down."""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from uuid6 import uuid7

from inbox.rules.request_context import begin_request, is_request_id

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]

HEADER = b"x-request-id"


class RequestIds:
    """
    Gives each request and each WebSocket a name, the client's own where it may be one.

    Servers run each connection in a task of its own, so that a name is never anybody else's. A
    handshake is answered without it: Daphne sends no headers of ours there.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        name = _given(scope) or str(uuid7())
        begin_request(name)
        structlog.contextvars.bind_contextvars(request_id=name)

        async def send_named(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (HEADER, name.encode())]
                message = {**message, "headers": headers}
            await send(message)

        await self._application(scope, receive, send_named)


def _given(scope: Any) -> str:
    found = next((value for name, value in scope["headers"] if name.lower() == HEADER), b"")
    text: str = found.decode("latin-1")
    return text if is_request_id(text) else ""
