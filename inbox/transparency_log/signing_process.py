"""The loop of a process that does nothing but sign the audit trail and verify it."""

import threading
from collections.abc import Callable
from contextlib import suppress

import structlog
from django.db import DatabaseError, connection

from inbox.actions.audit.export_signatures import sign_exports
from inbox.models.locks import hold_signer_lock
from inbox.queries.runs import overdue
from inbox.transparency_log.background_verification import check_until
from inbox.transparency_log.signer import append_and_sign, is_behind
from inbox.transparency_log.signing_keys import signing_key

log = structlog.get_logger(__name__)

TICK_SECONDS = 1.0
#: A signer whose session is idle for this long loses its lock; its process may be suspended.
SILENT_SECONDS = 15.0


def is_signing_due() -> bool:
    """Return whether there are entries that should be signed now."""
    return overdue.is_checkpoint_due() or is_behind()


def sign_until(stopping: threading.Event, beat: Callable[[], object] = lambda: None) -> None:
    """
    Sign whenever it is due until `stopping` is set, in one process at a time, and verify the log.

    `beat` is called after every tick without an error, as a sign of life.
    """
    threading.Thread(target=check_until, args=(stopping,), name="verifier", daemon=True).start()
    while not stopping.wait(TICK_SECONDS):
        try:
            if hold_signer_lock(silent_seconds=SILENT_SECONDS):
                sign_exports(key=signing_key())
                if is_signing_due():
                    append_and_sign(seconds=SILENT_SECONDS / 3)
            beat()
        except Exception as error:  # the next tick tries again
            log.warning("signing failed", error=type(error).__name__)
            with suppress(DatabaseError):
                if connection.connection is not None:
                    connection.connection.close()
            connection.close()
