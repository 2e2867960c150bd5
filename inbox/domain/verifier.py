"""
Verify an audit log of Signoff, without Signoff: `python verifier.py EXPORT --key KEY`.

Needs Python 3.11 and `cryptography`, and trusts nothing but the public key it is given; see
docs/audit.md. Exit: 0 intact, 1 tampered (and where), 2 cannot tell, 3 usage.
"""

import argparse
import base64
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EXIT = {"intact": 0, "tampered": 1, "unknown": 2}
SEALED_WITHIN = timedelta(hours=1)  # what is older than that, and not in the log, never was
CANONICAL: dict[str, Any] = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
REPEATED = ("chain", "seq", "action", "at", "team", "thread", "run", "interrupt", "tool_call")
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)


class Note:
    """A signed note (C2SP): origin, number of entries, hash; then `time` and `next` of ours."""

    def __init__(self, note: str) -> None:
        text, gap, rest = note.rpartition("\n\n")
        if not gap or not rest.endswith("\n"):
            raise ValueError("not a signed note")
        self.text, self.signatures = f"{text}\n", rest[:-1].split("\n")
        self.origin, size, root, *more = text.split("\n")
        self.size, self.root = int(size), decoded(root)
        said = dict(line.split(" ", 1) for line in more)
        self.time, self.next = said.get("time", ""), said.get("next", "")


@dataclass(frozen=True)
class Key:
    """A public key: `<name>+<key id>+<base64>`."""

    name: str
    hint: bytes
    public: bytes

    @classmethod
    def parse(cls, text: str) -> "Key":
        name, hint, encoded = text.strip().split("+", 2)
        data = decoded(encoded)
        made = sha(f"{name}\n".encode(), data)[:4]
        if data[:1] != b"\x01" or len(data) != 33 or made.hex() != hint:
            raise ValueError("not a key of an audit log")
        return cls(name, made, data[1:])

    def check(self, note: Note, origin: str) -> None:
        """Raise LookupError unless this key has signed the note, which is to be of this origin."""
        for line in note.signatures:
            dash, name, encoded = line.split(" ")
            data = decoded(encoded)
            if (dash, name, data[:4]) == ("\u2014", self.name, self.hint):
                key = Ed25519PublicKey.from_public_bytes(self.public)
                try:
                    key.verify(data[4:], note.text.encode())
                except InvalidSignature as error:
                    raise ValueError("its signature is not right") from error
                if note.origin != origin or note.size < 0 or len(note.root) != 32:
                    raise ValueError("it is about something else")
                return
        raise LookupError("no trusted key has signed it")


def decoded(text: str) -> bytes:
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 that is written in another way")
    return data


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def root_by_path(leaf: bytes, position: int, size: int, path: Sequence[str]) -> bytes:
    """The root that a leaf has by its siblings, the lowest first (RFC 6962, 2.1.1)."""
    if size == 1 and not path:
        return leaf
    middle = 1 << (size - 1).bit_length() - 1
    *lower, sibling = path
    if position < middle:
        return sha(b"\1", root_by_path(leaf, position, middle, lower), bytes.fromhex(sibling))
    rest = root_by_path(leaf, position - middle, size - middle, lower)
    return sha(b"\1", bytes.fromhex(sibling), rest)


def columns_of(said: Mapping[str, Any]) -> dict[str, Any]:
    """What the columns of an entry repeat of its body."""
    first, last = said.get("erases") or (None, None)
    who = {"actor_kind": said["actor"]["kind"], "actor_id": said["actor"]["id"]}
    what = {name: said.get(name) for name in REPEATED}
    return {**what, **who, "erases_from": first, "erases_to": last}


