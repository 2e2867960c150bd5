"""
Checkpoints of the log as signed notes (C2SP: tlog-checkpoint and signed-note), by Ed25519.

A note is a text, an empty line, and a line for each signature. The text has the name of the log,
the number of entries and their root, then two extension lines of ours: `time`, and `next` with the
key that signs from then on.
"""

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from inbox.rules.audit.audit_entry import format_time

_ED25519 = b"\x01"
_PRIVATE = "PRIVATE+KEY"
_NO_KEY = "This is no key that signs checkpoints."


@dataclass(frozen=True)
class SigningKey:
    """A key that signs checkpoints, under the name of the log."""

    name: str
    seed: bytes

    @classmethod
    def new(cls, name: str) -> "SigningKey":
        return cls(name, Ed25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def from_text(cls, text: str) -> "SigningKey":
        """
        Read `PRIVATE+KEY+<name>+<key id>+<key>`.

        Raises:
            ValueError.
        """
        try:
            private, word, name, hint, encoded = text.strip().split("+", 4)
            data = base64.b64decode(encoded, validate=True)
            key = cls(name, data[1:])
            has_key_format = f"{private}+{word}" == _PRIVATE and data[:1] == _ED25519
            if has_key_format and len(key.seed) == 32 and key.key_id.hex() == hint:
                return key
        except ValueError as error:
            raise ValueError(_NO_KEY) from error
        raise ValueError(_NO_KEY)

    def to_text(self) -> str:
        encoded = base64.b64encode(_ED25519 + self.seed).decode()
        return f"{_PRIVATE}+{self.name}+{self.key_id.hex()}+{encoded}"

    @property
    def public(self) -> bytes:
        key = Ed25519PrivateKey.from_private_bytes(self.seed).public_key()
        return key.public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def key_id(self) -> bytes:
        return key_id(self.name, self.public)

    @property
    def verifier(self) -> str:
        """Return the public key in the format for auditors: `<name>+<key id>+<key>`."""
        encoded = base64.b64encode(_ED25519 + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{encoded}"

    def has_signed(self, note: str) -> bool:
        """Return True if a note of ours has this key's signature."""
        text = note.rpartition("\n\n")[0] + "\n"
        return self.sign(text) in note

    def sign(self, text: str) -> str:
        """Return the signature line of a text."""
        key = Ed25519PrivateKey.from_private_bytes(self.seed)
        signature = base64.b64encode(self.key_id + key.sign(text.encode())).decode()
        return f"\u2014 {self.name} {signature}\n"


@dataclass(frozen=True)
class ParsedCheckpoint:
    """The fields of a checkpoint."""

    size: int
    root: bytes
    next: str  #: the public key that signs from here on, "" if it stays the same


def read_checkpoint(note: str) -> ParsedCheckpoint:
    """Parse a checkpoint without verifying it; raise ValueError if it is malformed."""
    _, size, root, *more = note.partition("\n\n")[0].split("\n")
    following = [line.removeprefix("next ") for line in more if line.startswith("next ")]
    return ParsedCheckpoint(int(size), base64.b64decode(root), following[0] if following else "")


def signed_export(*, entries: int, digest: bytes, key: SigningKey) -> str:
    """Return the signed note of an export: the number of entries, the sha256 of its lines."""
    text = f"{key.name}/export\n{entries}\n{base64.b64encode(digest).decode()}\n"
    return f"{text}\n{key.sign(text)}"


def key_id(name: str, public: bytes) -> bytes:
    """Return four bytes that identify a key of the log."""
    return hashlib.sha256(f"{name}\n".encode() + _ED25519 + public).digest()[:4]


def checkpoint(
    *, size: int, root: bytes, at: datetime, key: SigningKey, next_key: SigningKey | None = None
) -> str:
    """Return the signed note of a checkpoint, also signed by `next_key` on key rotation."""
    lines = [key.name, str(size), base64.b64encode(root).decode(), f"time {format_time(at)}"]
    if next_key is not None:
        lines.append(f"next {next_key.verifier}")
    text = "".join(f"{line}\n" for line in lines)
    return f"{text}\n{key.sign(text)}{next_key.sign(text) if next_key else ''}"
