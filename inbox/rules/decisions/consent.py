"""Canonical JSON, and the digests that bind a decision to what was displayed and is executed."""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

import rfc8785

from agents.agui.strict_json import dumps_arguments, escape_surrogates

_SORTED = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
#: Where sorted JSON may differ from RFC 8785: characters of two UTF-16 units, which sort in another
#: order in names, and numbers with a fraction, an exponent or sixteen digits. A colon before a
#: value comes after a quote. A match inside a string only costs time. Each pattern begins with a
#: set of characters, for which `re` scans quickly.
_WIDE_CHARACTER = re.compile(r"[\ud800-\udfff\U00010000-\U0010ffff]")
_UNUSUAL_NUMBER = re.compile(r'[\[,:](?:(?<=[\[,])|(?<=":))-?(?:\d+[.e]|\d{16})')


def canonical_json(value: Any) -> str:
    """
    Return the canonical JSON text of a value (RFC 8785): equal values have the same text.

    `1` and `true` differ, key order does not matter. Stored as text because a jsonb column changes
    numbers. Values without a text in RFC 8785 have one here, which Python's `json` reads:
    integers of 2^53 or more have all their digits, lone surrogates are escaped as in ECMAScript's
    `JSON.stringify`, and NaN, Infinity and -Infinity are these words.

    Raises:
        ValueError: the value is no JSON, or too deep.
    """
    # The standard encoder is much faster and nearly always returns the same text.
    if not isinstance(value, int | float):
        with suppress(TypeError, ValueError, RecursionError):
            text = _SORTED.encode(value)
            is_narrow = text.isascii() or _WIDE_CHARACTER.search(text) is None
            if is_narrow and _UNUSUAL_NUMBER.search(text) is None:
                return text
    try:
        return rfc8785.dumps(value).decode()
    except RecursionError as error:
        raise ValueError(f"not canonical JSON: {error}") from error
    except (rfc8785.CanonicalizationError, UnicodeError):
        return _extended(value)


def _extended(value: Any) -> str:
    """Return the canonical text of a value for which RFC 8785 has none."""
    match value:
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise ValueError("not canonical JSON: a key is no text")
            names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
            members = (f"{_extended(name)}:{_extended(value[name])}" for name in names)
            return f"{{{','.join(members)}}}"
        case list() | tuple():
            return f"[{','.join(map(_extended, value))}]"
        case str():
            return escape_surrogates(json.dumps(value, ensure_ascii=False))
        case int() if not isinstance(value, bool):
            return str(value)
        case float() if not isfinite(value):
            return json.dumps(value)
    try:
        return rfc8785.dumps(value).decode()
    except rfc8785.CanonicalizationError as error:
        raise ValueError(f"not canonical JSON: {error}") from error


def original_text(value: Any, text: str) -> str | None:
    """Return the JSON text in the author's order and numbers; None if it equals `text`."""
    original = dumps_arguments(value)
    return None if original == text else original


def load_original_value(text: str, original: str | None) -> Any:
    """
    Return the value of canonical JSON text, with the author's key order and numbers (35.0, not 35).

    `original` is ignored if it is another value: the canonical text was displayed and approved.
    """
    value = None if original is None else json.loads(original)
    return json.loads(text) if original is None or canonical_json(value) != text else value


def digest(text: str) -> str:
    """Return the SHA-256 of a canonical text in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


#: The member of `metadata` that the server writes, in interrupts and in resume entries.
SIGNOFF = "signoff"
#: The formula of `view_digest` for new interrupts. Version 1 included neither the version nor, in
#: `current_view_digest`, the agent's endpoint; interrupts that were created with it keep it.
VIEW_VERSION = 2
#: The formula for interrupts that a policy ruled on.
VIEW_VERSION_WITH_RULING = 3
#: The formulas that include what the agent says in `metadata.signoff` about its presentation,
#: without and with a ruling. Version 1 took the metadata as they were.
VIEW_VERSION_WITH_PRESENT, VIEW_VERSION_WITH_PRESENT_AND_RULING = 4, 5
#: Added to a version for interrupts with files: versions 6 to 9 include the digests of the bytes.
_WITH_FILES = 4
RULED_VIEW_VERSIONS = (3, 5, 7, 9)
_VIEW_VERSIONS_WITH_PRESENT = (4, 5, 8, 9)


def view_version(*, has_present: bool, has_ruling: bool, has_files: bool = False) -> int:
    """Return the formula of the view digest of a new interrupt."""
    plain = (VIEW_VERSION, VIEW_VERSION_WITH_RULING)
    presented = (VIEW_VERSION_WITH_PRESENT, VIEW_VERSION_WITH_PRESENT_AND_RULING)
    version = (presented if has_present else plain)[has_ruling]
    return version + _WITH_FILES if has_files else version


def has_present(version: int) -> bool:
    """Return whether the formula includes what the agent says about its presentation."""
    return version in _VIEW_VERSIONS_WITH_PRESENT


def has_files(version: int) -> bool:
    """Return whether the formula includes the digests of attached files."""
    return version > VIEW_VERSION_WITH_PRESENT_AND_RULING


def displayed_part(interrupt: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return the part of an AG-UI Interrupt that its view digest includes."""
    is_whole = version == 1 or has_present(version)
    return dict(interrupt) if is_whole else without_signoff_metadata(interrupt)


def view_digest(
    *,
    version: int,
    interrupt: Any,
    tool: str | None,
    args: str | None,
    ruling: str | None = None,
    files: str | None = None,
) -> str:
    """
    Return the digest of an interrupt when it was created, to which a decision consents.

    `interrupt` is the `displayed_part` of the AG-UI Interrupt; `args` is the canonical JSON text
    of the tool call's arguments, `ruling` that of the policy's ruling, `files` that of the
    attached files, each with the SHA-256 of its bytes.
    """
    parts = {"interrupt": canonical_json(interrupt), "tool": tool, "args": args}
    if ruling is not None:
        parts["ruling"] = ruling
    if files is not None:
        parts["files"] = files
    return digest(canonical_json(parts if version == 1 else {"version": version, **parts}))


def current_view_digest(
    opened: str,
    *,
    changed_args: str | None = None,
    endpoint: str = "",
    endorsed: str | None = None,
) -> str:
    """
    Return the digest of an interrupt as it is displayed now.

    `opened` is its `view_digest`, `changed_args` the arguments if another decision has edited them,
    `endpoint` the digest of a remote agent's endpoint, `endorsed` the JSON text of an answer that
    others have endorsed with changes.
    """
    if endorsed is not None:
        opened = digest(canonical_json([opened, {"endorsed": json.loads(endorsed)}]))
    if endpoint:
        return digest(canonical_json([opened, changed_args, endpoint]))
    return opened if changed_args is None else digest(canonical_json([opened, changed_args]))


def without_signoff_metadata(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Return an AG-UI Interrupt without `metadata.signoff`."""
    metadata = interrupt.get("metadata")
    if not isinstance(metadata, Mapping) or SIGNOFF not in metadata:
        return dict(interrupt)
    others = _without(metadata, SIGNOFF)
    return {**interrupt, "metadata": others} if others else _without(interrupt, "metadata")


def _without(members: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: member for key, member in members.items() if key != name}


def endpoint_digest(url: str, revision: int) -> str:
    """Return the digest of a remote agent's endpoint, without its headers."""
    return digest(canonical_json([url, revision]))
