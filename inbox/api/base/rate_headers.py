"""The limit of calls in every answer to a caller (draft-ietf-httpapi-ratelimit-headers)."""

from typing import Any

from inbox.api.base.request_ids import Application, Receive, Send
from inbox.platform import rate_limits


class RateHeaders:
    """
    Counts each request and each socket as one call, and ends it.

    An answer names the policy that its request was counted under, and what is left of it.
    """

    def __init__(self, application: Application) -> None:
        rate_limits.check_settings()
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        call = rate_limits.begin_request()

        async def send_told(message: Any) -> None:
            if message["type"] == "http.response.start" and call.status:
                headers = [*message.get("headers", ()), *_told(call.status)]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._application(scope, receive, send_told)
        finally:
            call.end()


def _told(standing: rate_limits.RateLimitStatus) -> list[tuple[bytes, bytes]]:
    policy = f'"{standing.policy}";q={standing.quota};w={standing.window_seconds}'
    left = f'"{standing.policy}";r={standing.left};t={standing.next_seconds}'
    return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", left.encode())]
