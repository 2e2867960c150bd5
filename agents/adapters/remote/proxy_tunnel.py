"""Connections through an HTTP proxy, to the address that was checked."""

import asyncio
from base64 import b64encode
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

import httpcore

_MAX_HEAD_BYTES = 16_384


class Tunnel(httpcore.AsyncNetworkBackend):
    """
    Opens each connection with CONNECT through a proxy, `http://[user:password@]host[:port]`.

    httpx' own support checks the certificate against the host of the URL, which here is an
    address. The proxy gets the address, so that it does not resolve the name again.
    """

    def __init__(self, proxy: str) -> None:
        parts = urlsplit(proxy)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._authorization = ""
        if parts.username is not None:
            name, password = unquote(parts.username), unquote(parts.password or "")
            code = b64encode(f"{name}:{password}".encode()).decode()
            self._authorization = f"Proxy-Authorization: Basic {code}\r\n"
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._network.connect_tcp(
            self._host, self._port, timeout, local_address, socket_options
        )
        try:
            async with asyncio.timeout(timeout):
                await self._ask(stream, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except TimeoutError as error:
            await stream.aclose()
            raise httpcore.ConnectTimeout("the proxy does not answer") from error
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)

    async def _ask(self, stream: httpcore.AsyncNetworkStream, authority: str) -> None:
        request = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{self._authorization}\r\n"
        await stream.write(request.encode())
        head = b""
        while b"\r\n\r\n" not in head:
            part = await stream.read(4_096)
            head += part
            if not part or len(head) > _MAX_HEAD_BYTES:
                raise httpcore.ConnectError("the proxy closed the connection")
        head, _, after_head = head.partition(b"\r\n\r\n")
        status = head.split(b"\r\n", 1)[0].split(b" ")[1:2]
        # A TLS server waits for the client, so bytes after the head come from the proxy.
        if not status or not status[0].startswith(b"2") or after_head:
            raise httpcore.ConnectError("the proxy refused the connection")
