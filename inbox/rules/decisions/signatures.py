"""The signature of a decision: what was decided, under a key that the database does not have."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest

_VERSION = "v1"
#: Marks signatures that an upgrade has given to decisions from before there were any.
UPGRADED = "upgraded"


@dataclass(frozen=True)
class SignedDecision:
    """What the signature of a decision covers."""

    interrupt_id: UUID
    view_digest: str  #: of the interrupt as it was opened
    endpoint_digest: str  #: of where the agent was, "" for one of this installation
    status: str
    payload: str | None  #: canonical JSON text
    args_digest: str  #: of the arguments that may run after this decision, "" without a tool call
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
    """
    Raise DecisionNotVerified unless one of the keys has signed exactly this decision.
    """
    by_id: Mapping[str, bytes] = {key_id(key): key for key in keys}
    version, _, rest = signature.partition(":")
    _, _, name_and_code = rest.partition(":")
    name, _, code = name_and_code.partition(":")
    key = by_id.get(name)
    if version != _VERSION or key is None:
        raise errors.DecisionNotVerified(f"no known key has signed this decision ({name!r})")
    known = hmac.new(key, decision.text(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(known, code):
        raise errors.DecisionNotVerified("the decision is not what was signed")
