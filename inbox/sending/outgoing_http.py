"""Posting to URLs that people have entered: allowed addresses only, no redirects, time limits."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from django.conf import settings

from agents.adapters.remote import allowed_addresses, http_client
from agents.adapters.remote.allowed_addresses import AllowedHosts, find_target

#: The first covers name resolution, connecting, sending and the status; the second the body.
ANSWER_SECONDS, BODY_SECONDS = 10.0, 2.0


@dataclass(frozen=True)
class Answer:
    """The answer of a server; `body` is its beginning."""

    status: int
    body: str
    headers: Mapping[str, str]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def post(
    url: str,
    body: str | bytes,
    headers: Mapping[str, str],
    *,
    hosts: AllowedHosts,
    most_bytes: int,
    method: str = "POST",
    seconds: float | None = None,
) -> Answer:
    """
    Post to the resolved address that was checked, and wait for the answer.

    `method` is another one with a body, such as PATCH. `seconds` is the limit for all but the
    body, ANSWER_SECONDS by default.

    Raises:
        AddressRefused, TimeoutError, OSError, UnicodeError, httpx.HTTPError, httpx.InvalidURL.
    """
    sending = send(
        url,
        body,
        headers,
        hosts=hosts,
        most_bytes=most_bytes,
        method=method,
        seconds=seconds,
    )
    return http_client.run_in_new_loop(sending)


async def send(
    url: str,
    body: str | bytes,
    headers: Mapping[str, str],
    *,
    hosts: AllowedHosts,
    most_bytes: int,
    method: str = "POST",
    seconds: float | None = None,
) -> Answer:
    """As `post`, in an event loop."""
    proxy = "" if hosts.is_private(url) else settings.EGRESS_PROXY
    seconds = ANSWER_SECONDS if seconds is None else seconds
    async with http_client.open_client(httpx.Timeout(seconds), proxy=proxy) as client:
        async with asyncio.timeout(seconds):
            target = await find_target(url, hosts, resolver=resolve)
            headers = {"User-Agent": "Signoff", **headers}
            request = http_client.build_request(
                client, target, headers, accept="*/*", body=body, method=method
            )
            response = await client.send(request, stream=True)
        try:
            text = await _read_beginning(response, most_bytes)
            return Answer(response.status_code, text, response.headers)
        finally:
            await response.aclose()


async def _read_beginning(response: httpx.Response, most_bytes: int) -> str:
    """Return the first bytes of the body, as far as they arrive within BODY_SECONDS."""
    content = b""
    with contextlib.suppress(TimeoutError, httpx.HTTPError):  # the status has arrived
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) >= most_bytes:
                    break
    return (
        content[:most_bytes].decode(errors="replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    )


resolve = allowed_addresses.resolve
