"""Limits that Daphne does not have: on what comes in, and on what a slow client leaves unread."""

from typing import Any

import daphne.server
import structlog
from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer  # type: ignore[attr-defined]

log = structlog.get_logger(__name__)

MAX_BODY = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
#: Closing a connection with unread data would lose the answer, so a little more is read away.
MAX_READ = 16 * 1024 * 1024
#: A follower that leaves so much unread is closed; it goes on from its cursor when it is back.
MAX_UNREAD = 4 * 1024 * 1024


@implementer(IPushProducer)
class _Meter:
    """Counts what is written while the client does not read."""

    def __init__(self) -> None:
        self._paused = False
        self.unread = 0

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._paused = True

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._paused = False
        self.unread = 0

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._paused = False

    def count(self, size: int) -> None:
        if self._paused:
            self.unread += size


class BoundedRequest(WebRequest):
    """A request that ends early when it is too large, or when nobody reads its answer."""

    _received = 0
    _meter: _Meter | None = None

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Store no more than a request may have; read on a little, so that the answer arrives."""
        self._received += len(data)
        if self._received <= MAX_BODY:
            super().handleContentChunk(data)
        elif self._received > MAX_READ:
            self.channel.forceAbortClient()

    def process(self) -> Any:
        if self._received <= MAX_BODY:
            return super().process()
        self.path = self.path or b"/"
        return self.basic_error(413, b"Content Too Large", "A request may have 2 MiB.")

    def handle_reply(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body" and message.get("more_body"):
            self._measure(len(message.get("body", b"")))
        super().handle_reply(message)

    def finish(self) -> None:
        if self._meter is not None:
            self.unregisterProducer()
            self._meter = None
        super().finish()

    def _measure(self, size: int) -> None:
        if self.finished or self.channel is None:
            return
        if self._meter is None:
            self._meter = _Meter()
            self.registerProducer(self._meter, True)
        self._meter.count(size)
        if self._meter.unread > MAX_UNREAD:
            log.warning("slow follower closed", unread=self._meter.unread)
            self.channel.forceAbortClient()


class BoundedFactory(HTTPFactory):
    """Builds bounded requests."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


def install() -> None:
    """Have Daphne use the limits; it names its factory in its module and nowhere else."""
    daphne.server.HTTPFactory = BoundedFactory  # type: ignore[attr-defined]
