"""Comparison of a tool call's row with its audit entries."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inbox.rules.audit.audit_entry import commitment_to, hash_of
from inbox.rules.decisions.consent import digest
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class StoredEntry:
    """A stored entry, with the `salt` and `text` of its payload, None once erased."""

    seq: int
    action: str
    body: str
    hash: str
    salt: str | None
    text: str | None

    @property
    def digests(self) -> Mapping[str, Any]:
        """Return the digests in the payload; none if it is erased or malformed."""
        try:
            payload = json.loads(self.text) if self.text else {}
        except ValueError:
            return {}
        digests = payload.get("digests") if isinstance(payload, dict) else None
        return digests if isinstance(digests, dict) else {}


@dataclass(frozen=True)
class CallTexts:
    """The texts of a call on its page."""

    proposed: str
    approved: str
    result: str | None


def is_unchanged(entry: StoredEntry) -> bool:
    """Return True if body, hash and payload match; a verifier also checks the chain."""
    if hash_of(entry.body) != entry.hash:
        return False
    if entry.salt is None or entry.text is None:
        return True
    try:
        commitment = json.loads(entry.body)["payload"]
        return bool(commitment == commitment_to(entry.text, entry.salt))
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def mismatches(displayed: CallTexts, entries: Sequence[StoredEntry]) -> list[TranslatableMessage]:
    """
    Return the mismatches between a call and its entries, which are in order.

    Erased payloads are ignored.
    """
    problems = [
        TranslatableMessage("Entry {seq} was modified after it was written.", seq=entry.seq)
        for entry in entries
        if not is_unchanged(entry)
    ]
    proposed, approved = digest(displayed.proposed), digest(displayed.approved)
    for name, expected in (
        ("proposed", proposed),
        ("approved", approved),
        ("executed", approved),
        ("result", digest(displayed.result or "")),
    ):
        last = _last_entry_with(name, entries)
        if last and last.digests[name] != expected:
            problems.append(_mismatch(name, last.seq))
    return problems


def _mismatch(name: str, seq: int) -> TranslatableMessage:
    return {
        "proposed": TranslatableMessage(
            "Entry {seq} records different proposed arguments.", seq=seq
        ),
        "approved": TranslatableMessage(
            "Entry {seq} records different approved arguments.", seq=seq
        ),
        "executed": TranslatableMessage(
            "Entry {seq} records different executed arguments.", seq=seq
        ),
        "result": TranslatableMessage("Entry {seq} records a different result.", seq=seq),
    }[name]


def _last_entry_with(name: str, entries: Sequence[StoredEntry]) -> StoredEntry | None:
    """Return the last entry with this digest, except withdrawn answers and refused starts."""
    last = None
    for entry in entries:
        if name == "approved" and entry.action == "decision.withdrawn":
            last = None
        elif name in entry.digests and entry.action != "tool.refused":
            last = entry
    return last
