"""The schedule and the result of the background verification of the log."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction

from inbox.models import AuditVerification
from inbox.models.locks import lock_background_verification
from inbox.platform.clock import database_now

EVERY = timedelta(minutes=5)
#: A lost process blocks the verification for at most this long.
LEASE = timedelta(minutes=30)
FULL_EVERY = timedelta(days=1)
#: Stored findings; there may be one for each entry.
MOST_FINDINGS = 20
_RECORDED = [
    "at",
    "not_before",
    "fully_verified_at",
    "verdict",
    "verified_entries",
    "findings",
    "checkpoint",
    "key_name",
    "has_external_checkpoint",
]


@transaction.atomic(durable=True)
def claim_verification() -> AuditVerification | None:
    """Claim the next verification; return the last one, or None if the next is not due."""
    now = database_now()
    AuditVerification.objects.get_or_create(pk=1, defaults={"not_before": now})
    check = lock_background_verification()
    if check.not_before > now:
        return None
    check.not_before = now + LEASE
    check.save(update_fields=["not_before"])
    # Findings of former versions have no codes, so pages cannot describe them.
    has_old_findings = any("code" not in finding for finding in check.findings)
    last = check.fully_verified_at
    check.is_full_due = last is None or last < now - FULL_EVERY or has_old_findings
    return check


@transaction.atomic(durable=True)
def record_verification(
    report: Mapping[str, Any] | None,
    *,
    verified_entries: int = 0,
    is_full: bool = False,
    key_name: str = "",
) -> AuditVerification:
    """
    Store the report of a verification, and schedule the next one.

    Without a report the last result stays, because there were no new entries. Earlier findings stay
    until the whole log is verified again (`is_full`).
    """
    now = database_now()
    check = lock_background_verification()
    check.at, check.not_before = now, now + EVERY
    if report is not None:
        verdict, findings = report["verdict"], [*report["findings"], *report["doubts"]]
        if is_full:
            check.fully_verified_at = now
        elif check.verdict != "intact":
            verdict = "tampered" if "tampered" in (check.verdict, verdict) else check.verdict
            findings = [*check.findings, *findings]
        check.verdict, check.findings = verdict, findings[:MOST_FINDINGS]
        check.verified_entries, check.key_name = verified_entries, key_name
        check.checkpoint = report["checkpoint"] or {}
        check.has_external_checkpoint = bool(report["outside"])
    check.save(update_fields=_RECORDED)
    return check
