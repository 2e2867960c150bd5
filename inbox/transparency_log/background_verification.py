"""Background verification of the audit trail, whose result the pages show."""

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection

from inbox.actions.audit.verification_runs import (
    claim_verification,
    record_progress,
    record_verification,
)
from inbox.models import AuditCheckpoint, AuditVerification
from inbox.platform.timers import Item, Pacer
from inbox.queries.audit.verification_runs import is_verification_due
from inbox.transparency_log.signing_keys import existing_key
from inbox.transparency_log.verification import Report, verify_all, verify_range
from tools.audit_verifier import Key, notes_in

log = structlog.get_logger(__name__)

#: Interval at which a process checks whether a verification is due: people wait for theirs.
POLL_SECONDS = 1.0
#: Interval at which it stores how far it is.
REPORT_SECONDS = 1.0
#: A log up to this size is verified completely each time, which takes a second or two.
SMALL = 20_000
#: The number of new entries per verification; more wait for the next one.
MAX_NEW = 100_000


class _ReportingPacer(Pacer):
    """Stores how many items are done, for the people who wait."""

    def paced(self, items: Iterable[Item]) -> Iterator[Item]:
        reported_at = time.monotonic()
        for number, item in enumerate(super().paced(items), 1):
            yield item
            if time.monotonic() - reported_at >= REPORT_SECONDS:
                store_progress(number)
                reported_at = time.monotonic()


def store_progress(entries: int) -> None:
    """
    Store how many entries are read, in a connection of its own.

    SQLite refuses a write to the connection that is reading them: "database is locked".
    """
    threading.Thread(target=_store, args=(entries,), name="verifier-progress", daemon=True).start()


def _store(entries: int) -> None:
    try:
        record_progress(entries)
    except DatabaseError as error:  # the next report tries again
        log.warning("progress not stored", error=type(error).__name__)
    finally:
        connection.close()


def check_until(stopping: threading.Event) -> None:
    """Verify whenever it is due, in one process at a time, if it has the signing key."""
    while not stopping.wait(POLL_SECONDS):
        try:
            if is_verification_due():
                check_if_due()
        except Exception:  # the next run retries
            log.exception("verification failed")
        finally:
            close_old_connections()


def check_if_due() -> bool:
    """Verify the log if it is due; return whether it was."""
    try:
        key = existing_key()
    except ValueError:
        return False  # without the key there is nothing to verify against
    check = claim_verification()
    if check is None:
        return False
    result = _verify_next(check, Key(key.verifier), key.name)
    if result.verdict != "intact":
        log.error("audit trail not intact", verdict=result.verdict, where=result.findings)
    return True


def _verify_next(last: AuditVerification, key: Key, name: str) -> AuditVerification:
    """Verify the whole log or its new entries, and store the result."""
    point = AuditCheckpoint.objects.order_by("-size").first()
    size = point.size if point else 0
    is_small = size <= SMALL or last.verified_entries > size
    is_full = last.is_full_due or is_small or last.verdict == "unknown"
    if is_full:
        report, verified_entries = _verify_twice(key, None), size
    elif last.verified_entries == size:
        return record_verification(None)
    else:
        verified_entries = min(size, last.verified_entries + MAX_NEW)
        report = _verify_twice(key, (last.verified_entries, verified_entries - 1))
    return record_verification(
        report, verified_entries=verified_entries, is_full=is_full, key_name=name
    )


def _verify_twice(key: Key, positions: tuple[int, int] | None) -> Report:
    report = _verify(key, positions)
    # Repeat it: an erasure during the verification looks like tampering.
    return report if report["verdict"] == "intact" else _verify(key, positions)


def _verify(key: Key, positions: tuple[int, int] | None) -> dict[str, Any]:
    path = Path(settings.AUDIT_CHECKPOINTS)
    outside = notes_in(path) if path.exists() else []
    if positions is None:
        return verify_all(key, outside, pacer=_ReportingPacer())
    return verify_range(
        key, outside, first=positions[0], last=positions[1], pacer=_ReportingPacer()
    )
