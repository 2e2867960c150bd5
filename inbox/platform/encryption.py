"""Values that are kept encrypted: whoever reads a backup does not get the secrets of others."""

import base64
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes


class Unreadable(Exception):
    """The value was sealed under another secret key."""


def seal(value: Any) -> str:
    """Encrypt a JSON value under the installation's secret key."""
    return _box().encrypt(json.dumps(value).encode()).decode()


def unseal(text: str) -> Any:
    """
    Read what `seal` wrote, also under a former key (`SECRET_KEY_FALLBACKS`).

    Raises:
        Unreadable.
    """
    try:
        return json.loads(_box().decrypt(text.encode()))
    except InvalidToken as error:
        raise Unreadable("This was sealed under another secret key; set it again.") from error


def _box() -> MultiFernet:
    return MultiFernet(
        [_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def _fernet(secret: str | bytes) -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"signoff sealed values")
    return Fernet(base64.urlsafe_b64encode(derived.derive(force_bytes(secret))))
