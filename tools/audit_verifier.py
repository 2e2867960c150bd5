"""
Verify an exported audit trail (docs/audit.md): `python audit_verifier.py EXPORT --key KEY`.

Needs Python 3.11 and `cryptography` only. Exits with 0 intact, 1 tampered, 2 unknown, 3 usage.
"""

import argparse
import base64
import hashlib
import json
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EXIT = {"intact": 0, "tampered": 1, "unknown": 2}
SIGNED_WITHIN = timedelta(hours=1)  # an older entry that is not in the log is a finding
Report = dict[str, Any]
CANONICAL: Report = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
REPEATED = ("chain", "seq", "action", "at", "team", "thread", "run", "interrupt", "tool_call")
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
COUNTS = ("outside", "newer", "entries", "sealed", "erased")
gettext_noop = str  # marks the texts that the pages of Signoff translate

#: The places of findings, by code.
PLACES = {
    "log": gettext_noop("log"),
    "positions": gettext_noop("log {first} to {last}"),
    "position": gettext_noop("log {position}"),
    "blocks": gettext_noop("blocks"),
    "checkpoints": gettext_noop("checkpoints"),
    "checkpoint": gettext_noop("checkpoint of {size}"),
    "note": gettext_noop("checkpoint {text}"),
    "line": gettext_noop("entry {number} of the list"),
    "after_line": gettext_noop("after entry {number}"),
    "export": gettext_noop("export"),
    "entry": "{chain} {seq}",
    "chain": "{chain}",
    "decision": gettext_noop("decision {id}"),
    "interrupt": gettext_noop("interrupt {id}"),
    "file": gettext_noop("file {id}"),
    "policy_version": gettext_noop("policy version {id}"),
    "run": gettext_noop("run {id}"),
    "tool_call": gettext_noop("tool call {id}"),
}
#: The problems of findings, by code.
PROBLEMS = {
    # In entries
    "body_not_canonical": gettext_noop("its body is not the canonical text that was hashed"),
    "columns_differ": gettext_noop("its columns differ from its body"),
    "payload_changed": gettext_noop("its payload was changed after it was written"),
    "payload_missing": gettext_noop("its payload is missing, and no erasure is recorded"),
    "out_of_order": gettext_noop("it must come after entry {previous} of its chain"),
    "chain_broken": gettext_noop("it does not follow the previous entry of its chain"),
    "wrong_position": gettext_noop("its position in the log is not {position}"),
    "not_in_log": gettext_noop("it is not in the signed log"),
    "missing_from_log": gettext_noop("it is older than the log but missing from it"),
    "not_signed_yet": gettext_noop("it should be in the log: is the signing process running?"),
    "unusable": gettext_noop("it cannot be used: {error}"),
    # In checkpoints and exports
    "root_differs": gettext_noop("it differs from what was signed"),
    "entries_missing": gettext_noop("{size} entries were signed, but {count} exist"),
    "two_checkpoints": gettext_noop("there are two checkpoints of {size} entries"),
    "not_signed": gettext_noop("it has no signature from a trusted key"),
    "other_log": gettext_noop("it does not belong to this log: {error}"),
    "incomplete": gettext_noop("it is incomplete: {error}"),
    "newer_checkpoint": gettext_noop("{size} entries have been signed since"),
    # In a database only
    "unreadable": gettext_noop("the rest cannot be read: {error}"),
    "chain_incomplete": gettext_noop("it has missing entries"),
    "positions_missing": gettext_noop("{count} of these exist"),
    "checkpoint_missing": gettext_noop(
        "{size} entries were signed, but that checkpoint is missing"
    ),
    "never_signed": gettext_noop("entry {entry} was never signed but is in the log"),
    "blocks_differ": gettext_noop(
        "they differ from the log and are rebuilt with the next signature"
    ),
    "checkpoint_unreadable": gettext_noop(
        "entries cannot be signed: the last checkpoint cannot be read"
    ),
    "other_key": gettext_noop(
        "entries cannot be signed: the last checkpoint was signed with another key, or names one"
    ),
    "checkpoint_differs": gettext_noop(
        "entries cannot be signed: the last checkpoint does not match its contents"
    ),
    "clock_set_back": gettext_noop("its last checkpoint is in the future: the clock was set back"),
    # In the rows that entries describe
    "thread_gone": gettext_noop("its thread is missing, and no deletion is recorded"),
    "thread_not_deleted": gettext_noop("its thread exists, although its deletion is recorded"),
    "decision_not_recorded": gettext_noop("no entry records this decision"),
    "withdrawal_not_recorded": gettext_noop("no entry records its withdrawal"),
    "decision_gone": gettext_noop("the recorded decision is missing or was changed"),
    "withdrawal_gone": gettext_noop("the withdrawn decision is in force again or missing"),
    "decision_not_verified": gettext_noop("it cannot be verified: {error}"),
    "decision_differs": gettext_noop("it differs from the recorded decision"),
    "arguments_not_decided": gettext_noop("its arguments are not what was decided"),
    "arguments_not_proposed": gettext_noop("its arguments are not what was proposed"),
    "interrupt_not_recorded": gettext_noop("no entry records this interrupt"),
    "interrupt_gone": gettext_noop("the recorded interrupt is missing"),
    "file_differs": gettext_noop("its digest is not the one that a request displayed"),
    "interrupt_differs": gettext_noop("it differs from the recorded interrupt"),
    "ruling_differs": gettext_noop("its policy ruling differs from the recorded one"),
    "version_differs": gettext_noop("it differs from the recorded policy"),
    "start_not_recorded": gettext_noop("no entry records its start"),
    "result_not_recorded": gettext_noop("no entry records its result"),
    "result_gone": gettext_noop("the recorded result is missing"),
    "call_gone": gettext_noop("the recorded tool call is missing"),
    "resume_not_recorded": gettext_noop("no entry records that it was resumed"),
    "resume_gone": gettext_noop("the recorded resume is missing"),
}


