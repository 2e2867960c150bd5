"""One request to somebody elsewhere: to the address that was checked, and no further than that."""

import asyncio
import ssl
from collections.abc import Coroutine, Mapping
from functools import cache
from typing import Any, TypeVar

import httpcore
import httpx

from agents.adapters.remote import sse
from agents.adapters.remote.allowed_addresses import Target
from agents.adapters.remote.proxy_tunnel import Tunnel
from agents.agui import strict_json

T = TypeVar("T")
EVENTS, JSON = "text/event-stream", "application/json"
_EVENT_LIMITS = strict_json.Limits(max_bytes=sse.MAX_EVENT_BYTES)


class InvalidResponse(Exception):
    """The answer is no stream of events."""


class WrongStatus(InvalidResponse):
    """The agent answered with another status than 200."""


class WrongContentType(InvalidResponse):
    """The agent answered with something else."""


class CompressedResponse(InvalidResponse):
    """The agent compressed its answer: what is not compressed cannot swell."""


class InvalidEvent(InvalidResponse):
    """What stands where an event should is no JSON object."""


def open_client(
    timeout: httpx.Timeout, transport: httpx.AsyncBaseTransport | None = None, *, proxy: str = ""
) -> httpx.AsyncClient:
    """A client that goes where it is sent: by no other proxy, and after no redirect."""
    return httpx.AsyncClient(
        timeout=timeout,
        transport=_proxy_transport(proxy) if proxy and transport is None else transport,
        verify=_certificates(),
        trust_env=False,
        follow_redirects=False,
    )


def _proxy_transport(proxy: str) -> httpx.AsyncHTTPTransport:
    transport = httpx.AsyncHTTPTransport(verify=_certificates(), trust_env=False)
    # httpx has no option for the network below its pool.
    transport._pool = httpcore.AsyncConnectionPool(  # noqa: SLF001
        ssl_context=_certificates(), network_backend=Tunnel(proxy)
    )
    return transport


def run_in_new_loop(work: Coroutine[Any, Any, T]) -> T:
    """
    Run this in a loop of its own, in this thread.

    Not asyncio.run(), which waits for the thread that asks a name server after nobody else does.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than most requests."""
    return httpx.create_ssl_context()


def build_request(
    client: httpx.AsyncClient,
    target: Target,
    headers: Mapping[str, str],
    *,
    accept: str = EVENTS,
    body: str | None = None,
) -> httpx.Request:
    """Post a JSON body, or get what is there if it is None; our headers win over the others."""
    ours = {"Host": target.netloc, "Accept": accept, "Accept-Encoding": "identity"}
    if body is not None:
        ours["Content-Type"] = JSON
    return client.build_request(
        "GET" if body is None else "POST",
        target.url,
        headers={**headers, **ours},
        content=None if body is None else body.encode(),
        extensions={"sni_hostname": target.host},
    )


def check_event_stream(response: httpx.Response) -> None:
    """Raise NoEvents unless the answer is a stream of events that can be read as it comes."""
    if response.status_code != 200:
        raise WrongStatus(f"The agent answered with status {response.status_code}.")
    if media_type(response) != EVENTS:
        raise WrongContentType("The agent did not answer with server-sent events.")
    if is_compressed(response):
        raise CompressedResponse("The agent compressed its answer, which it was not asked to.")


def media_type(response: httpx.Response) -> str:
    """What the answer says that it is, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def is_compressed(response: httpx.Response) -> bool:
    return str(response.headers.get("content-encoding", "identity")).lower() != "identity"


def parse_event(data: bytes) -> dict[str, Any]:
    """The JSON object of an event. Raises NoEvent."""
    try:
        value = strict_json.loads(data, limits=_EVENT_LIMITS)
    except strict_json.JsonRejected as error:
        raise InvalidEvent(f"The agent sent an event that is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidEvent("The agent sent an event that is no object.")
    return value
