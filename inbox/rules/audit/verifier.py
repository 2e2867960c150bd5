"""
Verify an audit log of Signoff (docs/audit.md), without it: `python verifier.py EXPORT --key KEY`.

Needs Python 3.11 and `cryptography`. Exit: 0 intact, 1 tampered, 2 cannot tell, 3 usage.
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
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EXIT = {"intact": 0, "tampered": 1, "unknown": 2}
SEALED_WITHIN = timedelta(hours=1)  # what is older than that, and not in the log, never was
Report = dict[str, Any]
CANONICAL: Report = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
REPEATED = ("chain", "seq", "action", "at", "team", "thread", "run", "interrupt", "tool_call")
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
TOLD = ("outside", "newer", "entries", "sealed", "erased", "findings", "doubts")


class Note:
    """A signed note (C2SP): origin, number of entries, hash; then `time` and `next` of ours."""

    def __init__(self, note: str) -> None:
        text, gap, rest = note.rpartition("\n\n")
        if not gap or not rest.endswith("\n"):
            raise ValueError("not a signed note")
        self.text, self.signatures = f"{text}\n", rest[:-1].split("\n")
        self.origin, size, root, *more = text.split("\n")
        self.size, self.root = int(size), decoded(root)
        said = {"time": "2000-01-01", "next": "", **dict(line.split(" ", 1) for line in more)}
        self.at, self.next = datetime.fromisoformat(said["time"]).astimezone(UTC), said["next"]
        self.said = {"size": self.size, "time": said["time"], "root": self.root.hex()}


class Key:
    """A public key: `<name>+<key id>+<base64>`."""

    def __init__(self, text: str) -> None:
        self.name, hint, encoded = text.strip().split("+", 2)
        data = decoded(encoded)
        self.hint = sha(f"{self.name}\n".encode(), data)[:4]
        if data[:1] != b"\x01" or self.hint.hex() != hint:
            raise ValueError("not a key of an audit log")
        self.public = Ed25519PublicKey.from_public_bytes(data[1:])

    def has_signed(self, note: Note, origin: str) -> bool:
        """Whether this key signed the note, which is of this origin; raise if that is forged."""
        for dash, name, encoded in (line.split(" ") for line in note.signatures):
            data = decoded(encoded)
            if (dash, name, data[:4]) == ("\u2014", self.name, self.hint):
                self.public.verify(data[4:], note.text.encode())
                return note.origin == origin
        return False


def decoded(text: str) -> bytes:
    if base64.b64encode(data := base64.b64decode(text, validate=True)).decode() != text:
        raise ValueError("base64 that is written in another way")
    return data


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def root_by_path(leaf: bytes, place: int, size: int, path: Sequence[str]) -> bytes:
    """The root that a leaf has by its siblings, the lowest first (RFC 6962, 2.1.1)."""
    if size == 1 and place == 0 and not path:
        return leaf
    half = 1 << (size - 1).bit_length() - 1
    *lower, sibling = path
    if place < half:
        return sha(b"\1", root_by_path(leaf, place, half, lower), bytes.fromhex(sibling))
    return sha(b"\1", bytes.fromhex(sibling), root_by_path(leaf, place - half, size - half, lower))


def columns_of(said: Mapping[str, Any]) -> dict[str, Any]:
    """What the columns of an entry repeat of its body."""
    first, last = said.get("erases") or (None, None)
    who = {"actor_kind": said["actor"]["kind"], "actor_id": said["actor"]["id"]}
    what = {name: said.get(name) for name in REPEATED}
    return {**what, **who, "erases_from": first, "erases_to": last}


class Verifier:
    """Reads entries in the order of the log, each with its path to the root or `is_whole`."""

    def __init__(self, key: Key | None, *, is_whole: bool = True, checkpoint: str = "") -> None:
        self.is_whole, self.checkpoint = is_whole, checkpoint
        self.own: Note | None = None  # the checkpoint that it rests on, if that can be trusted
        self.newer = self.outside = 0  # what checkpoints count that are newer, or kept outside
        self.entries = self.sealed = self.erased = 0
        self.findings: list[dict[str, str]] = []
        self.doubts: list[dict[str, str]] = []
        self._notes: dict[str, list[str]] = defaultdict(list)
        self._keys = [(-1, key)] if key else []  # each with the size behind which it signs
        self._first = float("inf")
        self._stack: list[tuple[int, bytes]] = []
        self._last: dict[str, tuple[int, str]] = {}
        self._missing: dict[str, list[int]] = defaultdict(list)
        self._unsealed: list[tuple[datetime, str]] = []

    def find(self, where: str, problem: str, *, sure: bool = True) -> None:
        found = self.findings if sure else self.doubts
        # In ASCII: whoever wrote the log may have had the terminal in mind that shows it.
        said = {"where": ascii(where)[1:-1][:200], "problem": ascii(problem)[1:-1][:200]}
        if len(found) < 100 and said not in found:
            found.append(said)

    def trust(self, notes: Iterable[str], outside: Iterable[str] = ()) -> None:
        """Take checkpoints, once and before entries; `outside` are those of another place."""
        # A year has a million, whose signatures take minutes: only those that decide are checked.
        self._kept = dict.fromkeys(outside)
        for text in dict.fromkeys([*self._kept, *notes]):
            self._notes["".join(text.split("\n", 2)[1:2])].append(text)
        sizes = sorted(self._notes, key=lambda size: (len(size), size))  # they are decimal numbers
        texts = [text for size in sizes for text in self._notes[size]]
        self._first = next((one.size for one in map(self._vouched, texts) if one), self._first)
        for note in map(self._vouched, [text for text in texts if "\nnext " in text]):
            if note and note.next:
                self._keys.append((note.size, Key(note.next)))
        newest = next(filter(None, map(self._vouched, reversed(texts))), None)
        self.own = own = self._vouched(self.checkpoint) if self.checkpoint else newest
        if own and newest:
            self.newer = newest.size if newest.size > own.size else 0
            self.outside = own.size if self.checkpoint in self._kept else 0
            if len({n.root for n in map(self._vouched, self._notes[str(own.size)]) if n}) > 1:
                self.find("log", f"there are two checkpoints of {own.size} entries")

    def keys_at(self, size: int) -> list[Key]:
        """The key that signs a log of this size, and those that follow it."""
        return [key for _, key in self._keys[-1 - sum(size <= first for first, _ in self._keys) :]]

    def _vouched(self, text: str) -> Note | None:
        try:
            note = Note(text)
            if any(key.has_signed(note, key.name) for key in self.keys_at(note.size)[:1]):
                return note
            if note.size > self._first:  # before the first one, another key may have signed
                self.find(f"checkpoint of {note.size}", "no trusted key has signed it")
        except (*UNREADABLE, InvalidSignature) as error:
            self.find(f"checkpoint {text[:80]}", f"it is none of this log: {error!r}")
        return None

    def feed(self, line: Any) -> None:
        """Check one entry, as a line of an export has it."""
        self.entries += 1
        try:
            said = json.loads(line["body"])
            chain, seq, position = said["chain"], index(said["seq"]), line["position"]
            where, at = f"{chain} {seq}", datetime.fromisoformat(said["at"]).astimezone(UTC)
            is_behind = bool(self.checkpoint) and position is None  # tells what was erased since
            self._check(line, said, where, skips=is_behind or not self.is_whole)
            if "erases" in said or is_behind:
                first, last = map(index, said["erases"])
                gone = self._missing[chain]
                del gone[bisect_left(gone, first) : bisect_right(gone, min(last, seq - 1))]
            if not (own := self.own) or position is None or position >= own.size:
                self._unsealed += [(at, where)] * (not is_behind)
            elif self.is_whole:
                self._check_place(position, line["hash"], where)
            else:
                leaf = sha(b"\0", bytes.fromhex(line["hash"]))
                if root_by_path(leaf, position, own.size, line["path"]) != own.root:
                    self.find(where, "it is not in the log that was signed")
                self.sealed += 1
        except UNREADABLE as error:
            self.find(f"entry {self.entries} of the list", f"it cannot be taken: {error}")

    def _check(self, line: Mapping[str, Any], said: Any, where: str, *, skips: bool) -> None:
        if [sha(line["body"].encode()).hex(), line["body"]] != [
            line["hash"],
            json.dumps(said, **CANONICAL),
        ]:
            self.find(where, "its body is not the canonical text that was hashed")
        if line["columns"] != columns_of(said):
            self.find(where, "its columns are not what its body says")
        if (payload := line["payload"]) is None:
            self._missing[said["chain"]].append(said["seq"])
            self.erased += 1
        elif said["payload"] != sha(bytes.fromhex(payload["salt"]), payload["text"].encode()).hex():
            self.find(where, "its payload is not the one it was written with")
        last, before = self._last.get(said["chain"], (0, "0" * 64))
        self._last[said["chain"]] = (said["seq"], line["hash"])
        if said["seq"] <= last or (said["seq"] > last + 1 and not skips):
            self.find(where, f"entry {last} of its chain comes before it")
        elif said["seq"] == last + 1 and said["prev"] != before:
            self.find(where, "the entry before it in its chain is not the one it follows")

    def _check_place(self, position: int, own: str, where: str) -> None:
        if position != self.sealed:
            self.find(where, f"its position in the log is not {self.sealed}")
        node, height = sha(b"\0", bytes.fromhex(own)), 0
        while self._stack and self._stack[-1][0] == height:
            node, height = sha(b"\1", self._stack.pop()[1], node), height + 1
        self._stack.append((height, node))
        self.sealed += 1
        for text in self._notes.get(str(self.sealed), ()):
            *larger, (_, root) = self._stack
            for _, left in reversed(larger):
                root = sha(b"\1", left, root)
            if text.split("\n")[2:3] == [base64.b64encode(root).decode()]:
                self.outside = self.sealed if text in self._kept else self.outside
            elif (note := self._vouched(text)) and note.root != root:
                self.find(f"log 0 to {self.sealed - 1}", "it is not what was signed")

    def report(self, now: datetime | None = None) -> Report:
        """What was found, once everything is read; `now` is the time of the database."""
        own = self.own
        if self.is_whole and own and own.size > self.sealed:
            self.find("log", f"{own.size} entries were signed, {self.sealed} are there")
        for where in (f"{chain} {seq}" for chain, gone in self._missing.items() for seq in gone):
            self.find(where, "its payload is gone, and nothing says why")
        for at, where in self._unsealed if own else ():
            if own and (self.checkpoint or at < min(own.at, now or own.at) - SEALED_WITHIN):
                self.find(where, "it is older than the log, and not in it")
            elif now and abs(now - at) > SEALED_WITHIN:
                self.find(where, "it should be in the log: is that still sealed?", sure=False)
        is_vouched_for = own and (self.is_whole or self.sealed) and not self.doubts
        return {
            "verdict": "tampered" if self.findings else "intact" if is_vouched_for else "unknown",
            "checkpoint": own and own.said,
            **{name: getattr(self, name) for name in TOLD},
            "chains": len(self._last),
            "unsealed": self.entries - self.sealed,
        }


def verify_export(path: Path, key: Key | None, notes: list[str], *, latest: bool = False) -> Report:
    """Verify a file of lines: a head, entries, a note about all; `latest`: none is to be newer."""
    verifier, whole = Verifier(key), hashlib.sha256()
    try:
        with path.open("rb") as file:
            head = json.loads(raw := file.readline())
            verifier.is_whole, verifier.checkpoint = head["scope"] == "log", head["checkpoint"]
            verifier.trust([head["checkpoint"], *head.get("keys", ())], notes)
            for following in file:
                whole.update(raw)
                raw, line = following, json.loads(following)
                if "end" not in line:
                    verifier.feed(line)
        note = Note(json.loads(raw)["end"])
        if (note.size, note.root) != (verifier.entries, whole.digest()):
            raise ValueError("its lines are not those that were signed")
        signers = verifier.keys_at(verifier.own.size if verifier.own else 0)
        if not any(key.has_signed(note, f"{key.name}/export") for key in signers):
            verifier.find("export", "no trusted key has signed it", sure=False)
    except (*UNREADABLE, InvalidSignature) as error:
        verifier.find("export", f"it is not whole: {error!r}")
    if latest and verifier.newer:
        verifier.find("log", f"{verifier.newer} entries were signed by now")
    return verifier.report()


def notes_in(path: Path) -> list[str]:
    """The notes of a file of checkpoints, one a line, but those cut short; and what is no note."""
    notes, lines = [], path.read_bytes().split(b"\n")
    for line in (one for one, after in pairwise(lines) if not after.startswith(one)):
        try:
            notes.append(str(json.loads(line)["note"]))
        except UNREADABLE:
            notes.append(f"{line[:80]!r}")
    return notes


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify an exported audit log of Signoff.")
    parser.error = lambda message: parser.exit(3, f"{message!a}\n")  # type: ignore[method-assign]
    parser.add_argument("export", type=Path)
    parser.add_argument("--key", help="the public key of the log, as the operator published it")
    parser.add_argument("--checkpoints", type=Path, help="a file that the log cannot change")
    parser.add_argument("--latest", action="store_true", help="no checkpoint is to be newer")
    given = parser.parse_args()
    try:
        notes = notes_in(given.checkpoints) if given.checkpoints else []
        key = given.key and Key(given.key)
        report = verify_export(given.export, key, notes, latest=given.latest)
    except (OSError, *UNREADABLE) as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return EXIT[report["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
