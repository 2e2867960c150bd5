"""The schedule and the result of the background verification of the log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
_RECORDED = (
    *(
        "at",
        "not_before",
        "fully_verified_at",
        "verdict",
        "verified_entries",
        "findings",
        "checkpoint",
    ),
    *("key_name", "has_external_checkpoint"),
)


@dataclass(frozen=True)
class VerificationResult:
    verdict: str  #: intact, tampered or unknown
    findings: Sequence[Mapping[str, Any]]  #: as the verifier reports them, doubts included
    verified_entries: int  #: number of verified entries
    is_full: bool  #: the whole log was verified in this run
    checkpoint: Mapping[str, Any]  #: `size`, `time` and `root`, {} where there is none
    key_name: str
    has_external_checkpoint: bool  #: a checkpoint outside of the database was compared

    @classmethod
    def of(
        cls,
        report: Mapping[str, Any],
        *,
        verified_entries: int,
        key_name: str,
        before: AuditVerification | None,
    ) -> "VerificationResult":
        """Return the result of a report; `before` is the last result, for the other entries."""
        result = cls(
            verdict=report["verdict"],
            findings=[*report["findings"], *report["doubts"]][:MOST_FINDINGS],
            verified_entries=verified_entries,
            is_full=before is None,
            checkpoint=report["checkpoint"] or {},
            key_name=key_name,
            has_external_checkpoint=bool(report["outside"]),
        )
        if before is None or before.verdict == "intact":
            return result
        # Earlier findings stay until the whole log is verified again.
        findings = [*before.findings, *result.findings][:MOST_FINDINGS]
        verdict = "tampered" if "tampered" in (before.verdict, result.verdict) else before.verdict
        return replace(result, verdict=verdict, findings=findings)

    @classmethod
    def again(cls, last: AuditVerification) -> "VerificationResult":
        """Return the last result again: there are no new entries."""
        return cls(
            verdict=last.verdict,
            findings=last.findings,
            verified_entries=last.verified_entries,
            is_full=False,
            checkpoint=last.checkpoint,
            key_name=last.key_name,
            has_external_checkpoint=last.has_external_checkpoint,
        )


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
def record_verification(result: VerificationResult) -> AuditVerification:
    """Store the result, and schedule the next verification."""
    now = database_now()
    check = lock_background_verification()
    check.at, check.not_before = now, now + EVERY
    check.fully_verified_at = now if result.is_full else check.fully_verified_at
    check.verdict, check.verified_entries = result.verdict, result.verified_entries
    check.findings = list(result.findings)
    check.checkpoint = dict(result.checkpoint)
    check.key_name, check.has_external_checkpoint = result.key_name, result.has_external_checkpoint
    check.save(update_fields=_RECORDED)
    return check
