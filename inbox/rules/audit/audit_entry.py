"""
Audit entries and the hash chain that links each to the previous one.

docs/contributors/audit-format.md describes the format for independent verifiers.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.people.access import Actor

VERSION = 1
#: The previous hash of the first entry of a chain.
NO_PREVIOUS_HASH = "0" * 64
#: The chain of entries without a team, e.g. about the keys that sign the log.
SYSTEM_CHAIN = UUID(int=0)
SALT_BYTES = 32


@dataclass(frozen=True)
class ChainPosition:
    """The position of an entry in its chain: its number, from 1, and the previous hash."""

    chain: UUID
    seq: int = 1
    previous: str = NO_PREVIOUS_HASH

    def after(self, hash_before: str) -> "ChainPosition":
        """Return the position of the next entry."""
        return ChainPosition(self.chain, self.seq + 1, hash_before)


@dataclass(frozen=True)
class Facts:
    """
    The permanent part of an entry.

    Names, texts and their digests are in the payload, which can be erased: a digest would allow
    guessing the text. `ids` are those of the rows concerned (team, thread, run, interrupt,
    tool_call); `state` is the state before and after; `erases` the first and last number of the
    entries of this chain whose payloads were erased.
    """

    action: str
    actor: Actor
    at: datetime
    ids: Mapping[str, UUID]
    state: tuple[str, str] | None = None
    erases: tuple[int, int] | None = None
    request: str = ""


def body_of(facts: Facts, position: ChainPosition, commitment: str) -> str:
    """Return the canonical JSON text of an entry (RFC 8785): strings and integers only."""
    actor = facts.actor
    actor_fields = {"kind": actor.kind.value, "id": actor.ident[:64], "method": actor.method}
    fields: dict[str, Any] = {
        "v": VERSION,
        "chain": str(position.chain),
        "seq": position.seq,
        "prev": position.previous,
        "action": facts.action,
        "at": format_time(facts.at),
        "actor": {name: value for name, value in actor_fields.items() if value},
        "erases": list(facts.erases or ()),
        "payload": commitment,
        "request": facts.request,
        "state": list(facts.state or ()),
        **{name: str(value) for name, value in facts.ids.items()},
    }
    return canonical_json({name: value for name, value in fields.items() if value})


def hash_of(body: str) -> str:
    """Return the hash of an entry, which its successor and the log contain."""
    return digest(body)


def read_body(body: str) -> dict[str, Any]:
    """Parse a body; return {} if it was replaced by other text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    is_ours = isinstance(value, dict) and isinstance(value.get("actor"), dict)
    return value if is_ours and isinstance(value.get("state", []), list) else {}


def commitment_to(payload: str, salt: str) -> str:
    """
    Return sha256 over the salt, 32 random bytes in hex, and the payload's text.

    The salt is erased with the text, so that the text cannot be guessed afterwards.
    """
    return hashlib.sha256(bytes.fromhex(salt) + payload.encode()).hexdigest()


def format_time(at: datetime) -> str:
    """Return a time in the format of entries: UTC, microseconds, `Z`."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
