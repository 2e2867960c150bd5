"""Encryption of secrets in the database, and the keys for decisions and push messages."""

import base64
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

#: A Fernet token, with the id of its key in front of it since keys have ids.
_TOKEN = re.compile(r"(?:(?P<key_id>[0-9a-f]{8}):)?(?P<token>gAAAA[\w-]+=*)")


class DecryptionFailed(Exception):
    """The value was encrypted under a key that this installation does not have."""


@dataclass(frozen=True)
class KeySetting:
    """A key that decrypts stored secrets, and the setting that has it."""

    setting: str
    number: int  #: of the key in the setting, from 1
    secret: str = field(repr=False)

    @property
    def id(self) -> str:
        """The short public name of the key, which values that it encrypts begin with."""
        return _derived(force_bytes(self.secret), b"signoff key id").hex()[:8]

    @property
    def cipher(self) -> Fernet:
        derived = _derived(force_bytes(self.secret), b"signoff sealed values")
        return Fernet(base64.urlsafe_b64encode(derived))


def configured_keys() -> list[KeySetting]:
    """
    Return the keys that decrypt stored secrets; the first encrypts.

    The keys that sign sessions come last: before SIGNOFF_ENCRYPTION_KEYS existed, they encrypted.
    """
    return [*_keys("SIGNOFF_ENCRYPTION_KEYS", settings.ENCRYPTION_KEYS), *session_keys()]


def session_keys() -> list[KeySetting]:
    """Return the keys that verify sessions and links; the first signs."""
    return [
        *_keys("SIGNOFF_SECRET_KEY", [settings.SECRET_KEY]),
        *_keys("SIGNOFF_SECRET_KEY_FALLBACKS", settings.SECRET_KEY_FALLBACKS),
    ]


def _keys(setting: str, secrets: Sequence[str]) -> list[KeySetting]:
    return [KeySetting(setting, number, secret) for number, secret in enumerate(secrets, 1)]


def encrypt(value: Any) -> str:
    """Encrypt a JSON value under the first key; the result begins with the id of the key."""
    key = configured_keys()[0]
    return f"{key.id}:{key.cipher.encrypt(json.dumps(value).encode()).decode()}"


def decrypt(text: str) -> Any:
    """
    Decrypt a value of `encrypt`, also one that was encrypted before keys had ids.

    Raises:
        DecryptionFailed.
    """
    return json.loads(_decrypted(text)[1])


def is_encrypted(text: str) -> bool:
    """Return whether a text has the form of an encrypted value."""
    return _TOKEN.fullmatch(text) is not None


def key_of(text: str) -> KeySetting:
    """
    Return the key that a value was encrypted with.

    Raises:
        DecryptionFailed: the installation does not have the key.
    """
    return _decrypted(text)[0]


def re_encrypt(text: str) -> str:
    """
    Encrypt a value under the first key, unless it is already.

    Raises:
        DecryptionFailed.
    """
    _, content = _decrypted(text)
    first = configured_keys()[0]
    if text.startswith(f"{first.id}:"):
        return text
    return f"{first.id}:{first.cipher.encrypt(content).decode()}"


def _decrypted(text: str) -> tuple[KeySetting, bytes]:
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise DecryptionFailed("This value is not encrypted, or was cut off.")
    key_id, token = match["key_id"], match["token"].encode()
    for key in configured_keys():
        if key_id in (None, key.id):
            with suppress(InvalidToken):
                return key, key.cipher.decrypt(token)
    raise DecryptionFailed(
        f"This value was encrypted under another key ({key_id or 'without an id'}). Enter it again."
    )


def decision_keys() -> tuple[bytes, ...]:
    """
    Return the keys that sign decisions: the first signs, the others verify older signatures.

    They are SIGNOFF_DECISION_KEYS, then those that derive from the secret keys, for decisions
    signed before the setting existed. No key is in the database, so write access to it does not
    suffice to sign.
    """
    secrets = (*settings.DECISION_KEYS, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return tuple(map(decision_key_of, secrets))


def decision_key_of(secret: str) -> bytes:
    """Return the key of decision signatures that derives from a setting."""
    return _derived(force_bytes(secret), b"signoff decisions")


def is_push_on() -> bool:
    """Return whether the installation has a key for push services (VAPID, RFC 8292)."""
    return bool(settings.VAPID_KEY)


def push_public_key() -> str:
    """Return the key that browsers subscribe with, in base64url; "" without push."""
    if not is_push_on():
        return ""
    point = (
        _push_key(settings.VAPID_KEY)
        .public_key()
        .public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    )
    return base64.urlsafe_b64encode(point).decode().rstrip("=")


def push_pem_keys() -> tuple[bytes, bytes]:
    """Return the private and the public key as PEM; call it only if push is on."""
    key = _push_key(settings.VAPID_KEY)
    return (
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    )


@lru_cache(maxsize=32)
def _derived(secret: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=purpose).derive(secret)


@lru_cache(maxsize=4)
def _push_key(text: str) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(base64.urlsafe_b64decode(f"{text}="), "big")
    return ec.derive_private_key(number, ec.SECP256R1())
