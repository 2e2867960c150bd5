"""Addresses of a message outside of the company."""

from collections.abc import Collection
from email.utils import getaddresses
from typing import Any


def outside_addresses(value: Any, company_domains: Collection[str]) -> list[str]:
    """
    Return the e-mail addresses in a text or a list whose domain is not the company's.

    Subdomains of a company's domain belong to it. Without company domains nothing is outside.
    """
    if not company_domains:
        return []
    texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    parsed = getaddresses([text for text in texts if isinstance(text, str)])
    addresses = [address for _, address in parsed if "@" in address]
    return [address for address in addresses if not _is_inside(address, company_domains)]


def _is_inside(address: str, company_domains: Collection[str]) -> bool:
    domain = address.rpartition("@")[2].lower().rstrip(".")
    return any(domain == own or domain.endswith(f".{own}") for own in company_domains)
