"""
Daphne with bounds: body size, waiting frames, and backpressure for slow clients.

Why: Daphne stores bodies of any size and passes them on in memory, queues any number of frames, and
buffers all that a client does not read (https://github.com/django/daphne/issues/170). It refuses
every WebSocket handshake with 403.
Remove when: Daphne has these bounds, or another ASGI server with them is used.
"""

import asyncio
import json
import re
import shutil
from http import HTTPStatus
from io import BytesIO
from typing import Any

import daphne.server
import structlog
from autobahn.websocket.types import ConnectionDeny
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer  # type: ignore[attr-defined]

from inbox.platform.files.received_files import BODY_FILE, new_temporary_file

log = structlog.get_logger(__name__)

MAX_BODY = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
#: Addresses that take files, in the encoding of forms. Their bodies are kept on the disk.
_UPLOADS = re.compile(rb"/(api/files|interrupts/[0-9a-f-]{36}/(decide|files))")
_UPLOAD_TYPE = b"multipart/form-data"
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
    _limit = MAX_BODY
    _backpressure: _Backpressure | None = None
    #: The status of a refused upload, whose response was sent before its body was read.
    _refusal: HTTPStatus | None = None
    is_upload = False
    _body: Any = None

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Choose where the body is kept, before any of it arrives."""
        super().gotLength(length)
        types = self.requestHeaders.getRawHeaders(b"content-type", [b""])
        channel: Any = self.channel
        path = channel._path.partition(b"?")[0]  # noqa: SLF001 - not public before the body
        if not (types[0].lower().startswith(_UPLOAD_TYPE) and _UPLOADS.fullmatch(path)):
            return
        # The fields of the form come in addition to the files.
        self._limit = settings.REQUEST_FILE_BYTES + MAX_BODY
        self.is_upload = True
        if length is not None and length > self._limit:
            self._refuse_upload(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif length is None or length > MAX_BODY:
            self._keep_on_disk(length or 0)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Store up to the limit; read and drop more, so that the response arrives."""
        self._received += len(data)
        if self._refusal is None and self._received <= self._limit:
            try:
                super().handleContentChunk(data)
            except OSError:
                self._refuse_upload(HTTPStatus.INSUFFICIENT_STORAGE)
        elif self.is_upload and self._refusal is None:
            self._refuse_upload(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif self._received > (0 if self._refusal else self._limit - MAX_BODY) + MAX_READ:
            self.channel.forceAbortClient()

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802
        """Hide the body of a form from Twisted, which would parse it in memory for itself."""
        self._body, self.content = self.content, BytesIO()
        super().requestReceived(command, path, version)

    def process(self) -> Any:
        self.content = self._body
        if self._refusal is not None:
            return self.channel.loseConnection()
        if self._received <= self._limit:
            return super().process()
        self.path = self.path or b"/"
        return self.basic_error(413, b"Content Too Large", "The body is larger than 2 MiB.")

    def take_body(self) -> Any:
        """Return the file with the body of an upload, which is no longer read from here."""
        body: Any = self.content
        self.content = BytesIO()
        body.seek(0)
        return body

    def _keep_on_disk(self, length: int) -> None:
        try:
            free = shutil.disk_usage(settings.DATA_DIR).free
            if free - 2 * length < settings.FREE_DISK_BYTES:
                self._refuse_upload(HTTPStatus.INSUFFICIENT_STORAGE)
                return
            self.content = new_temporary_file()
        except OSError:
            self.content = BytesIO()
            self._refuse_upload(HTTPStatus.INSUFFICIENT_STORAGE)

    def _refuse_upload(self, status: HTTPStatus) -> None:
        """Respond before the body has arrived: clients stop sending once they read it."""
        self._refusal = status
        self.content = BytesIO()
        is_full = status is HTTPStatus.INSUFFICIENT_STORAGE
        limit = settings.REQUEST_FILE_BYTES // settings.MIB
        code = "STORAGE_FULL" if is_full else "FILE_TOO_LARGE"
        text = (
            "The storage for files is full or away. Try again later."
            if is_full
            else f"All files of a request have up to {limit} MiB."
        )
        problem = {"title": status.phrase, "status": status.value, "detail": text, "code": code}
        body = json.dumps(problem).encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/problem+json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        transport: Any = self.channel.transport
        transport.write(head.encode() + body)

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
        """
        Ignore the header `Daphne-Root-Path`: clients must not choose the root path.

        Hand over the file with the body of an upload: Daphne would read it into memory.
        """
        if isinstance(protocol, BoundedRequest) and protocol.is_upload:
            scope[BODY_FILE] = protocol.take_body()
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

    def log(self, request: Any) -> None:
        """Write no line: Daphne discards Twisted's access log, which costs time."""


def install() -> None:
    """Replace Daphne's factories, which its module names and no setting does."""
    daphne.server.HTTPFactory = BoundedFactory  # type: ignore[attr-defined]
    daphne.server.WebSocketFactory = BoundedSocketFactory  # type: ignore[attr-defined]
