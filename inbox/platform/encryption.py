"""Encryption of secrets in the database, and the keys for decisions and push messages."""

import base64
import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes


class DecryptionFailed(Exception):
    """The value was encrypted under another secret key."""


def encrypt(value: Any) -> str:
    """Encrypt a JSON value under the installation's secret key."""
    return _cipher().encrypt(json.dumps(value).encode()).decode()


def decrypt(text: str) -> Any:
    """
    Decrypt a value of `encrypt`, also under a former key (`SECRET_KEY_FALLBACKS`).

    Raises:
        DecryptionFailed.
    """
    try:
        return json.loads(_cipher().decrypt(text.encode()))
    except InvalidToken as error:
        raise DecryptionFailed(
            "This value was encrypted under another secret key. Enter it again."
        ) from error


def decision_keys() -> tuple[bytes, ...]:
    """
    Return the keys that sign decisions: the first signs, the others verify older signatures.

    They are SIGNOFF_DECISION_KEYS, then those that derive from the secret keys, for decisions
    signed before the setting existed. No key is in the database, so write access to it does not
    suffice to sign.
    """
    secrets = (*settings.DECISION_KEYS, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return tuple(_derived(force_bytes(secret), b"signoff decisions") for secret in secrets)


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


def _cipher() -> MultiFernet:
    return MultiFernet(
        [_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def _fernet(secret: str | bytes) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_derived(force_bytes(secret), b"signoff sealed values")))


@lru_cache(maxsize=32)
def _derived(secret: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=purpose).derive(secret)


@lru_cache(maxsize=4)
def _push_key(text: str) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(base64.urlsafe_b64decode(f"{text}="), "big")
    return ec.derive_private_key(number, ec.SECP256R1())