class Finding(NamedTuple):
    """A problem and its place, as codes; `arguments` are the values for both texts."""

    place: str
    code: str
    arguments: dict[str, int | str]

    def report(self) -> Report:
        """Return the codes with their English texts."""
        where = PLACES[self.place].format(**self.arguments)
        problem = PROBLEMS[self.code].format(**self.arguments)
        return {"where": where[:200], "problem": problem[:200], **self._asdict()}


class Note:
    """A signed note (C2SP): origin, size, root hash, and the extension lines `time` and `next`."""

    def __init__(self, note: str) -> None:
        text, gap, signatures = note.rpartition("\n\n")
        if not gap or not signatures.endswith("\n"):
            raise ValueError("not a signed note")
        self.text, self.signatures = f"{text}\n", signatures[:-1].split("\n")
        self.origin, size, root, *extensions = text.split("\n")
        self.size, self.root = int(size), decoded(root)
        fields = dict(line.split(" ", 1) for line in extensions)
        time, self.next = fields.get("time", "2000-01-01"), fields.get("next", "")
        self.at = datetime.fromisoformat(time).astimezone(UTC)
        self.summary = {"size": self.size, "time": time, "root": self.root.hex()}


class Key:
    """A public key: `<name>+<key id>+<base64>`."""

    def __init__(self, text: str) -> None:
        self.name, hint, encoded = text.strip().split("+", 2)
        data = decoded(encoded)
        self.hint = sha(f"{self.name}\n".encode(), data)[:4]
        if data[:1] != b"\x01" or self.hint.hex() != hint:
            raise ValueError("not the public key of a transparency log")
        self.public = Ed25519PublicKey.from_public_bytes(data[1:])

    def has_signed(self, note: Note, origin: str) -> bool:
        """Return whether this key signed a note of this origin; raise on a forged signature."""
        for dash, name, encoded in (line.split(" ") for line in note.signatures):
            data = decoded(encoded)
            if (dash, name, data[:4]) == ("\u2014", self.name, self.hint):
                self.public.verify(data[4:], note.text.encode())
                return note.origin == origin
        return False


