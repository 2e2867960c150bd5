"""Sealing the audit trail: the key of the log, its checkpoints, and where they are kept outside."""

from inbox.seal.keys import rotate, signing_key
from inbox.seal.log import export, seal
from inbox.seal.sinks import publish

__all__ = ["export", "publish", "rotate", "seal", "signing_key"]
