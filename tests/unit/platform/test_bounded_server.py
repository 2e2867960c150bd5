"""What the server leaves to nobody: bodies without end, and readers who do not read."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from twisted.internet.abstract import FileDescriptor
from twisted.internet.testing import MemoryReactor, StringTransport

from inbox.feed import tails
from inbox.platform.http import bounded_server
from inbox.platform.http.bounded_server import (
    MAX_BODY,
    MAX_READ,
    BoundedFactory,
    BoundedSocketFactory,
)

PART = b"x" * 65_536
HANDSHAKE = (
    b"GET /ws/ HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
FRAME = {"type": "websocket.send", "text": "x" * 65_536}
#: A masked text frame of one character.
ONE_FRAME = b"\x81\x81\0\0\0\0x"


class Line(StringTransport):
    """A connection in memory that can be broken."""

    is_broken = False

    def abortConnection(self):  # noqa: N802 - Twisted's name
        self.is_broken = True
        super().abortConnection()


class Served:
    """One connection to the server, and the requests and sockets that reached the application."""

    def __init__(self):
        self.requests = []
        self.queue = SimpleNamespace(put_nowait=lambda message: None)
        server = SimpleNamespace(
            **dict.fromkeys(("http_timeout", "root_path", "server_name"), ""),
            proxy_forwarded_address_header=None,
            ws_factory=None,
            protocol_connected=lambda request: None,
            protocol_disconnected=lambda request: None,
            request_buffer_size=65_536,
            log_action=lambda *_: None,
            create_application=self._create_application,
        )
        self.line = Line()
        server.ws_factory = BoundedSocketFactory(server)
        self._protocol = BoundedFactory(server).buildProtocol(self.line.getPeer())
        self._protocol.makeConnection(self.line)

    def _create_application(self, request, scope):
        self.requests.append(request)
        return self.queue

    def send(self, data):
        """Send to the HTTP server, or to the WebSocket that has taken over the connection."""
        getattr(self.line, "protocol", self._protocol).dataReceived(data)

    def ask(self, kind=b"text/event-stream"):
        """Ask for a stream of this kind; returns the request, its answer begun."""
        self.send(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        (request,) = self.requests
        start = {"type": "http.response.start", "status": 200}
        request.handle_reply({**start, "headers": [(b"Content-Type", kind)]})
        return request

    def open_socket(self):
        """Open a WebSocket; returns it."""
        self.send(HANDSHAKE)
        *_, opened = self.requests
        opened.handle_reply({"type": "websocket.accept"})
        return opened

    def post(self, size):
        """Send a body of this many bytes in parts, until the connection is broken."""
        self.send(f"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode())
        for start in range(0, size, len(PART)):
            if self.line.is_broken:
                return
            self.send(PART[: size - start])

    def pause(self):
        """What Twisted says when the client's buffers are full."""
        self.line.producer.pauseProducing()

    def resume(self):
        self.line.producer.resumeProducing()


@pytest.fixture
def served():
    return Served()


def write(request, size):
    """Write so much of a stream in parts, or until the connection is broken."""
    for _ in range(0, size, len(PART)):
        part = {"type": "http.response.body", "body": PART, "more_body": True}
        request.handle_reply(part)


def test_a_stream_that_ends_leaves_its_connection_to_the_next_request(served):
    request = served.ask()
    write(request, len(PART))
    request.handle_reply({"type": "http.response.body", "body": b"", "more_body": False})
    served.requests.clear()

    following = served.ask()

    write(following, len(PART))
    assert not served.line.is_broken


KINDS = pytest.mark.parametrize("kind", [b"text/event-stream", b"application/x-ndjson"])


@KINDS
async def test_an_answer_waits_for_whoever_reads_slowly(served, kind):
    request = served.ask(kind)
    write(request, len(PART))
    await request.wait_until_writable()
    served.pause()

    write(request, len(PART))
    waiting = asyncio.ensure_future(request.wait_until_writable())
    done, _ = await asyncio.wait([waiting], timeout=0.05)
    assert not done

    served.resume()
    await waiting
    assert not served.line.is_broken