def decoded(text: str) -> bytes:
    if base64.b64encode(data := base64.b64decode(text, validate=True)).decode() != text:
        raise ValueError("not canonical base64")
    return data


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def root_by_path(leaf: bytes, place: int, size: int, path: Sequence[str]) -> bytes:
    """Return the root of a leaf and its siblings, the lowest first (RFC 6962, 2.1.1)."""
    if size == 1 and place == 0 and not path:
        return leaf
    half = 1 << (size - 1).bit_length() - 1
    *lower, sibling = path
    if place < half:
        return sha(b"\1", root_by_path(leaf, place, half, lower), bytes.fromhex(sibling))
    return sha(b"\1", bytes.fromhex(sibling), root_by_path(leaf, place - half, size - half, lower))


def columns_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that repeat values of an entry's body."""
    first, last = body.get("erases") or (None, None)
    columns = {name: body.get(name) for name in REPEATED}
    actor = {"actor_kind": body["actor"]["kind"], "actor_id": body["actor"]["id"]}
    return {**columns, **actor, "erases_from": first, "erases_to": last}


class Verifier:
    """A verification of entries in log order: of the whole log, or each with its Merkle path."""

    def __init__(self, key: Key | None, *, is_whole: bool = True, checkpoint: str = "") -> None:
        self.is_whole, self.checkpoint = is_whole, checkpoint
        self.own: Note | None = None  # the checkpoint of the entries, if it is trusted
        self.newer = self.outside = 0  # sizes of a newer checkpoint, and of one from outside
        self.entries = self.sealed = self.erased = 0
        self.findings: list[Finding] = []
        self.doubts: list[Finding] = []
        self._notes: dict[str, list[str]] = defaultdict(list)
        self._keys = [(-1, key)] if key else []  # each with the log size from which it signs
        self._first = float("inf")
        self._stack: list[tuple[int, bytes]] = []
        self._last: dict[str, tuple[int, str]] = {}
        self._missing: dict[str, list[int]] = defaultdict(list)
        self._unsealed: list[tuple[datetime, Report]] = []

    def find(self, place: str, code: str, *, sure: bool = True, **arguments: object) -> None:
        """Add a finding, or a doubt if it is not `sure`."""
        findings = self.findings if sure else self.doubts
        # In ASCII: texts of a forged log may contain control characters for terminals.
        values = {
            name: value if isinstance(value, int) else ascii(str(value))[1:-1][:200]
            for name, value in arguments.items()
        }
        finding = Finding(place, code, values)
        if len(findings) < 100 and finding not in findings:
            findings.append(finding)

    def trust(self, notes: Iterable[str], outside: Iterable[str] = ()) -> None:
        """Add checkpoints, once and before entries; `outside` are copies kept in another place."""
        # A year has a million checkpoints: check only the signatures that matter.
        self._outside_notes = dict.fromkeys(outside)
        for text in dict.fromkeys([*self._outside_notes, *notes]):
            self._notes["".join(text.split("\n", 2)[1:2])].append(text)
        sizes = sorted(self._notes, key=lambda size: (len(size), size))  # decimal numbers
        texts = [text for size in sizes for text in self._notes[size]]
        self._first = next((note.size for note in map(self._trusted, texts) if note), self._first)
        for note in map(self._trusted, [text for text in texts if "\nnext " in text]):
            if note and note.next:
                self._keys.append((note.size, Key(note.next)))
        newest = next(filter(None, map(self._trusted, reversed(texts))), None)
        self.own = own = self._trusted(self.checkpoint) if self.checkpoint else newest
        if own and newest:
            self.newer = newest.size if newest.size > own.size else 0
            self.outside = own.size if self.checkpoint in self._outside_notes else 0
            if len({n.root for n in map(self._trusted, self._notes[str(own.size)]) if n}) > 1:
                self.find("log", "two_checkpoints", size=own.size)

    def keys_at(self, size: int) -> list[Key]:
        """Return the key that signs a log of this size, and its successors."""
        return [key for _, key in self._keys[-1 - sum(size <= first for first, _ in self._keys) :]]

    def _trusted(self, text: str) -> Note | None:
        try:
            note = Note(text)
            if any(key.has_signed(note, key.name) for key in self.keys_at(note.size)[:1]):
                return note
            if note.size > self._first:  # older checkpoints may be signed by a former key
                self.find("checkpoint", "not_signed", size=note.size)
        except (*UNREADABLE, InvalidSignature) as error:
            self.find("note", "other_log", text=text[:80], error=repr(error))
        return None

    def feed(self, line: Any) -> None:
        """Check one entry, given as a line of an export."""
        self.entries += 1
        try:
            body = json.loads(line["body"])
            chain, seq, position = body["chain"], index(body["seq"]), line["position"]
            where: Report = {"chain": chain, "seq": seq}
            at = datetime.fromisoformat(body["at"]).astimezone(UTC)
            is_later = bool(self.checkpoint) and position is None  # an erasure after the checkpoint
            self._check(line, body, where, may_skip=is_later or not self.is_whole)
            if "erases" in body or is_later:
                first, last = map(index, body["erases"])
                erased = self._missing[chain]
                del erased[bisect_left(erased, first) : bisect_right(erased, min(last, seq - 1))]
            if not (own := self.own) or position is None or position >= own.size:
                self._unsealed += [(at, where)] * (not is_later)
            elif self.is_whole:
                self._check_position(position, line["hash"], where)
            else:
                leaf = sha(b"\0", bytes.fromhex(line["hash"]))
                if root_by_path(leaf, position, own.size, line["path"]) != own.root:
                    self.find("entry", "not_in_log", **where)
                self.sealed += 1
        except UNREADABLE as error:
            self.find("line", "unusable", number=self.entries, error=error)

    def _check(self, line: Mapping[str, Any], body: Any, where: Report, *, may_skip: bool) -> None:
        body_hash = sha(line["body"].encode()).hex()
        if (body_hash, line["body"]) != (line["hash"], json.dumps(body, **CANONICAL)):
            self.find("entry", "body_not_canonical", **where)
        if line["columns"] != columns_of(body):
            self.find("entry", "columns_differ", **where)
        if (payload := line["payload"]) is None:
            self._missing[body["chain"]].append(body["seq"])
            self.erased += 1
        elif body["payload"] != sha(bytes.fromhex(payload["salt"]), payload["text"].encode()).hex():
            self.find("entry", "payload_changed", **where)
        last, before = self._last.get(body["chain"], (0, "0" * 64))
        self._last[body["chain"]] = (body["seq"], line["hash"])
        if body["seq"] <= last or (body["seq"] > last + 1 and not may_skip):
            self.find("entry", "out_of_order", **where, previous=last)
        elif body["seq"] == last + 1 and body["prev"] != before:
            self.find("entry", "chain_broken", **where)

    def _check_position(self, position: int, entry_hash: str, where: Report) -> None:
        if position != self.sealed:
            self.find("entry", "wrong_position", **where, position=self.sealed)
        node, height = sha(b"\0", bytes.fromhex(entry_hash)), 0
        while self._stack and self._stack[-1][0] == height:
            node, height = sha(b"\1", self._stack.pop()[1], node), height + 1
        self._stack.append((height, node))
        self.sealed += 1
        for text in self._notes.get(str(self.sealed), ()):
            *larger, (_, root) = self._stack
            for _, left in reversed(larger):
                root = sha(b"\1", left, root)
            if text.split("\n")[2:3] == [base64.b64encode(root).decode()]:
                self.outside = self.sealed if text in self._outside_notes else self.outside
            elif (note := self._trusted(text)) and note.root != root:
                self.find("positions", "root_differs", first=0, last=self.sealed - 1)

    def report(self, now: datetime | None = None) -> Report:
        """Return the result after the last entry; `now` is the time of the database."""
        own = self.own
        if self.is_whole and own and own.size > self.sealed:
            self.find("log", "entries_missing", size=own.size, count=self.sealed)
        for chain, seq in ((chain, seq) for chain, seqs in self._missing.items() for seq in seqs):
            self.find("entry", "payload_missing", chain=chain, seq=seq)
        for at, where in self._unsealed if own else ():
            if own and (self.checkpoint or at < min(own.at, now or own.at) - SIGNED_WITHIN):
                self.find("entry", "missing_from_log", **where)
            elif now and abs(now - at) > SIGNED_WITHIN:
                self.find("entry", "not_signed_yet", sure=False, **where)
        is_trusted = own and (self.is_whole or self.sealed) and not self.doubts
        return {
            "verdict": "tampered" if self.findings else "intact" if is_trusted else "unknown",
            "checkpoint": own and own.summary,
            **{name: getattr(self, name) for name in COUNTS},
            "findings": [finding.report() for finding in self.findings],
            "doubts": [finding.report() for finding in self.doubts],
            "chains": len(self._last),
            "unsealed": self.entries - self.sealed,
        }


