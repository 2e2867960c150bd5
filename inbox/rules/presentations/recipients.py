"""Addresses of a message outside of the company."""

import re
from collections.abc import Collection
from typing import Any

from inbox.rules.schema.schema_walk import json_nodes

#: What stands between addresses, and around one beside a name.
_SEPARATORS = re.compile(r"[\s,;:<>()\[\]\"']+")


def outside_addresses(value: Any, company_domains: Collection[str]) -> list[str]:
    """
    Return the e-mail addresses in the texts of a JSON value whose domain is not the company's.

    Subdomains of a company's domain belong to it. Without company domains nothing is outside. Texts
    that are no valid list of addresses are searched as well: mail systems differ in what they
    accept, so that a parser would miss some.
    """
    if not company_domains:
        return []
    texts = [node for _, node in json_nodes(value) if isinstance(node, str) and "@" in node]
    parts = [part for text in texts for part in _SEPARATORS.split(text)]
    addresses = dict.fromkeys(part for part in parts if "@" in part.lstrip("@"))
    return [address for address in addresses if not _is_inside(address, company_domains)]


def _is_inside(address: str, company_domains: Collection[str]) -> bool:
    name, _, domain = address.rpartition("@")
    domain = domain.lower().rstrip(".")
    is_plain = "@" not in name
    return is_plain and any(domain == own or domain.endswith(f".{own}") for own in company_domains)
