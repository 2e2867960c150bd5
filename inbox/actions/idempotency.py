"""What is asked for with an Idempotency-Key is made once, however often and at once it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from inbox.actions.runs.start_run import idempotency_digest
from inbox.models import Order
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.people.access import Actor


@dataclass(frozen=True)
class IdempotencyKey:
    """A request for something new: `made` is the id that it gets if it was not made before."""

    key: str = ""  #: the client's name for it; "" if it may be made as often as it is asked for
    request: Mapping[str, Any] = field(default_factory=dict)  #: all that says what it is
    result_id: UUID = field(default_factory=uuid7)

    def is_replayed(self, row: Any) -> bool:
        """Whether an earlier request made what an action has returned."""
        return bool(row.pk != self.result_id)


def existing_result(idempotency: IdempotencyKey, *, actor: Actor, now: datetime) -> UUID | None:
    """
    The id of what an earlier request made under this key, or None: then the caller makes it.

    Belongs in the transaction that makes it, after the permission was checked. Whoever asks at the
    same moment waits here for the end of that transaction, and makes it if it was rolled back.

    Raises:
        IdempotencyConflict: the key was used to ask for something else.
    """
    if not idempotency.key:
        return None
    wanted = Order(
        key_digest=idempotency_digest(actor, idempotency.key),
        request_digest=digest(canonical_json(dict(idempotency.request))),
        made=idempotency.result_id,
        created_at=now,
    )
    Order.objects.bulk_create([wanted], ignore_conflicts=True)
    kept = Order.objects.get(key_digest=wanted.key_digest)
    if kept.request_digest != wanted.request_digest:
        raise errors.IdempotencyConflict(
            "This Idempotency-Key was used with another request; use a new key for a new request."
        )
    return None if kept.made == idempotency.result_id else kept.made
