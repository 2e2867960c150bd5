"""The schedule and the result of the background verification of the log."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction

from inbox.models import AuditCheck
from inbox.models.clock import database_now
from inbox.models.locks import lock_background_verification

EVERY = timedelta(minutes=5)
#: A lost process blocks the verification for at most this long.
LEASE = timedelta(minutes=30)
WHOLE_EVERY = timedelta(days=1)
#: Stored findings; there may be one for each entry.
MOST_FINDINGS = 20
_RECORDED = (
    *("at", "not_before", "whole_at", "verdict", "reached", "findings", "checkpoint"),
    *("key_name", "is_outside"),
)


@dataclass(frozen=True)
class VerificationResult:
    verdict: str  #: intact, tampered or unknown
    findings: Sequence[Mapping[str, str]]  #: `where` and `problem`, also of what cannot be told
    reached: int  #: number of verified entries
    is_whole: bool  #: the whole log was verified in this run
    checkpoint: Mapping[str, Any]  #: `size`, `time` and `root`, {} where there is none
    key_name: str
    is_outside: bool  #: a checkpoint outside of the database was compared

    @classmethod
    def of(
        cls, report: Mapping[str, Any], *, reached: int, key_name: str, before: AuditCheck | None
    ) -> "VerificationResult":
        """The report of a verifier; `before` is what was found of the entries it has not read."""
        found = cls(
            verdict=report["verdict"],
            findings=[*report["findings"], *report["doubts"]][:MOST_FINDINGS],
            reached=reached,
            is_whole=before is None,
            checkpoint=report["checkpoint"] or {},
            key_name=key_name,
            is_outside=bool(report["outside"]),
        )
        if before is None or before.verdict == "intact":
            return found
        # Earlier findings stay until the whole log is verified again.
        known = [*before.problems, *found.findings][:MOST_FINDINGS]
        verdict = "tampered" if "tampered" in (before.verdict, found.verdict) else before.verdict
        return replace(found, verdict=verdict, findings=known)

    @classmethod
    def again(cls, last: AuditCheck) -> "VerificationResult":
        """The same as before: nothing has come since."""
        return cls(
            verdict=last.verdict,
            findings=last.problems,
            reached=last.reached,
            is_whole=False,
            checkpoint=last.point,
            key_name=last.key_name,
            is_outside=last.is_outside,
        )


@transaction.atomic(durable=True)
def claim_verification() -> AuditCheck | None:
    """Claim the next verification; return the last one, or None if the next is not due."""
    now = database_now()
    AuditCheck.objects.get_or_create(pk=1, defaults={"not_before": now})
    check = lock_background_verification()
    if check.not_before > now:
        return None
    check.not_before = now + LEASE
    check.save(update_fields=["not_before"])
    check.whole_is_due = check.whole_at is None or check.whole_at < now - WHOLE_EVERY
    return check


@transaction.atomic(durable=True)
def record_verification(found: VerificationResult) -> AuditCheck:
    """Store the result, and schedule the next verification."""
    now = database_now()
    check = lock_background_verification()
    check.at, check.not_before = now, now + EVERY
    check.whole_at = now if found.is_whole else check.whole_at
    check.verdict, check.reached = found.verdict, found.reached
    check.findings = json.dumps(list(found.findings))
    check.checkpoint = json.dumps(dict(found.checkpoint))
    check.key_name, check.is_outside = found.key_name, found.is_outside
    check.save(update_fields=_RECORDED)
    return check
