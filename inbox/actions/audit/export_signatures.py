"""Signatures of exports by a separate signer, for processes that do not have its key."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from inbox.models import ExportSignature
from inbox.platform.clock import database_now
from inbox.rules.audit.signed_checkpoint import SigningKey, signed_export

#: A request that nobody has fetched is deleted after this time.
KEPT = timedelta(hours=1)
#: Requests that are answered at a time.
BATCH = 100


@transaction.atomic(durable=True)
def request_export_signature(*, entries: int, digest: bytes) -> UUID:
    """Ask the signer to sign an export; return the id of the request."""
    request = ExportSignature.objects.create(
        entries=entries, digest=digest.hex(), at=database_now()
    )
    return request.pk


@transaction.atomic(durable=True)
def fetch_export_signature(*, request_id: UUID) -> str:
    """Return the signature and delete the request; "" if it is not there yet."""
    request = ExportSignature.objects.filter(pk=request_id).exclude(note="").first()
    if request is None:
        return ""
    request.delete()
    return request.note


@transaction.atomic(durable=True)
def sign_exports(*, key: SigningKey) -> None:
    """
    Sign the exports that wait for it, and delete old requests. Safe to repeat.

    Requests without a valid digest are left out: another process wrote them, and an error about
    them would keep the signer from signing the audit trail.
    """
    now = database_now()
    waiting = ExportSignature.objects.filter(note="", digest__regex=r"^[0-9a-f]{64}$")
    for request in waiting.order_by("pk")[:BATCH]:
        note = signed_export(entries=request.entries, digest=bytes.fromhex(request.digest), key=key)
        ExportSignature.objects.filter(pk=request.pk).update(note=note)
    ExportSignature.objects.filter(at__lt=now - KEPT).delete()
