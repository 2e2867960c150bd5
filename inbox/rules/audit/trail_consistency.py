"""Whether what the database shows of a tool call is what the audit trail says of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inbox.rules.audit.audit_entry import commitment_to, hash_of
from inbox.rules.decisions.consent import digest
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class Written:
    """An entry as it is kept: with the `salt` and the `text` of its payload, None once erased."""

    seq: int
    action: str
    body: str
    hash: str
    salt: str | None
    text: str | None

    @property
    def digests(self) -> Mapping[str, Any]:
        """Those of its payload, none if it is erased or cannot be read."""
        try:
            told = json.loads(self.text) if self.text else {}
        except ValueError:
            return {}
        found = told.get("digests") if isinstance(told, dict) else None
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Shown:
    """The texts of a call that its page shows."""

    proposed: str
    approved: str
    result: str | None


def is_as_written(entry: Written) -> bool:
    """Whether body, hash and payload fit together; that the chain does as well, a verifier says."""
    if hash_of(entry.body) != entry.hash:
        return False
    if entry.salt is None or entry.text is None:
        return True
    try:
        kept = json.loads(entry.body)["payload"]
        return bool(kept == commitment_to(entry.text, entry.salt))
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def mismatches(shown: Shown, entries: Sequence[Written]) -> list[TranslatableMessage]:
    """
    What the entries about a call, in order, say otherwise than its row; none if all of it agrees.

    What is erased says nothing.
    """
    found = [
        TranslatableMessage("Entry {seq} was modified after it was written.", seq=entry.seq)
        for entry in entries
        if not is_as_written(entry)
    ]
    proposed, approved = digest(shown.proposed), digest(shown.approved)
    for name, expected in (
        ("proposed", proposed),
        ("approved", approved),
        ("executed", approved),
        ("result", digest(shown.result or "")),
    ):
        last = _last_that_says(name, entries)
        if last and last.digests[name] != expected:
            found.append(_says_otherwise(name, last.seq))
    return found


def _says_otherwise(name: str, seq: int) -> TranslatableMessage:
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


def _last_that_says(name: str, entries: Sequence[Written]) -> Written | None:
    """The entry that counts: not one whose answer was withdrawn, nor a start that was refused."""
    last = None
    for entry in entries:
        if name == "approved" and entry.action == "decision.withdrawn":
            last = None
        elif name in entry.digests and entry.action != "tool.refused":
            last = entry
    return last
