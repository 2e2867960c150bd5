"""Metrics of HTTP requests and WebSockets."""

import time
from collections.abc import Callable
from typing import Any, Final

from inbox.api.base.request_ids import Application, Receive, Send
from inbox.platform.monitoring import request_facts
from inbox.platform.monitoring.metrics import HTTP_SECONDS, SOCKET_CLOSES, SOCKETS_OPEN

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: Clients choose their own close codes; others than these are counted together.
_CODES: Final = frozenset({1000, 1001, 1005, 1006, 1008, 1009, 1011, 1012, 1013}) | frozenset(
    {4400, 4401, 4403, 4404, 4408, 4429}
)
_UNKNOWN_ROUTE: Final = "(unknown)"


class RequestMetrics:
    """
    Measures each request up to the start of its response, and counts WebSockets.

    `template_of` returns the template of the URLs that Django does not route, from a path.
    """

    def __init__(self, application: Application, template_of: Callable[[str], str]) -> None:
        self._application = application
        self._template_of = template_of

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._measure(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._count_socket(scope, receive, send)
        else:
            await self._application(scope, receive, send)

    async def _measure(self, scope: Any, receive: Receive, send: Send) -> None:
        started_at, facts = time.perf_counter(), request_facts.current()

        async def send_measured(message: Any) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in _METHODS else "other"
                route = (
                    (facts.route if facts else "")
                    or self._template_of(scope["path"])
                    or _UNKNOWN_ROUTE
                )
                HTTP_SECONDS.observe(
                    time.perf_counter() - started_at,
                    method,
                    route or _UNKNOWN_ROUTE,
                    str(message["status"]),
                )
            await send(message)

        await self._application(scope, receive, send_measured)

    async def _count_socket(self, scope: Any, receive: Receive, send: Send) -> None:
        codes: list[int] = []

        async def receive_counted() -> Any:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                codes.append(message.get("code") or 1005)
            return message

        async def send_counted(message: Any) -> None:
            if message["type"] == "websocket.close":
                codes.append(message.get("code") or 1000)
            await send(message)

        SOCKETS_OPEN.add()
        try:
            await self._application(scope, receive_counted, send_counted)
        finally:
            SOCKETS_OPEN.add(number=-1)
            code = codes[0] if codes else 1006
            SOCKET_CLOSES.add(str(code) if code in _CODES else "other")
