"""Sealing the audit trail: the key of the log, its checkpoints, and where they are kept outside."""

from inbox.seal.exports import Export, export_trail
from inbox.seal.keys import existing_key, rotate, signing_key
from inbox.seal.log import export, seal
from inbox.seal.sinks import publish

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
