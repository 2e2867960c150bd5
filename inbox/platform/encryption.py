"""Encryption of secrets in the database, so that a backup does not reveal them."""

import base64
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
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


def _cipher() -> MultiFernet:
    return MultiFernet(
        [_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def _fernet(secret: str | bytes) -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"signoff sealed values")
    return Fernet(base64.urlsafe_b64encode(derived.derive(force_bytes(secret))))
