"""
Validation of the URLs that remote agents, webhooks and chats have.

Private addresses are rejected after resolving (SSRF), and URLs without TLS before.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

RESOLVE_SECONDS = 10.0
#: IPv4/IPv6 translation prefixes (RFC 6052, RFC 8215).
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
#: Networks that Python considers global, at least in some supported version.
_DENIED = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16/32",  # the platform of Azure
            "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is the platform of Oracle Cloud
            "192.88.99.0/24",  # relays of 6to4
            "::/96",  # IPv4-compatible
            "::ffff:0:0:0/96",  # IPv4-translated (RFC 2765)
            "100::/64",  # discarded
            "3fff::/20",  # documentation
            "5f00::/16",  # segment routing
            "fec0::/10",  # site-local
        ),
    )
)
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
#: Resolves a host and port to addresses; replaced in tests.
Resolve = Callable[[str, int], Awaitable[list[str]]]


class AddressProblem(StrEnum):
    """The reason why a URL is rejected."""

    NO_URL = "no_url"
    SCHEME = "scheme"  #: or there is no host
    CREDENTIALS = "credentials"  #: URLs are shown and logged
    CHARACTERS = "characters"
    CLEAR = "clear"  #: no TLS to a host that the operator does not name
    NOT_LISTED = "not_listed"  #: the operator has listed the public hosts, and this is another one
    PRIVATE = "private"  #: its host resolves to a private address


class AddressRefused(ValueError):
    """The URL may not be contacted."""

    def __init__(self, fault: AddressProblem, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class AllowedHosts:
    """The hosts that an operator allows."""

    private: Collection[str] = ()  #: may have private addresses, and URLs without TLS
    #: The others that may be contacted; `*.example.com` is every host below. Empty for all.
    public: Collection[str] = ()

    def is_private(self, url: str) -> bool:
        """Return whether the URL's host is one of the operator's own network."""
        try:
            return urlsplit(url).hostname in self.private
        except ValueError:
            return False

    def is_listed(self, host: str) -> bool:
        """Return whether a host is one of the public ones that may be contacted."""
        return not self.public or any(_matches(host, pattern) for pattern in self.public)


def _matches(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


@dataclass(frozen=True)
class Target:
    """A host resolved once, so that the connection goes to the checked address."""

    url: str  #: with the address in place of the name
    host: str  #: the name, for the certificate and the Host header
    netloc: str


async def resolve(host: str, port: int) -> list[str]:
    """Resolve with the system resolver; in order of preference."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(RESOLVE_SECONDS):
        addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in addresses]


def check_url(url: str, hosts: AllowedHosts) -> None:
    """
    Raise AddressRefused unless it is an https URL with a host and without a password.

    Private hosts may have http, others have to be listed if there is a list. An invalid port is
    rejected as well.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        # Resolvers reject empty and overlong labels with other errors.
        (host or "").encode("idna")
    except ValueError as error:
        raise AddressRefused(AddressProblem.NO_URL, "This is not a valid URL.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise AddressRefused(
            AddressProblem.SCHEME, "The URL has to begin with http:// or https:// and a host."
        )
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(
            AddressProblem.CREDENTIALS, "Put credentials into headers: a URL is shown and logged."
        )
    if not (url.isascii() and url.isprintable()) or " " in url:
        raise AddressRefused(
            AddressProblem.CHARACTERS, "The URL has characters that have to be encoded."
        )
    if hosts.is_private(url):
        return
    if parts.scheme != "https":
        raise AddressRefused(
            AddressProblem.CLEAR, f"{host} may not be contacted without TLS: use https://."
        )
    if not hosts.is_listed(host):
        raise AddressRefused(
            AddressProblem.NOT_LISTED, f"{host} is not one of the hosts that may be contacted."
        )


async def find_target(url: str, hosts: AllowedHosts, *, resolver: Resolve = resolve) -> Target:
    """
    Resolve the host of a URL once.

    Raises:
        AddressRefused: the URL is not allowed, or an address of its host is not public.
        OSError: the host is unknown, or resolving timed out.
    """
    check_url(url, hosts)
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = [_address(text) for text in await resolver(host, port)]
    if not addresses:
        raise OSError(f"{host} has no address")
    if not hosts.is_private(url) and not all(map(_is_public, addresses)):
        raise AddressRefused(AddressProblem.PRIVATE, f"{host} is an address of a private network.")
    first = addresses[0]
    host_text = f"[{first}]" if first.version == 6 else str(first)
    target = parts._replace(netloc=f"{host_text}:{port}", fragment="")
    return Target(target.geturl(), host, parts.netloc)


def is_private_literal(host: str) -> bool:
    """Return whether a host is an address that is not public; names are resolved later."""
    try:
        return not _is_public(_address(host))
    except ValueError:
        return False


def _address(text: str) -> IPAddress:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _is_public(address: IPAddress) -> bool:
    is_denied = any(address in network for network in (*_TRANSLATED, *_DENIED))
    return address.is_global and not address.is_multicast and not is_denied
