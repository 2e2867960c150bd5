"""Canonical JSON and the digests that bind a decision to what was shown and to what is run."""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import rfc8785

_SORTED = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
#: Where sorted JSON may differ from RFC 8785: characters of two UTF-16 units, which sort otherwise
#: in names, and numbers with a fraction, an exponent or sixteen digits. A colon before a value
#: comes after a quote. To find one of these inside a string costs time and nothing else.
_MAY_DIFFER = re.compile(
    r'[\ud800-\udfff\U00010000-\U0010ffff]|(?:\A|[\[,]|":)-?(?:\d+[.e]|\d{16})'
)


def canonical_json(value: Any) -> str:
    """
    The JSON text by which two values are the same (RFC 8785); names are texts.

    `1` and `true` differ, key order does not; a jsonb column would not keep numbers as they were.

    Raises:
        ValueError: the value has no such text (an integer of 2^53 or more, NaN, a lone surrogate).
    """
    # Written in C, and nearly always the same text.
    with suppress(TypeError, ValueError, RecursionError):
        text = _SORTED.encode(value)
        if _MAY_DIFFER.search(text) is None:
            return text
    try:
        return rfc8785.dumps(value).decode()
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise ValueError(f"not canonical JSON: {error}") from error


def original_text(value: Any, text: str) -> str | None:
    """Return JSON text as its author wrote it; None where the canonical `text` is the same."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return None if written == text else written


def load_original_value(text: str, written: str | None) -> Any:
    """
    Read canonical JSON text, with the order of keys and the numbers of its author (35.0, not 35).

    What was written counts only as long as it is the same value: the canonical text is what was
    shown, digested and approved.
    """
    value = None if written is None else json.loads(written)
    return json.loads(text) if written is None or canonical_json(value) != text else value


def digest(text: str) -> str:
    """The sha256 of a canonical text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


#: The member of `metadata` that is the server's, in interrupts and in resume entries.
SIGNOFF = "signoff"
#: The formula of `view_digest` for new interrupts. Version 1 had neither the version nor, in
#: `shown_digest`, the agent's endpoint; interrupts that were opened with it keep it.
VIEW_VERSION = 2


def view_digest(*, version: int, asked: Any, tool: str | None, args: str | None) -> str:
    """
    Return the digest of an interrupt as it was opened: what a decision consents to.

    `asked` is the AG-UI Interrupt without `metadata.signoff`, which is the server's; `args` is the
    canonical JSON text of the tool call's arguments.
    """
    parts = {"interrupt": canonical_json(asked), "tool": tool, "args": args}
    return digest(canonical_json(parts if version == 1 else {"version": version, **parts}))


def current_view_digest(opened: str, *, changed_args: str | None = None, endpoint: str = "") -> str:
    """
    Return the digest of an interrupt as it is shown now.

    `opened` is its `view_digest`, `changed_args` the arguments if another answer has changed them,
    `endpoint` the digest of where a remote agent is.
    """
    if endpoint:
        return digest(canonical_json([opened, changed_args, endpoint]))
    return opened if changed_args is None else digest(canonical_json([opened, changed_args]))


def without_signoff_metadata(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return an AG-UI Interrupt without `metadata.signoff`."""
    metadata = asked.get("metadata")
    if not isinstance(metadata, Mapping) or SIGNOFF not in metadata:
        return dict(asked)
    rest = {name: member for name, member in metadata.items() if name != SIGNOFF}
    return {**asked, "metadata": rest} if rest else _without(asked, "metadata")


def _without(asked: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: member for key, member in asked.items() if key != name}


def endpoint_digest(url: str, revision: int) -> str:
    """Return the digest of a remote agent's place; its headers are not part of it."""
    return digest(canonical_json([url, revision]))
