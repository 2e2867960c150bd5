"""Where a remote agent may be: no address of this network is reached because of a name."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

RESOLVE_SECONDS = 10.0
#: Ways into an IPv4 network (RFC 6052, RFC 8215): they lead wherever the translator leads.
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
#: What Python calls global, or did in a version that runs this, and is not for agents.
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
#: Finds the addresses of a host; a test brings its own.
Resolve = Callable[[str, int], Awaitable[list[str]]]


class AddressProblem(StrEnum):
    """Why a URL is not one where a remote agent may be."""

    NO_URL = "no_url"
    SCHEME = "scheme"  #: or there is no host
    CREDENTIALS = "credentials"  #: a URL is shown and logged
    CHARACTERS = "characters"
    PRIVATE = "private"  #: its host resolves to an address of our own network


class AddressRefused(ValueError):
    """The URL leads where no remote agent may be."""

    def __init__(self, fault: AddressProblem, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class Target:
    """A host that was resolved once: what is connected to is what was checked."""

    url: str  #: with the address in place of the name
    host: str  #: the name, for the certificate and the Host header
    netloc: str


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system; in order of preference."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(RESOLVE_SECONDS):
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def check_url(url: str) -> None:
    """
    Raise AddressRefused unless it is an http or https URL with a host, and no password in it.

    A port that is no number is refused as well, before anybody connects to anything.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        # What resolves names refuses labels that are empty or too long, by an error of its own.
        (host or "").encode("idna")
    except ValueError as error:
        raise AddressRefused(AddressProblem.NO_URL, "This is no URL.") from error
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


async def find_target(url: str, *, may_be_private: bool, resolver: Resolve = resolve) -> Target:
    """
    Resolve the host of a URL once.

    Raises:
        AddressRefused: the URL is none, or an address of its host is not a public one.
        OSError: the host is not known, or nobody says in time.
    """
    check_url(url)
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = [_address(one) for one in await resolver(host, port)]
    if not addresses:
        raise OSError(f"{host} has no address")
    if not may_be_private and not all(map(_is_public, addresses)):
        raise AddressRefused(AddressProblem.PRIVATE, f"{host} is an address of a private network.")
    first = addresses[0]
    shown = f"[{first}]" if first.version == 6 else str(first)
    place = parts._replace(netloc=f"{shown}:{port}", fragment="")
    return Target(place.geturl(), host, parts.netloc)


def _address(text: str) -> IPAddress:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _is_public(address: IPAddress) -> bool:
    is_denied = any(address in network for network in (*_TRANSLATED, *_DENIED))
    return address.is_global and not address.is_multicast and not is_denied
