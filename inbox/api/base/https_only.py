"""Programs that send their keys over http are refused, so that somebody notices."""

from typing import Any, Final

import structlog
from django.conf import settings

from inbox.api.base.error_responses import json_response
from inbox.api.base.request_ids import Application, Receive, Send
from inbox.rules.errors import HttpsRequired

log = structlog.get_logger(__name__)

#: The addresses of programs and sockets; the other ones are pages, which redirect to https.
_PREFIXES: Final = ("/api/", "/agui/", "/mcp/", "/scim/", "/ws/")
_CLOSE_FORBIDDEN: Final = 4403


class HttpsOnly:
    """
    Refuses requests over http to the addresses of programs, with SIGNOFF_HTTPS.

    A redirect would do its work: the program would go on sending its key in the clear first.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        is_of_programs = f"{scope.get('path', '')}/".startswith(_PREFIXES)
        if not (settings.SESSION_COOKIE_SECURE and is_of_programs) or _is_https(scope):
            await self._application(scope, receive, send)
            return
        log.warning("request over http refused", path=scope["path"][:200])
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _CLOSE_FORBIDDEN})
            return
        response = json_response(
            HttpsRequired("Use https://. Replace the key: it was sent without encryption.")
        )
        headers = [(name.encode(), value.encode()) for name, value in response.items()]
        status = response.status_code
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": response.content})


def _is_https(scope: Any) -> bool:
    """Return whether the client used TLS, as the proxy says; as SECURE_PROXY_SSL_HEADER does."""
    headers = dict(scope["headers"])
    scheme = headers.get(b"x-forwarded-proto", scope.get("scheme", "http").encode())
    return scheme.split(b",")[0].strip() in (b"https", b"wss")
