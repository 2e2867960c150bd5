"""Idempotency keys: retries and concurrent duplicates return the first result."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Model
from uuid6 import uuid7

from inbox.models import IdempotencyRecord
from inbox.models.fields import first_id_at
from inbox.models.statements import insert_if_absent
from inbox.platform.clock import database_now
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.people.access import Actor

Row = TypeVar("Row", bound=Model)

#: A key counts at least so long after its first request.
KEPT = timedelta(days=30)
AT_ONCE = 5_000


@dataclass(frozen=True)
class IdempotencyKey:
    """A client's key for a request that creates something, and the id that the new row gets."""

    key: str = ""  #: "" if every request creates a new row
    request: Any = None  #: JSON value that a replay must repeat
    result_id: UUID = field(default_factory=uuid7)

    def is_replayed(self, row: Any) -> bool:
        """Return whether an earlier request created the row that an action has returned."""
        return bool(row.pk != self.result_id)


def existing_result(idempotency: IdempotencyKey, *, actor: Actor, now: datetime) -> UUID | None:
    """
    Return the id of the row that an earlier request with this key created, or None.

    Call it in the transaction that creates the row, after checking the permission. A concurrent
    duplicate waits here for the end of that transaction, and creates the row if it was rolled back.

    Raises:
        IdempotencyConflict: the key was used for another request.
    """
    if not idempotency.key:
        return None
    record = IdempotencyRecord(
        key_digest=idempotency_digest(actor, idempotency.key),
        request_digest=digest(canonical_json(idempotency.request)),
        created_id=idempotency.result_id,
        created_at=now,
    )
    if insert_if_absent([record]):
        return None
    stored = IdempotencyRecord.objects.get(key_digest=record.key_digest)
    if stored.request_digest != record.request_digest:
        raise errors.IdempotencyConflict(
            "This Idempotency-Key was used with another request; use a new key for a new request."
        )
    return stored.created_id


def created_row(model: type[Row], pk: UUID) -> Row:
    """Return the row that an earlier request created. Raises NotFound: it was deleted meanwhile."""
    row = model._default_manager.filter(pk=pk).first()  # noqa: SLF001 - as Django documents
    if row is None:
        raise errors.NotFound(
            "What this Idempotency-Key created was deleted; use a new key for a new request."
        )
    return row


@transaction.atomic(durable=True)
def delete_old_records() -> int:
    """Delete up to AT_ONCE records older than KEPT; return how many. Safe to replay."""
    first = first_id_at(database_now() - KEPT)
    old = IdempotencyRecord.objects.filter(pk__lt=first).order_by("pk")
    ids = list(old.values_list("pk", flat=True)[:AT_ONCE])
    return IdempotencyRecord.objects.filter(pk__in=ids).delete()[0]


def replace_result(idempotency: IdempotencyKey, result_id: UUID, *, actor: Actor) -> None:
    """Store that the request with this key has joined an existing row instead of making one."""
    if idempotency.key:
        key_digest = idempotency_digest(actor, idempotency.key)
        IdempotencyRecord.objects.filter(key_digest=key_digest).update(created_id=result_id)


def idempotency_digest(actor: Actor, key: str) -> str:
    """Return the stored form of a key, distinct for each actor; "" for no key."""
    return digest(canonical_json([actor.kind, actor.ident, key])) if key else ""
