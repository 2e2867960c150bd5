"""Push subscriptions of browsers: the address and keys that a browser sends (RFC 8030, 8291)."""

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec

from agents.adapters.remote.allowed_addresses import AllowedHosts, is_private_literal
from inbox.rules.errors import raise_for
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.outgoing_urls import url_problem

MAX_BROWSERS: Final = 10  #: of a person
#: Of a key in base64url: 65 bytes are 87 characters.
MAX_KEY_CHARACTERS: Final = 100
_AUTH_BYTES: Final = 16
_BASE64URL = re.compile("[A-Za-z0-9_-]+={0,2}")


@dataclass(frozen=True)
class PushSubscription:
    """The endpoint of a browser at its push service, and the keys for messages to it."""

    endpoint: str
    p256dh: str  #: a point of P-256, in base64url
    auth: str  #: 16 bytes, in base64url

    @property
    def digest(self) -> str:
        """The same for the same browser, as long as it has this endpoint."""
        return digest_of(self.endpoint)


def digest_of(endpoint: str) -> str:
    return hashlib.sha256(endpoint.encode()).hexdigest()


def check_push_subscription(subscription: PushSubscription, hosts: AllowedHosts) -> None:
    """
    Raise unless messages can be sent to a browser.

    Raises:
        InvalidValue: with all `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}
    problem = _endpoint_problem(subscription.endpoint, hosts)
    if problem is not None:
        problems["endpoint"] = [problem]
    if not _is_point(_decode(subscription.p256dh)):
        text = TranslatableMessage("This must be a point of P-256: 65 bytes in base64url.")
        problems["p256dh"] = [text]
    if len(_decode(subscription.auth)) != _AUTH_BYTES:
        problems["auth"] = [TranslatableMessage("This must be 16 bytes in base64url.")]
    raise_for(problems)


def _endpoint_problem(endpoint: str, hosts: AllowedHosts) -> TranslatableMessage | None:
    problem = url_problem(endpoint, hosts)
    if problem is not None or hosts.is_private(endpoint):
        return problem
    if is_private_literal(urlsplit(endpoint).hostname or ""):
        return TranslatableMessage("The URL points to a private network.")
    return None


def _decode(text: str) -> bytes:
    """Return the bytes of a base64url text, with or without padding; none if it is invalid."""
    if not _BASE64URL.fullmatch(text):
        return b""
    text = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""


def _is_point(key: bytes) -> bool:
    # Compressed points are valid, too, but RFC 8291 has none.
    if len(key) != 65:
        return False
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
    except ValueError:
        return False
    return True
