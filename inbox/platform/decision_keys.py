"""Keys that sign decisions: the first signs, the others verify older signatures."""

from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes


def decision_keys() -> tuple[bytes, ...]:
    """
    Return the keys of SIGNOFF_DECISION_KEYS, then those that derive from the secret keys.

    The latter verify decisions signed before SIGNOFF_DECISION_KEYS was set. No key is in the
    database, so write access to it does not suffice to sign.
    """
    secrets = (*settings.DECISION_KEYS, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return tuple(_derived(force_bytes(secret)) for secret in secrets)


@lru_cache(maxsize=16)
def _derived(secret: bytes) -> bytes:
    # Derive separate keys per purpose.
    hkdf = HKDF(SHA256(), length=32, salt=None, info=b"signoff decisions")
    return hkdf.derive(secret)
