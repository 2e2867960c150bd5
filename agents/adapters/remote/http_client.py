"""HTTP requests to remote agents: only to the checked address, without redirects."""

import asyncio
import ssl
from collections.abc import Coroutine, Mapping
from functools import cache
from typing import Any, TypeVar

import httpcore
import httpx

from agents.adapters.remote import sse
from agents.adapters.remote.allowed_addresses import Target
from agents.adapters.remote.probe_report import ProbeResult
from agents.adapters.remote.proxy_tunnel import Tunnel
from agents.agui import strict_json

T = TypeVar("T")
EVENTS, JSON = "text/event-stream", "application/json"
BYTES = "application/octet-stream"
#: As deep as a stored event may be, so that a deep schema is rejected as one, with its own limit.
_EVENT_LIMITS = strict_json.Limits(
    max_bytes=sse.MAX_EVENT_BYTES, max_depth=500, max_nodes=1_000_000
)


class InvalidResponse(Exception):
    """The response is not an uncompressed stream of events that are JSON objects."""

    def __init__(self, result: ProbeResult, message: str) -> None:
        super().__init__(message)
        self.result = result  #: of a connection test


def open_client(
    timeout: httpx.Timeout, transport: httpx.AsyncBaseTransport | None = None, *, proxy: str = ""
) -> httpx.AsyncClient:
    """Return a client without redirects and without proxies from the environment."""
    return httpx.AsyncClient(
        timeout=timeout,
        transport=_proxy_transport(proxy) if proxy and transport is None else transport,
        verify=_certificates(),
        trust_env=False,
        follow_redirects=False,
    )


def _proxy_transport(proxy: str) -> httpx.AsyncHTTPTransport:
    transport = httpx.AsyncHTTPTransport(verify=_certificates(), trust_env=False)
    # httpx has no option for the network backend of its pool.
    transport._pool = httpcore.AsyncConnectionPool(  # noqa: SLF001
        ssl_context=_certificates(), network_backend=Tunnel(proxy)
    )
    return transport


def run_in_new_loop(work: Coroutine[Any, Any, T]) -> T:
    """
    Run a coroutine in a new event loop in this thread.

    Not asyncio.run(), which waits for resolver threads that are still running.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@cache
def _certificates() -> ssl.SSLContext:
    """Return the TLS context; cached, because loading certificates is slow."""
    return httpx.create_ssl_context()


def build_request(
    client: httpx.AsyncClient,
    target: Target,
    headers: Mapping[str, str],
    *,
    accept: str = EVENTS,
    body: str | bytes | None = None,
    method: str = "POST",
) -> httpx.Request:
    """
    Build a POST with a body, or a GET without; our headers override `headers`.

    A text is JSON, and bytes are anything else. `method` is another one with a body.
    """
    own_headers = {"Host": target.netloc, "Accept": accept, "Accept-Encoding": "identity"}
    if body is not None:
        own_headers["Content-Type"] = JSON if isinstance(body, str) else BYTES
    return client.build_request(
        "GET" if body is None else method,
        target.url,
        headers={**headers, **own_headers},
        content=body.encode() if isinstance(body, str) else body,
        extensions={"sni_hostname": target.host},
    )


def check_event_stream(response: httpx.Response) -> None:
    """Raise InvalidResponse unless the response is an uncompressed event stream."""
    if response.status_code != 200:
        message = f"The agent answered with status {response.status_code}."
        raise InvalidResponse(ProbeResult.WRONG_STATUS, message)
    if media_type(response) != EVENTS:
        message = "The agent did not answer with server-sent events."
        raise InvalidResponse(ProbeResult.WRONG_TYPE, message)
    if is_compressed(response):
        # Rejected, because it could expand without limit.
        message = "The agent compressed its answer, which it was not asked to."
        raise InvalidResponse(ProbeResult.COMPRESSED, message)


def media_type(response: httpx.Response) -> str:
    """Return the content type without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def is_compressed(response: httpx.Response) -> bool:
    return str(response.headers.get("content-encoding", "identity")).lower() != "identity"


def parse_event(data: bytes) -> dict[str, Any]:
    """Return the JSON object of an event, or raise InvalidResponse."""
    try:
        value = strict_json.loads_of_agent(data, limits=_EVENT_LIMITS)
    except strict_json.JsonRejected as error:
        message = f"The agent sent an event that is no JSON: {error}"
        raise InvalidResponse(ProbeResult.NO_EVENT, message) from error
    if not isinstance(value, dict):
        message = "The agent sent an event that is no object."
        raise InvalidResponse(ProbeResult.NO_EVENT, message)
    return value
