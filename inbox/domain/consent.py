"""Canonical JSON and the digests that bind a decision to what was shown and to what is run."""

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785


def canonical(value: Any) -> str:
    """
    The JSON text by which two values are the same (RFC 8785).

    `1` and `true` differ, key order does not; a jsonb column would not keep numbers as they were.

    Raises:
        ValueError: the value has no such text (an integer of 2^53 or more, NaN, a lone surrogate).
    """
    try:
        return rfc8785.dumps(value).decode()
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise ValueError(f"not canonical JSON: {error}") from error


def digest(text: str) -> str:
    """The sha256 of a canonical text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def view_digest(shown: Mapping[str, Any]) -> str:
    """The digest of everything that a reviewer is shown and that a decision consents to (R3)."""
    return digest(canonical(dict(shown)))


def view_digest_with(asked: str, args: str) -> str:
    """The digest of the same view once other arguments stand in it than when it was asked."""
    return digest(canonical([asked, args]))