@dataclass
class Verifier:
    """
    Reads entries in the order of the log, those that are not in it yet last.

    Unless `is_whole`, each of them brings its path to the root of the `checkpoint`.
    """

    key: Key | None
    is_whole: bool = True
    checkpoint: Note | None = None
    entries: int = 0
    sealed: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)
    _trusted: dict[int, Note] = field(default_factory=dict)
    _stack: list[tuple[int, bytes]] = field(default_factory=list)
    _last: dict[str, tuple[int, str]] = field(default_factory=dict)
    _missing: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _erasures: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    _unsealed: list[tuple[datetime, str]] = field(default_factory=list)

    def find(self, where: str, problem: str) -> None:
        if len(self.findings) < 100:
            self.findings.append({"where": where, "problem": problem})

    def trust(self, notes: Iterable[str]) -> None:
        """Take checkpoints, from wherever they were kept, as far as the key vouches for them."""
        found: list[Note] = []
        for number, text in enumerate(dict.fromkeys(notes), start=1):
            try:
                found.append(Note(text))
            except UNREADABLE as error:
                self.find(f"checkpoint {number}", f"it is none: {error}")
        for note in sorted(found, key=lambda one: one.size) if self.key else ():
            try:
                self.key.check(note, self.key.name)  # type: ignore[union-attr]
                if self._trusted.setdefault(note.size, note).root != note.root:
                    raise ValueError("another one of this size has another root")
                self.key = Key.parse(note.next) if note.next else self.key
            except LookupError as error:
                if self._trusted:  # only before the first one may another key have signed
                    self.find(f"checkpoint of {note.size}", str(error))
            except UNREADABLE as error:
                self.find(f"checkpoint of {note.size}", f"it is none of this log: {error}")

    def feed(self, line: Any) -> None:
        """Check one entry, as a line of an export has it."""
        self.entries += 1
        try:
            said = json.loads(line["body"])
            where = f"{said['chain']} {said['seq']}"
            self._check_body(line, said, where)
            self._check_chain(said["chain"], said["seq"], said["prev"], line["hash"], where)
            if "erases" in said:
                first, last = said["erases"]
                self._erasures[said["chain"]].append((first, min(last, said["seq"] - 1)))
            if line["position"] is None:
                self._unsealed.append((datetime.fromisoformat(said["at"]), where))
            elif self.is_whole:
                self._check_place(line["position"], line["hash"], where)
            else:
                self._check_path(line["position"], line["hash"], line["path"])
        except UNREADABLE as error:
            self.find(f"entry {self.entries} of the list", f"it cannot be taken: {error}")

    def _check_body(self, line: Mapping[str, Any], said: Any, where: str) -> None:
        if sha(line["body"].encode()).hex() != line["hash"]:
            self.find(where, "its body is not the one that was hashed")
        if json.dumps(said, **CANONICAL) != line["body"]:
            self.find(where, "its body is not canonical")
        if line["columns"] != columns_of(said):
            self.find(where, "its columns are not what its body says")
        if (payload := line["payload"]) is None:
            self._missing[said["chain"]].append(said["seq"])
        elif said["payload"] != sha(bytes.fromhex(payload["salt"]), payload["text"].encode()).hex():
            self.find(where, "its payload is not the one it was written with")

    def _check_chain(self, chain: str, seq: int, prev: str, own: str, where: str) -> None:
        last, before = self._last.get(chain, (0, "0" * 64))
        self._last[chain] = (seq, own)
        if seq != last + 1:
            if self.is_whole or last or seq < 1:
                self.find(where, f"entry {last} of its chain comes before it")
        elif prev != before:
            self.find(where, "the entry before it in its chain is not the one it follows")

    def _check_place(self, position: int, own: str, where: str) -> None:
        if position != self.sealed or self._unsealed:
            self.find(where, f"its position in the log is not {self.sealed}")
        node, height = sha(b"\0", bytes.fromhex(own)), 0
        while self._stack and self._stack[-1][0] == height:
            node, height = sha(b"\1", self._stack.pop()[1], node), height + 1
        self._stack.append((height, node))
        self.sealed += 1
        if (note := self._trusted.get(self.sealed)) is not None:
            *larger, (_, root) = self._stack
            for _, left in reversed(larger):
                root = sha(b"\1", left, root)
            if root != note.root:
                self.find(f"log 0 to {self.sealed - 1}", "it is not what was signed")

    def _check_path(self, position: int, own: str, path: Sequence[str]) -> None:
        note = self.checkpoint
        if note is not None and note.size in self._trusted:
            root = root_by_path(sha(b"\0", bytes.fromhex(own)), position, note.size, path)
            if root != note.root or not 0 <= position < note.size:
                raise ValueError("it is not in the log that was signed")
            self.sealed += 1

    def report(self) -> dict[str, Any]:
        """What was found, once everything is read."""
        newest = self._trusted[max(self._trusted)] if self._trusted else None
        if self.is_whole and newest and newest.size > self.sealed:
            self.find("log", f"{newest.size} entries were signed, {self.sealed} are there")
        for chain, seqs in self._missing.items():
            ranges = self._erasures[chain]
            for seq in (one for one in seqs if not any(a <= one <= b for a, b in ranges)):
                self.find(f"{chain} {seq}", "its payload is gone, and nothing says why")
        for at, where in self._unsealed:
            if newest and at < datetime.fromisoformat(newest.time) - SEALED_WITHIN:
                self.find(where, "it is older than the log, and not in it")
        is_vouched_for = newest and (self.is_whole or self.sealed)
        return {
            "verdict": "tampered" if self.findings else "intact" if is_vouched_for else "unknown",
            "checkpoint": {"size": newest.size, "time": newest.time} if newest else None,
            "entries": self.entries,
            "chains": len(self._last),
            "sealed": self.sealed,
            "unsealed": len(self._unsealed),
            "erased": sum(map(len, self._missing.values())),
            "findings": self.findings,
        }


def verify_export(path: Path, key: Key | None, checkpoints: Iterable[str]) -> dict[str, Any]:
    """Verify a file of lines of JSON: a head, the entries, and a signed note about all of these."""
    verifier, whole = Verifier(key), hashlib.sha256()
    try:
        with path.open("rb") as file:
            head = json.loads(raw := file.readline())
            verifier.is_whole, verifier.checkpoint = (
                head["scope"] == "log",
                Note(head["checkpoint"]),
            )
            verifier.trust([*checkpoints, head["checkpoint"]])
            for following in file:
                whole.update(raw)
                raw, line = following, json.loads(following)
                if "end" not in line:
                    verifier.feed(line)
        note = Note(json.loads(raw)["end"])
        if verifier.key is not None:
            verifier.key.check(note, f"{verifier.key.name}/export")
        if (note.size, note.root) != (verifier.entries, whole.digest()):
            raise ValueError("its lines are not those that were signed")
    except UNREADABLE as error:
        verifier.find("export", f"it is not whole: {error}")
    return verifier.report()


def notes_in(path: Path) -> list[str]:
    """The notes of a file of checkpoints, one a line, without those that were cut short."""
    lines = path.read_bytes().split(b"\n")
    return [
        json.loads(line)["note"] for line, after in pairwise(lines) if not after.startswith(line)
    ]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(3, f"{self.format_usage()}{message}\n")


def main() -> int:
    parser = Parser(description="Verify an exported audit log of Signoff.")
    parser.add_argument("export", type=Path)
    parser.add_argument("--key", help="the public key of the log, as the operator published it")
    parser.add_argument("--checkpoints", type=Path, help="a file that the log cannot change")
    given = parser.parse_args()
    try:
        key = Key.parse(given.key) if given.key else None
        notes = notes_in(given.checkpoints) if given.checkpoints else []
        report = verify_export(given.export, key, notes)
    except (OSError, *UNREADABLE) as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return EXIT[report["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
