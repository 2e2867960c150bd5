"""Signatures of decisions: an HMAC under a key that is not in the database."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest

_VERSION = "v1"
#: Marks signatures that an upgrade added to older decisions.
UPGRADED = "upgraded"


@dataclass(frozen=True)
class SignedDecision:
    """The fields of a decision that its signature covers."""

    interrupt_id: UUID
    view_digest: str  #: of the interrupt when it was created
    endpoint_digest: str  #: of a remote agent, else ""
    status: str
    payload: str | None  #: canonical JSON text
    args_digest: str  #: of the arguments that may be executed, "" without a tool call
    actor: str
    decided_at: datetime

    def text(self) -> bytes:
        return canonical_json(
            [
                str(self.interrupt_id),
                self.view_digest,
                self.endpoint_digest,
                self.status,
                None if self.payload is None else digest(self.payload),
                self.args_digest,
                self.actor,
                self.decided_at.astimezone(UTC).isoformat(timespec="microseconds"),
            ]
        ).encode()


def key_id(key: bytes) -> str:
    """Return the short public name of a key."""
    return hashlib.sha256(b"key id" + key).hexdigest()[:8]


def sign(decision: SignedDecision, key: bytes, *, upgraded: bool = False) -> str:
    """Return the signature: its version, a mark, the key's id and an HMAC-SHA256."""
    code = hmac.new(key, decision.text(), hashlib.sha256).hexdigest()
    mark = UPGRADED if upgraded else ""
    return f"{_VERSION}:{mark}:{key_id(key)}:{code}"


def check_signature(decision: SignedDecision, signature: str, keys: Sequence[bytes]) -> None:
    """Raise DecisionNotVerified unless one of the keys has signed exactly this decision."""
    by_id: Mapping[str, bytes] = {key_id(key): key for key in keys}
    version, _, name, code = [*signature.split(":", 3), "", "", ""][:4]
    key = by_id.get(name)
    if version != _VERSION or key is None:
        raise errors.DecisionNotVerified(
            f"The signing key {name!r} of this decision is not configured."
        )
    expected = hmac.new(key, decision.text(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, code):
        raise errors.DecisionNotVerified("The signature of the decision does not match.")
