"""Signing keys of the transparency log: loading, generation and rotation."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from inbox.actions.audit.transparency_log import rotate_key
from inbox.models import AuditCheckpoint
from inbox.rules.audit.signed_checkpoint import SigningKey, read_checkpoint
from inbox.rules.people.access import Actor


def signing_key() -> SigningKey:
    """
    Return the key of SIGNOFF_AUDIT_KEY, or the key file's, which is created if missing.

    Raises:
        ValueError: the key is invalid.
    """
    if settings.AUDIT_KEY:
        return SigningKey.from_text(settings.AUDIT_KEY)
    return _load_or_create(Path(settings.AUDIT_KEY_FILE), f"signoff-{secrets.token_hex(4)}")


def existing_key() -> SigningKey:
    """
    Return the key of SIGNOFF_AUDIT_KEY or of the key file; never create one.

    Raises:
        ValueError: there is no key, or it is invalid.
    """
    if not settings.AUDIT_KEY and not Path(settings.AUDIT_KEY_FILE).exists():
        raise ValueError("This machine has no signing key of the transparency log.")
    return signing_key()


def rotate_signing_key(actor: Actor) -> SigningKey:
    """
    Replace the signing key by a new one, signed by the old one, and return it.

    The new key is on disk before it is used, so that an interrupted rotation continues with the
    same key. If the key comes from SIGNOFF_AUDIT_KEY, the operator has to change that setting, and
    nothing is signed until then.
    """
    path = Path(settings.AUDIT_KEY_FILE)
    next_path = path.with_name(f"{path.name}.next")
    key = signing_key()
    next_key = _load_or_create(next_path, key.name)
    if next_key == key:  # already moved to SIGNOFF_AUDIT_KEY
        next_path.unlink()
        next_key = _load_or_create(next_path, key.name)
    last = AuditCheckpoint.objects.order_by("-size").first()
    if last is None or read_checkpoint(last.note).next != next_key.verifier:
        rotate_key(key=key, next_key=next_key, actor=actor)
    if not settings.AUDIT_KEY:
        next_path.replace(path)
    return next_key


def _load_or_create(path: Path, name: str) -> SigningKey:
    """Return the key of a file; create it, readable by its owner only, if it is missing."""
    if not path.exists():
        # Create it atomically: an empty file would prevent signing forever.
        descriptor, temporary = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(SigningKey.new(name).to_text() + "\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was faster
                os.link(temporary, path)
        finally:
            Path(temporary).unlink()
    return SigningKey.from_text(path.read_text())
