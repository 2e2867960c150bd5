"""The networks from which an API key may be used."""

import ipaddress
from collections.abc import Sequence
from typing import Final, TypeAlias

from inbox.rules.errors import InvalidValue, MoreThanOwn
from inbox.rules.text.messages import TranslatableMessage

MAX_NETWORKS: Final = 50
MAX_NETWORK_CHARACTERS: Final = 64

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def parse_networks(texts: Sequence[str]) -> list[str]:
    """
    Return networks such as `192.0.2.0/24` in their canonical form, sorted; an address is a network.

    Raises:
        InvalidValue: with `problems` of the field `networks`.
    """
    if len(texts) > MAX_NETWORKS:
        raise _invalid(
            TranslatableMessage("A key can have up to {most} networks.", most=MAX_NETWORKS)
        )
    networks = set()
    for text in texts:
        try:
            networks.add(str(ipaddress.ip_network(text.strip())))
        except ValueError as error:
            raise _invalid(
                TranslatableMessage(
                    "Enter networks such as 192.0.2.0/24 or 2001:db8::/32, not {text}.",
                    text=text.strip()[:MAX_NETWORK_CHARACTERS],
                )
            ) from error
    return sorted(networks)


def is_address_allowed(address: str, networks: Sequence[str]) -> bool:
    """Return whether a client's address is in one of the networks; no networks allow all."""
    if not networks:
        return True
    try:
        parsed = _plain(ipaddress.ip_address(address))
    except ValueError:
        return False
    return any(parsed in ipaddress.ip_network(network) for network in networks)


def check_within_networks(networks: Sequence[str], maker_networks: Sequence[str]) -> None:
    """Raise MoreThanOwn if a key could be used where the key that creates it cannot."""
    if not maker_networks:
        return
    limits = [ipaddress.ip_network(network) for network in maker_networks]
    inner = [ipaddress.ip_network(network) for network in networks]
    if not inner or not all(_is_within(network, limits) for network in inner):
        raise MoreThanOwn(
            TranslatableMessage("A key cannot create a key that works in more networks than it."),
            beyond=["networks"],
        )


def _is_within(network: _Network, limits: Sequence[_Network]) -> bool:
    return any(
        network.version == limit.version and network.subnet_of(limit)  # type: ignore[arg-type]
        for limit in limits
    )


def _plain(address: _Address) -> _Address:
    """Return an IPv4 address that is written as an IPv6 address as what it is."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _invalid(message: TranslatableMessage) -> InvalidValue:
    return InvalidValue(message, problems={"networks": [message]})
