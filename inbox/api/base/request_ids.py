"""Request ids in responses and in the log."""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from uuid6 import uuid7

from inbox.platform.monitoring import request_facts
from inbox.rules.request_context import begin_request, is_request_id

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]

HEADER = b"x-request-id"


class RequestIds:
    """
    Gives each request and each WebSocket an id: the client's X-Request-ID if it is valid.

    Servers run each connection in its own task, so ids do not mix. The response to a WebSocket
    handshake has no id, because Daphne sends none of our headers there.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        request_id = _client_id(scope) or str(uuid7())
        begin_request(request_id)
        request_facts.begin(scope)
        structlog.contextvars.bind_contextvars(request_id=request_id)

        async def send_with_id(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (HEADER, request_id.encode())]
                message = {**message, "headers": headers}
            await send(message)

        await self._application(scope, receive, send_with_id)


def _client_id(scope: Any) -> str:
    header = next((value for name, value in scope["headers"] if name.lower() == HEADER), b"")
    text: str = header.decode("latin-1")
    return text if is_request_id(text) else ""
