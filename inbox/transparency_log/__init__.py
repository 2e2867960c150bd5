"""Transparency log: signs the audit trail, exports it, and keeps checkpoints elsewhere."""

from inbox.transparency_log.audit_exports import Export, export_trail
from inbox.transparency_log.checkpoint_sinks import publish_checkpoints
from inbox.transparency_log.entry_sinks import publish_entries
from inbox.transparency_log.signer import append_and_sign, export_lines, is_behind
from inbox.transparency_log.signing_keys import existing_key, rotate_signing_key, signing_key
from inbox.transparency_log.signing_process import is_signing_due, sign_until

__all__ = [
    "Export",
    "append_and_sign",
    "existing_key",
    "export_lines",
    "export_trail",
    "is_behind",
    "is_signing_due",
    "publish_checkpoints",
    "publish_entries",
    "rotate_signing_key",
    "sign_until",
    "signing_key",
]
