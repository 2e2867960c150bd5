"""Blocking HTTP with urllib: no redirects, no proxy to this machine, bounded answers."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from signoff_client.exchanges import (
    LARGEST_ANSWER,
    ConnectionLost,
    Pause,
    Reply,
    Result,
    Send,
    Steps,
)
from signoff_client.settings import LOOPBACK, Settings

USER_AGENT = "signoff-client/0.1.0 (Python)"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """urllib sends the key to wherever a redirect points."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    """Carries out steps; may be shared by threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        handlers: list[Any] = [_NoRedirect()]
        if urlsplit(settings.url).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def run(self, steps: Steps[Result]) -> Result:
        """Carry out the steps to their end and return their result."""
        reply: Reply | None = None
        lost: ConnectionLost | None = None
        while True:
            try:
                step = steps.throw(lost) if lost else steps.send(reply)
            except StopIteration as done:
                result: Result = done.value
                return result
            reply = lost = None
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                continue
            try:
                reply = self.send(step)
            except ConnectionLost as error:
                lost = error

    def send(self, send: Send) -> Reply:
        """Return the answer, whatever its status is."""
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked by settings
            self._settings.url + send.path,
            data=send.body,
            headers=request_headers(self._settings, send),
            method=send.method,
        )
        try:
            with self._open(request, send.timeout) as answer:
                body = answer.read(LARGEST_ANSWER + 1)
                reply = Reply(
                    answer.status,
                    {name.lower(): value for name, value in answer.headers.items()},
                    body,
                    self._settings.url,
                )
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise ConnectionLost(str(reason)) from error
        if len(body) > LARGEST_ANSWER:
            raise ConnectionLost("its answer is too large")
        return reply

    def _open(self, request: urllib.request.Request, timeout: float) -> Any:
        try:
            return self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            return error  # an answer like any other


def request_headers(settings: Settings, send: Send) -> dict[str, str]:
    """Return the headers of a request, with the key."""
    return {
        "Authorization": f"Bearer {settings.api_key}",
        "Accept": "application/json",
        "User-Agent": USER_AGENT,
        **({"Content-Type": "application/json"} if send.body is not None else {}),
        **send.headers,
    }
