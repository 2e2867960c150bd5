"""Where a request came from."""

import ipaddress
from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest

#: Where nobody knows where a request came from, as behind a socket of the file system.
_NOWHERE = "0.0.0.0"  # noqa: S104 - nothing listens there


def address_of(request: HttpRequest) -> str:
    """Where a request came from, as the last of our own proxies saw it."""
    hops = [request.META.get("REMOTE_ADDR") or ""]
    if proxies := settings.ALLAUTH_TRUSTED_PROXY_COUNT:
        hops = [*request.headers.get("X-Forwarded-For", "").split(",")[-proxies:][:1], *hops]
    for hop in hops:
        with suppress(ValueError):
            return str(ipaddress.ip_address(hop.strip()))
    return _NOWHERE


def household_of(address: str) -> str:
    """What of an address is one customer's to give: all of IPv4, the first 64 bits of IPv6."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((int(found), 64), strict=False))
    return address
