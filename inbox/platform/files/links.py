"""Signed queries for the addresses of files, which load a file without a session until a time."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.core.signing import Signer
from django.utils.crypto import constant_time_compare


def link_query(file_id: UUID, expires_at: datetime) -> str:
    """Return the query of a link, the same for the same second."""
    expires = str(int(expires_at.timestamp()))
    return f"?expires={expires}&signature={_signature(file_id, expires)}"


def is_link_valid(file_id: UUID, query: Mapping[str, str], now: datetime) -> bool:
    """Return whether the query of an address is signed and has not expired."""
    expires, signature = query.get("expires", ""), query.get("signature", "")
    if not (expires.isascii() and expires.isdecimal() and len(expires) < 12):
        return False
    is_signed = constant_time_compare(signature, _signature(file_id, expires))
    return is_signed and now.timestamp() < int(expires)


def _signature(file_id: UUID, expires: str) -> str:
    return Signer(salt="inbox.files").signature(f"{file_id} {expires}")
