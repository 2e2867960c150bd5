"""Sealing the audit trail: the key of the log, its checkpoints, and where they are kept outside."""

from inbox.transparency_log.audit_exports import Export, export_trail
from inbox.transparency_log.checkpoint_sinks import publish
from inbox.transparency_log.signer import export, seal
from inbox.transparency_log.signing_keys import existing_key, rotate, signing_key

__all__ = [
    "Export",
    "existing_key",
    "export",
    "export_trail",
    "publish",
    "rotate",
    "seal",
    "signing_key",
]