def verify_export(path: Path, key: Key | None, notes: list[str], *, latest: bool = False) -> Report:
    """Verify an export; with `latest`, a newer checkpoint in `notes` is a finding."""
    verifier, file_hash = Verifier(key), hashlib.sha256()
    try:
        with path.open("rb") as file:
            head = json.loads(raw := file.readline())
            verifier.is_whole, verifier.checkpoint = head["scope"] == "log", head["checkpoint"]
            verifier.trust([head["checkpoint"], *head.get("keys", ())], notes)
            for following in file:
                file_hash.update(raw)
                raw, line = following, json.loads(following)
                if "end" not in line:
                    verifier.feed(line)
        note = Note(json.loads(raw)["end"])
        if (note.size, note.root) != (verifier.entries, file_hash.digest()):
            raise ValueError("its lines are not those that were signed")
        signers = verifier.keys_at(verifier.own.size if verifier.own else 0)
        if not any(key.has_signed(note, f"{key.name}/export") for key in signers):
            verifier.find("export", "not_signed", sure=False)
    except (*UNREADABLE, InvalidSignature) as error:
        verifier.find("export", "incomplete", error=repr(error))
    if latest and verifier.newer:
        verifier.find("log", "newer_checkpoint", size=verifier.newer)
    return verifier.report()


def notes_in(path: Path) -> list[str]:
    """Return the notes of a checkpoint file; lines that are not notes are returned as text."""
    notes, lines = [], path.read_bytes().split(b"\n")
    # A line that the next one repeats was cut short by a crash.
    for line in (line for line, following in pairwise(lines) if not following.startswith(line)):
        try:
            notes.append(str(json.loads(line)["note"]))
        except UNREADABLE:
            notes.append(f"{line[:80]!r}")
    return notes


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify an exported audit trail of Signoff.")
    parser.error = lambda message: parser.exit(3, f"{message!a}\n")  # type: ignore[method-assign]
    parser.add_argument("export", type=Path)
    parser.add_argument("--key", help="the public key of the log, as published by the operator")
    parser.add_argument("--checkpoints", type=Path, help="a checkpoint file from elsewhere")
    parser.add_argument("--latest", action="store_true", help="fail if there is a newer checkpoint")
    options = parser.parse_args()
    try:
        notes = notes_in(options.checkpoints) if options.checkpoints else []
        key = options.key and Key(options.key)
        report = verify_export(options.export, key, notes, latest=options.latest)
    except (OSError, *UNREADABLE) as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return EXIT[report["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
