"""The key that signs checkpoints, and how another one follows it."""

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
    The key of SIGNOFF_AUDIT_KEY, or the one that is made at first start beside the data.

    Raises:
        ValueError: what is given is no such key.
    """
    if settings.AUDIT_KEY:
        return SigningKey.from_text(settings.AUDIT_KEY)
    return _kept_in(Path(settings.AUDIT_KEY_FILE), f"signoff-{secrets.token_hex(4)}")


def existing_key() -> SigningKey:
    """
    The key of SIGNOFF_AUDIT_KEY, or the one that is beside the data: whoever only reads makes none.

    Raises:
        ValueError: there is none, or what is given is no such key.
    """
    if not settings.AUDIT_KEY and not Path(settings.AUDIT_KEY_FILE).exists():
        raise ValueError("There is no key here that signs the audit log.")
    return signing_key()


def rotate(actor: Actor) -> SigningKey:
    """
    Let another key sign from now on, and return it; the key before vouches for it.

    It is on disk before anything is signed with it: whoever is killed in between begins again, and
    goes on with the same one. Where the key comes from SIGNOFF_AUDIT_KEY, putting the new one
    there is up to the caller, and nothing is sealed until then.
    """
    path = Path(settings.AUDIT_KEY_FILE)
    waiting = path.with_name(f"{path.name}.next")
    key = signing_key()
    following = _kept_in(waiting, key.name)
    if following == key:  # it is in SIGNOFF_AUDIT_KEY by now, and the file was left
        waiting.unlink()
        following = _kept_in(waiting, key.name)
    last = AuditCheckpoint.objects.order_by("-size").first()
    if last is None or read_checkpoint(last.note).next != following.verifier:
        rotate_key(key=key, next_key=following, actor=actor)
    if not settings.AUDIT_KEY:
        waiting.replace(path)
    return following


def _kept_in(path: Path, name: str) -> SigningKey:
    """The key of a file, which is made if it is not there, for its owner to read."""
    if not path.exists():
        # Whole under its name, or not there: an empty file would stop all sealing for ever.
        descriptor, made = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(SigningKey.new(name).to_text() + "\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was faster
                os.link(made, path)
        finally:
            Path(made).unlink()
    return SigningKey.from_text(path.read_text())
