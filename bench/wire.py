"""Lightweight asyncio client for HTTP/1.1 with keep-alive and server-sent events."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

_LIMIT = 64 * 1024 * 1024


class UnexpectedResponse(RuntimeError):
    """The server sent an unexpected response."""


@dataclass(frozen=True)
class Head:
    """The status and headers of a response; header names are lower case."""

    status: int
    headers: Mapping[str, str]

    @property
    def cookies(self) -> dict[str, str]:
        header = self.headers.get("set-cookie", "")
        pairs = (cookie.split(";", 1)[0].partition("=") for cookie in header.split("\n") if cookie)
        return {name: value for name, _, value in pairs}


@dataclass(frozen=True)
class Frame:
    """The data of one server-sent event, and the time when it was complete."""

    data: bytes
    at: float

    def is_a(self, kind: str) -> bool:
        return f'"type":"{kind}"'.encode() in self.data

    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.data)
        return event


class Connection:
    """A connection for one request at a time."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self.headers = {"Host": parts.netloc, **headers}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        self._streams = await asyncio.open_connection(self._host, self._port, limit=_LIMIT)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._streams:
            self._streams[1].close()

    async def request(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[Head, bytes]:
        """Send a request and read the whole response."""
        head = await self._send(method, path, body, headers)
        return head, b"".join([chunk async for chunk in self._body(head)])

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[Frame]:
        """
        Send a RunAgentInput and yield the events of the response as they arrive.

        Raises:
            UnexpectedResponse: the response is not an event stream.
        """
        head = await self._send("POST", path, json.dumps(body).encode(), _EVENT_HEADERS)
        if head.status != 200 or "event-stream" not in head.headers.get("content-type", ""):
            content = b"".join([chunk async for chunk in self._body(head)])
            raise UnexpectedResponse(f"{path} answered {head.status}: {content[:300]!r}")
        frames = FrameParser()
        async for chunk in self._body(head):
            at = time.perf_counter()
            for data in frames.feed(chunk):
                yield Frame(data, at)

    async def follow(self, path: str) -> AsyncIterator[bytes]:
        """
        Yield the data of the events of a stream that does not end.

        Raises:
            UnexpectedResponse: the response is not an event stream.
        """
        head = await self._send("GET", path, b"", _EVENT_HEADERS)
        if head.status != 200 or "event-stream" not in head.headers.get("content-type", ""):
            raise UnexpectedResponse(f"{path} answered {head.status}")
        frames = FrameParser()
        async for chunk in self._body(head):
            for data in frames.feed(chunk):
                yield data

    async def _send(
        self, method: str, path: str, body: bytes, extra_headers: Mapping[str, str]
    ) -> Head:
        reader, writer = self._connected()
        headers = {**self.headers, **extra_headers, "Content-Length": str(len(body))}
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        return parse_head(await reader.readuntil(b"\r\n\r\n"))

    async def _body(self, head: Head) -> AsyncIterator[bytes]:
        reader, _ = self._connected()
        if head.headers.get("transfer-encoding") != "chunked":
            length = int(head.headers.get("content-length", "0"))
            if length:
                yield await reader.readexactly(length)
            return
        while size := int(await reader.readuntil(b"\r\n"), 16):
            chunk = await reader.readexactly(size + 2)
            yield chunk[:-2]
        await reader.readuntil(b"\r\n")

    def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            raise RuntimeError("use the connection as a context manager")
        return self._streams


class FrameParser:
    """A parser of event streams that returns only the data of events."""

    def __init__(self) -> None:
        self._incomplete = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of the events that this chunk completes."""
        *blocks, self._incomplete = (self._incomplete + chunk).split(b"\n\n")
        return [data for block in blocks if (data := _data_of(block)) is not None]


def _data_of(block: bytes) -> bytes | None:
    for line in block.split(b"\n"):
        if line.startswith(b"data: "):
            return line[6:]
    return None


def parse_head(text: bytes) -> Head:
    """Read the status line and the headers; several of one name are joined by newlines."""
    status, *lines = text.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in filter(None, lines):
        name, _, value = line.partition(":")
        name = name.lower()
        headers[name] = f"{headers[name]}\n{value.strip()}" if name in headers else value.strip()
    return Head(int(status.split(" ")[1]), headers)


_EVENT_HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream"}
