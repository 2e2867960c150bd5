"""Limits that Daphne does not have: on what comes in, and on what a slow client leaves unread."""

import asyncio
from http import HTTPStatus
from typing import Any

import daphne.server
import structlog
from autobahn.websocket.types import ConnectionDeny
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer  # type: ignore[attr-defined]

log = structlog.get_logger(__name__)

MAX_BODY = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
#: Closing a connection with unread data would lose the answer, so a little more is read away.
MAX_READ = 16 * 1024 * 1024
#: Whoever reads nothing for so long, in seconds, has gone; a follower that is back goes on from its
#: cursor.
PATIENCE_SECONDS = 60.0
#: Frames of one socket that the application has not taken yet.
MAX_WAITING_FRAMES = 100


@implementer(IPushProducer)
class _Meter:
    """Knows whether the client reads."""

    def __init__(self) -> None:
        self._is_read = asyncio.Event()
        self._is_read.set()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._is_read.clear()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._is_read.set()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._is_read.set()

    async def until_read(self) -> None:
        await asyncio.wait_for(self._is_read.wait(), PATIENCE_SECONDS)


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
            self._measure()
        super().handle_reply(message)

    def finish(self) -> None:
        if self._meter is not None:
            self.unregisterProducer()
            self._meter = None
        super().finish()

    def _measure(self) -> None:
        if self._meter is None and not self.finished and self.channel is not None:
            self._meter = _Meter()
            self.registerProducer(self._meter, True)

    async def until_read(self) -> None:
        """Wait while the client does not read, so that its answer is not all in memory."""
        if self._meter is None:
            return
        try:
            await self._meter.until_read()
        except TimeoutError:
            log.warning("slow reader closed", seconds=PATIENCE_SECONDS)
            if self.channel is not None:
                self.channel.forceAbortClient()


class BoundedSocket(WebSocketProtocol):
    """A WebSocket that waits for a client that reads slowly, and takes only so many frames."""

    transport: Any
    _meter: _Meter | None = None
    _refusal = HTTPStatus.FORBIDDEN

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803 - autobahn's
        if self.application_queue.qsize() < MAX_WAITING_FRAMES:
            super().onMessage(payload, isBinary)
        else:
            log.warning("socket closed, too many frames", waiting=MAX_WAITING_FRAMES)
            self.transport.abortConnection()

    def handle_reply(self, message: dict[str, Any]) -> None:
        is_frame = message["type"] == "websocket.send"
        if is_frame and self.state not in (self.STATE_CONNECTING, self.STATE_OPEN):
            return  # it was closed while the application still had something to say
        if message["type"] == "websocket.close":
            self._stop_measuring()
            self._refusal = _status_of(message.get("code"))
        super().handle_reply(message)
        if is_frame:
            self._measure()

    def serverReject(self) -> None:  # noqa: N802 - Daphne's name
        """Refuse the handshake, with a status that says why; Daphne's own is always 403."""
        denied = ConnectionDeny(code=self._refusal.value, reason=self._refusal.phrase)
        self.handshake_deferred.errback(denied)
        del self.handshake_deferred
        self.server.protocol_disconnected(self)

    def onClose(self, wasClean: bool, code: int, reason: str) -> None:  # noqa: N802, N803
        self._stop_measuring()
        super().onClose(wasClean, code, reason)

    async def until_read(self) -> None:
        """Wait while the client does not read, and close what nobody reads."""
        if self._meter is None:
            return
        try:
            await self._meter.until_read()
        except TimeoutError:
            log.warning("socket closed, nobody reads", seconds=PATIENCE_SECONDS)
            self.transport.abortConnection()

    def _measure(self) -> None:
        if self._meter is None and self.state == self.STATE_OPEN:
            self._meter = _Meter()
            self.transport.unregisterProducer()  # the HTTP channel that this connection was
            self.transport.registerProducer(self._meter, True)

    def _stop_measuring(self) -> None:
        if self._meter is not None:
            self._meter.stopProducing()
            self._meter = None
            self.transport.unregisterProducer()


def _status_of(close_code: int | None) -> HTTPStatus:
    """Return the status of a handshake that is refused with this close code: 4404 is 404."""
    try:
        return HTTPStatus((close_code or 0) - 4000)
    except ValueError:
        return HTTPStatus.FORBIDDEN


class BoundedSocketFactory(WebSocketFactory):
    """Builds bounded sockets."""

    protocol = BoundedSocket


class BoundedServer(daphne.server.Server):
    """Daphne, which lets the application wait for those who read slowly."""

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Ignore a client's `Daphne-Root-Path`, under which there is no address."""
        return super().create_application(protocol, {**scope, "root_path": self.root_path})

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        await super().handle_reply(protocol, message)
        if isinstance(protocol, BoundedRequest | BoundedSocket):
            await protocol.until_read()


class BoundedFactory(HTTPFactory):
    """Builds bounded requests."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


def install() -> None:
    """Have Daphne use the limits; it names its factories in its module and nowhere else."""
    daphne.server.HTTPFactory = BoundedFactory  # type: ignore[attr-defined]
    daphne.server.WebSocketFactory = BoundedSocketFactory  # type: ignore[attr-defined]
