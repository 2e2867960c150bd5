"""Verifying the log in the background, so that pages can say what was found and when."""

import threading
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import close_old_connections

from inbox.actions.audit.verification_runs import Found, record_check, take_check
from inbox.models import AuditCheck, AuditCheckpoint
from inbox.transparency_log.signing_keys import existing_key
from inbox.transparency_log.verification import Report, verify_all, verify_range
from tools.audit_verifier import Key, notes_in

log = structlog.get_logger(__name__)

#: So often a process asks whether it is time, in seconds.
LOOK_EVERY_SECONDS = 15.0
#: A log of so many entries is verified as a whole each time: that takes a second or two.
SMALL = 20_000
#: So many new ones are verified at once; the rest waits for the next time.
MOST_NEW = 100_000


def check_until(stopping: threading.Event) -> None:
    """Verify whenever it is time, in one process at a time, and in those that have the key."""
    while not stopping.wait(LOOK_EVERY_SECONDS):
        try:
            check_if_due()
        except Exception:  # whatever it was, the next time tries again
            log.exception("verification failed")
        finally:
            close_old_connections()


def check_if_due() -> bool:
    """Verify the log if nobody has for a while; return whether that was done."""
    try:
        key = existing_key()
    except ValueError:
        return False  # what this process found would be nothing
    taken = take_check()
    if taken is None:
        return False
    found = _look(taken, Key(key.verifier), key.name)
    record_check(found)
    if found.verdict != "intact":
        log.error("the audit trail is not intact", verdict=found.verdict, where=found.findings)
    return True


def _look(last: AuditCheck, key: Key, name: str) -> Found:
    """What is found now; what was found wrong before stays, until all is looked at again."""
    point = AuditCheckpoint.objects.order_by("-size").first()
    size = point.size if point else 0
    is_small = size <= SMALL or last.reached > size
    if last.whole_is_due or is_small or last.verdict == "unknown":
        report, reached, before = _twice_if_wrong(key, None), size, None
    elif last.reached == size:
        return Found.again(last)
    else:
        reached = min(size, last.reached + MOST_NEW)
        report, before = _twice_if_wrong(key, (last.reached, reached - 1)), last
    return Found.of(report, reached=reached, key_name=name, before=before)


def _twice_if_wrong(key: Key, places: tuple[int, int] | None) -> Report:
    report = _verify(key, places)
    # Once more before anybody is alarmed: something may have been erased while this was read.
    return report if report["verdict"] == "intact" else _verify(key, places)


def _verify(key: Key, places: tuple[int, int] | None) -> dict[str, Any]:
    path = Path(settings.AUDIT_CHECKPOINTS)
    outside = notes_in(path) if path.exists() else []
    if places is None:
        return verify_all(key, outside)
    return verify_range(key, outside, first=places[0], last=places[1])
