"""The schedule and the result of the background verification of the log."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction

from inbox.models import AuditVerification
from inbox.models.locks import lock_background_verification
from inbox.platform.clock import database_now
from inbox.queries.audit.verification_runs import LEASE, is_requested, progress_of
from inbox.queries.people.access import teams_of
from inbox.rules.errors import Forbidden
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage

EVERY = timedelta(minutes=5)
FULL_EVERY = timedelta(days=1)
#: People start the next one after this time, and after ten times that which the last one took.
AGAIN_AFTER = timedelta(seconds=30)
#: Stored findings; there may be one for each entry.
MOST_FINDINGS = 20
_RECORDED = [
    "at",
    "not_before",
    "seconds",
    "fully_verified_at",
    "verdict",
    "verified_entries",
    "findings",
    "checkpoint",
    "key_name",
    "has_external_checkpoint",
]


@transaction.atomic(durable=True)
def request_verification(*, actor: Actor) -> bool:
    """
    Let the whole log be verified at once; return False while that is not due again.

    That is so while a verification is on its way, and soon after one that a person started.

    Raises:
        Forbidden: the actor may read no team's audit trail.
    """
    if not teams_of(actor):
        raise Forbidden(TranslatableMessage("You can read no team's audit trail."))
    now = database_now()
    AuditVerification.objects.get_or_create(pk=1, defaults={"not_before": now})
    check = lock_background_verification()
    pause = max(AGAIN_AFTER, 10 * timedelta(seconds=check.seconds or 0))
    is_recent = check.requested_at is not None and now < check.requested_at + pause
    if is_recent or progress_of(check, now) is not None:
        return False
    check.requested_at = check.not_before = now
    check.save(update_fields=["requested_at", "not_before"])
    return True


def record_progress(entries: int) -> None:
    """Store how many entries the current verification has read."""
    AuditVerification.objects.filter(pk=1).update(checked=entries)


@transaction.atomic(durable=True)
def claim_verification() -> AuditVerification | None:
    """Claim the next verification; return the last one, or None if the next is not due."""
    now = database_now()
    AuditVerification.objects.get_or_create(pk=1, defaults={"not_before": now})
    check = lock_background_verification()
    if check.not_before > now:
        return None
    is_forced = is_requested(check)
    check.not_before, check.started_at, check.checked = now + LEASE, now, 0
    check.save(update_fields=["not_before", "started_at", "checked"])
    # Findings of former versions have no codes, so pages cannot describe them.
    has_old_findings = any("code" not in finding for finding in check.findings)
    last = check.fully_verified_at
    is_old = last is None or last < now - FULL_EVERY
    check.is_full_due = is_forced or is_old or has_old_findings
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
        check.seconds = (now - check.started_at).total_seconds() if check.started_at else None
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
