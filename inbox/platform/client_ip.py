"""
Client IP addresses behind reverse proxies.

Why: Django has REMOTE_ADDR only, which behind a proxy is the proxy's.
Remove when: Django or the server resolves X-Forwarded-For for a known number of proxies.
"""

import ipaddress
from contextlib import suppress
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

#: For requests without an address, as over a Unix domain socket.
_UNKNOWN = "0.0.0.0"  # noqa: S104 - nothing listens there


def client_ip_of(request: HttpRequest) -> str:
    """Return the address of the client, as seen by the outermost of our own proxies."""
    hops = [request.META.get("REMOTE_ADDR") or ""]
    if proxies := settings.ALLAUTH_TRUSTED_PROXY_COUNT:
        hops = [*request.headers.get("X-Forwarded-For", "").split(",")[-proxies:][:1], *hops]
    for hop in hops:
        with suppress(ValueError):
            return str(ipaddress.ip_address(hop.strip()))
    return _UNKNOWN


def client_ip_of_scope(scope: Any) -> str:
    """Return the address of the client of an ASGI scope, also of a WebSocket handshake."""
    return client_ip_of(ASGIRequest({"method": "GET", **scope}, BytesIO()))


def ipv6_network_of(address: str) -> str:
    """Return the /64 network of an IPv6 address, which one customer controls; IPv4 unchanged."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((int(parsed), 64), strict=False))
    return address