@KINDS
async def test_an_answer_that_nobody_reads_is_closed(served, monkeypatch, kind):
    monkeypatch.setattr(bounded_server, "READ_TIMEOUT_SECONDS", 0.01)
    request = served.ask(kind)
    write(request, len(PART))
    served.pause()

    await request.wait_until_writable()

    assert served.line.is_broken


class SlowConnection(FileDescriptor):
    """A connection whose client reads 4 KiB at a time."""

    connected = True

    def writeSomeData(self, data):  # noqa: N802 - Twisted's name
        return min(len(data), 4_096)


def test_client_is_slow_until_the_whole_buffer_is_read():
    connection, backpressure = SlowConnection(MemoryReactor()), bounded_server._Backpressure()
    connection.registerProducer(backpressure, True)
    connection.write(b"x" * tails._CHUNK_BYTES)

    reads = 0
    while not backpressure._is_writable.is_set():
        connection.doWrite()
        reads += 1

    assert reads * 4_096 >= tails._CHUNK_BYTES


def test_documented_minimum_rate_of_readers_is_true():
    rate = tails._CHUNK_BYTES / bounded_server.READ_TIMEOUT_SECONDS

    page = (Path(settings.BASE_DIR) / "docs/operations.md").read_text()

    assert f"at least {rate / 1000:.1f} KB/s" in page


def test_a_body_of_the_largest_size_reaches_the_application(served):
    served.post(MAX_BODY)

    assert len(served.requests) == 1


def test_too_large_body_gets_413_before_the_application(served):
    served.post(MAX_BODY + 1)

    assert served.line.value().startswith(b"HTTP/1.1 413 ")
    assert served.requests == []


def test_a_body_without_end_is_cut_off(served):
    served.post(2 * MAX_READ)

    assert served.line.is_broken
    assert served.requests == []


# -- sockets --------------------------------------------------------------------------------------


async def test_a_socket_waits_for_a_client_that_reads_slowly(served):
    opened = served.open_socket()
    opened.handle_reply(FRAME)
    await opened.wait_until_writable()
    served.pause()

    waiting = asyncio.ensure_future(opened.wait_until_writable())
    done, _ = await asyncio.wait([waiting], timeout=0.05)
    assert not done

    served.resume()
    await waiting
    assert not served.line.is_broken


async def test_a_socket_that_nobody_reads_is_closed(served, monkeypatch):
    monkeypatch.setattr(bounded_server, "READ_TIMEOUT_SECONDS", 0.01)
    opened = served.open_socket()
    opened.handle_reply(FRAME)
    served.pause()

    await opened.wait_until_writable()

    assert served.line.is_broken


async def test_the_end_of_a_socket_ends_waiting_for_its_client(served):
    opened = served.open_socket()
    opened.handle_reply(FRAME)
    served.pause()
    waiting = asyncio.ensure_future(opened.wait_until_writable())
    await asyncio.sleep(0)

    opened.handle_reply({"type": "websocket.close"})

    await asyncio.wait_for(waiting, 1)


async def test_a_frame_after_the_end_of_a_socket_is_dropped(served):
    opened = served.open_socket()
    opened.handle_reply({"type": "websocket.close"})
    written = len(served.line.value())

    opened.handle_reply(FRAME)

    assert len(served.line.value()) == written


async def test_a_socket_that_sends_more_than_anybody_takes_is_closed(served):
    frames = asyncio.Queue()
    served.queue = frames
    served.open_socket()

    served.send(ONE_FRAME * bounded_server.MAX_WAITING_FRAMES)

    assert served.line.is_broken
    assert frames.qsize() == bounded_server.MAX_WAITING_FRAMES
