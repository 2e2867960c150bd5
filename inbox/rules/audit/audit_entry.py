"""
The audit trail: what an entry says, and the chain that binds each to the one before.

docs/audit.md describes the format for those who check it with a program of their own.
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
#: What the first entry of a chain has in place of the hash before it.
NO_PREVIOUS_HASH = "0" * 64
#: The chain of what belongs to no team: the keys that sign the log.
SYSTEM_CHAIN = UUID(int=0)
SALT_BYTES = 32


@dataclass(frozen=True)
class ChainPosition:
    """Where in its chain an entry stands: its number, from 1, and the hash of the one before."""

    chain: UUID
    seq: int = 1
    previous: str = NO_PREVIOUS_HASH

    def after(self, hash_before: str) -> "ChainPosition":
        """The place of the next entry."""
        return ChainPosition(self.chain, self.seq + 1, hash_before)


@dataclass(frozen=True)
class Facts:
    """
    What an entry says that stays for ever. Names, texts and their digests are in the payload, which
    can be erased: whoever knows what may have been said finds it out by its digest.

    `ids` name the rows it is about (team, thread, run, interrupt, tool_call); `state` is what
    changed, before and after; `erases` the first and last number of the entries of this chain whose
    payloads are gone.
    """

    action: str
    actor: Actor
    at: datetime
    ids: Mapping[str, UUID]
    state: tuple[str, str] | None = None
    erases: tuple[int, int] | None = None
    request: str = ""


def body_of(facts: Facts, place: ChainPosition, commitment: str) -> str:
    """The canonical JSON text of an entry (RFC 8785): strings and whole numbers only."""
    actor = facts.actor
    who = {"kind": actor.kind.value, "id": actor.ident[:64], "method": actor.method}
    said: dict[str, Any] = {
        "v": VERSION,
        "chain": str(place.chain),
        "seq": place.seq,
        "prev": place.previous,
        "action": facts.action,
        "at": format_time(facts.at),
        "actor": {name: value for name, value in who.items() if value},
        "erases": list(facts.erases or ()),
        "payload": commitment,
        "request": facts.request,
        "state": list(facts.state or ()),
        **{name: str(value) for name, value in facts.ids.items()},
    }
    return canonical_json({name: value for name, value in said.items() if value})


def hash_of(body: str) -> str:
    """The hash of an entry, which the next one of its chain holds and the log of all commits to."""
    return digest(body)


def read_body(body: str) -> dict[str, Any]:
    """What a body says; nothing where somebody has put another text in its place."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    is_ours = isinstance(said, dict) and isinstance(said.get("actor"), dict)
    return said if is_ours and isinstance(said.get("state", []), list) else {}


def commitment_to(payload: str, salt: str) -> str:
    """
    What an entry keeps of its payload: sha256 over the salt, 32 random bytes in hex, and the text.

    Without the salt, which is erased with the text, nobody can find out what it was by guessing.
    """
    return hashlib.sha256(bytes.fromhex(salt) + payload.encode()).hexdigest()


def format_time(at: datetime) -> str:
    """A time as an entry holds it: UTC, microseconds, `Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
