"""RateLimit headers of responses (draft-ietf-httpapi-ratelimit-headers)."""

from typing import Any

from inbox.api.base.request_ids import Application, Receive, Send
from inbox.platform import rate_limits


class RateHeaders:
    """
    Counts each request and each WebSocket as one call.

    Responses name the policy that counted the request, and the remaining calls.
    """

    def __init__(self, application: Application) -> None:
        rate_limits.check_settings()
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        call = rate_limits.begin_request()

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start" and call.status:
                headers = [*message.get("headers", ()), *_headers(call.status)]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._application(scope, receive, send_with_headers)
        finally:
            call.end()


def _headers(status: rate_limits.RateLimitStatus) -> list[tuple[bytes, bytes]]:
    policy = f'"{status.policy}";q={status.quota};w={status.window_seconds}'
    left = f'"{status.policy}";r={status.left};t={status.next_seconds}'
    return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", left.encode())]
