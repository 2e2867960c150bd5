"""
Daphne with bounds: body size, waiting frames, and backpressure for slow clients.

Why: Daphne stores bodies of any size, queues any number of frames, and buffers all that a client
does not read (https://github.com/django/daphne/issues/170). It refuses every WebSocket handshake
with 403.
Remove when: Daphne has these bounds, or another ASGI server with them is used.
"""

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
#: Closing a connection with unread data loses the response, so this much is read and dropped.
MAX_READ = 16 * 1024 * 1024
#: Close a connection whose send buffer is not read to its end for so long. The buffer holds a chunk
#: of the feed (256 KiB), so a client that reads steadily but below 4.4 KB/s is closed as well.
READ_TIMEOUT_SECONDS = 60.0
#: Frames of one socket that the application has not received yet.
MAX_WAITING_FRAMES = 100


@implementer(IPushProducer)
class _Backpressure:
    """Tracks whether the send buffers of a connection are full."""

    def __init__(self) -> None:
        self._is_writable = asyncio.Event()
        self._is_writable.set()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._is_writable.clear()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._is_writable.set()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._is_writable.set()

    async def wait_until_writable(self) -> None:
        await asyncio.wait_for(self._is_writable.wait(), READ_TIMEOUT_SECONDS)


class BoundedRequest(WebRequest):
    """A request with a bounded body, whose response waits for slow clients."""

    _received = 0
    _backpressure: _Backpressure | None = None

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Store up to MAX_BODY; read and drop up to MAX_READ, so that the response arrives."""
        self._received += len(data)
        if self._received <= MAX_BODY:
            super().handleContentChunk(data)
        elif self._received > MAX_READ:
            self.channel.forceAbortClient()

    def process(self) -> Any:
        if self._received <= MAX_BODY:
            return super().process()
        self.path = self.path or b"/"
        return self.basic_error(413, b"Content Too Large", "The body is larger than 2 MiB.")

    def handle_reply(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body" and message.get("more_body"):
            self._watch_buffers()
        super().handle_reply(message)

    def finish(self) -> None:
        if self._backpressure is not None:
            self.unregisterProducer()
            self._backpressure = None
        super().finish()

    def _watch_buffers(self) -> None:
        if self._backpressure is None and not self.finished and self.channel is not None:
            self._backpressure = _Backpressure()
            self.registerProducer(self._backpressure, True)

    async def wait_until_writable(self) -> None:
        """Wait while the buffers are full, so that the response is not all in memory."""
        if self._backpressure is None:
            return
        try:
            await self._backpressure.wait_until_writable()
        except TimeoutError:
            log.warning("slow reader closed", seconds=READ_TIMEOUT_SECONDS)
            if self.channel is not None:
                self.channel.forceAbortClient()


class BoundedSocket(WebSocketProtocol):
    """A WebSocket with bounded incoming frames that waits for slow clients."""

    transport: Any
    _backpressure: _Backpressure | None = None
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
            return  # closed while the application was still sending
        if message["type"] == "websocket.close":
            self._stop_watching()
            self._refusal = _status_of(message.get("code"))
        super().handle_reply(message)
        if is_frame:
            self._watch_buffers()

    def serverReject(self) -> None:  # noqa: N802 - Daphne's name
        """Refuse the handshake with the status of the close code; Daphne always sends 403."""
        denied = ConnectionDeny(code=self._refusal.value, reason=self._refusal.phrase)
        self.handshake_deferred.errback(denied)
        del self.handshake_deferred
        self.server.protocol_disconnected(self)

    def onClose(self, wasClean: bool, code: int, reason: str) -> None:  # noqa: N802, N803
        self._stop_watching()
        super().onClose(wasClean, code, reason)

    async def wait_until_writable(self) -> None:
        """Wait while the buffers are full, and close the socket after a timeout."""
        if self._backpressure is None:
            return
        try:
            await self._backpressure.wait_until_writable()
        except TimeoutError:
            log.warning("slow reader closed", seconds=READ_TIMEOUT_SECONDS)
            self.transport.abortConnection()

    def _watch_buffers(self) -> None:
        if self._backpressure is None and self.state == self.STATE_OPEN:
            self._backpressure = _Backpressure()
            self.transport.unregisterProducer()  # the HTTP channel of the handshake
            self.transport.registerProducer(self._backpressure, True)

    def _stop_watching(self) -> None:
        if self._backpressure is not None:
            self._backpressure.stopProducing()
            self._backpressure = None
            self.transport.unregisterProducer()


def _status_of(close_code: int | None) -> HTTPStatus:
    """Return the status of a handshake that is refused with this close code: 4404 is 404."""
    try:
        return HTTPStatus((close_code or 0) - 4000)
    except ValueError:
        return HTTPStatus.FORBIDDEN


class BoundedSocketFactory(WebSocketFactory):
    protocol = BoundedSocket


class BoundedServer(daphne.server.Server):
    """Daphne's server, which lets the application wait for slow clients."""

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Ignore the header `Daphne-Root-Path`: clients must not choose the root path."""
        return super().create_application(protocol, {**scope, "root_path": self.root_path})

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        await super().handle_reply(protocol, message)
        if isinstance(protocol, BoundedRequest | BoundedSocket):
            await protocol.wait_until_writable()


class BoundedFactory(HTTPFactory):
    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


def install() -> None:
    """Replace Daphne's factories, which its module names and no setting does."""
    daphne.server.HTTPFactory = BoundedFactory  # type: ignore[attr-defined]
    daphne.server.WebSocketFactory = BoundedSocketFactory  # type: ignore[attr-defined]
