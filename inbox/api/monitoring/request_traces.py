"""A span for each HTTP request."""

from collections.abc import Callable
from typing import Any, Final

from inbox.api.base.request_ids import Application, Receive, Send
from inbox.platform.monitoring import request_facts
from inbox.platform.monitoring.traces import traces

_TRACEPARENT: Final = b"traceparent"
#: Requests of machines every few seconds, which nobody looks for.
_LEFT_OUT: Final = ("/livez", "/readyz", "/healthz", "/metrics", "/static/")


class RequestTraces:
    """Records each request, below the span that the client names in `traceparent`."""

    def __init__(self, application: Application, template_of: Callable[[str], str]) -> None:
        self._application = application
        self._template_of = template_of

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_LEFT_OUT):
            await self._application(scope, receive, send)
            return
        parent = next((value for name, value in scope["headers"] if name == _TRACEPARENT), b"")
        with traces.request_span(scope["method"], parent.decode("latin-1")) as span:
            if span is None:
                await self._application(scope, receive, send)
                return

            async def send_recorded(message: Any) -> None:
                if message["type"] == "http.response.start":
                    self._describe(span, scope, message["status"])
                await send(message)

            await self._application(scope, receive, send_recorded)

    def _describe(self, span: Any, scope: Any, status: int) -> None:
        facts = request_facts.current()
        route = (facts.route if facts else "") or self._template_of(scope["path"])
        span.update_name(f"{scope['method']} {route or '(unknown)'}")
        span.set_attributes({"http.route": route, "http.response.status_code": status})
