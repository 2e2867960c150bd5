"""
Flush the usage of API keys and directories from `platform.usage_buffer`, outside the request.

No request waits for this or fails with it. What a process has buffered is lost with it.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet

from inbox.actions.audit import audit_trail
from inbox.models import ApiKey, Directory
from inbox.platform import usage_buffer
from inbox.platform.usage_buffer import REFUSED_EVERY, USED_EVERY
from inbox.rules.people.access import Actor, ActorKind

log = structlog.get_logger(__name__)


def flush_usage() -> None:
    """
    Write the buffered usage, for each key at most once a minute across all processes.

    Usage that cannot be written returns to the buffer.
    """
    used, refused = usage_buffer.take()
    try:
        for key_id, at in used.items():
            for model in (ApiKey, Directory):
                _due(model, key_id, "last_used_at", at - USED_EVERY).update(last_used_at=at)
        for key_id, refusal in refused.items():
            _write_refusal(key_id, *refusal)
    except DatabaseError as error:
        log.warning("key_use.not_written", error=type(error).__name__)
        usage_buffer.put_back(used, refused)


@transaction.atomic(durable=True)
def _write_refusal(key_id: UUID, at: datetime, address: str) -> None:
    written = {
        model: _due(model, key_id, "last_refused_at", at - REFUSED_EVERY).update(last_refused_at=at)
        for model in (ApiKey, Directory)
    }  # nothing if another process has written it
    network = {"reason": "network", "address": address} if address else {}
    if written[ApiKey]:
        key = ApiKey.objects.get(pk=key_id)
        audit_trail.record(
            "key.refused",
            Actor(kind=ActorKind.KEY, label=f"key {key.name}", key_id=key.pk),
            at,
            team_id=key.team_id,
            key=str(key.pk),
            name=key.name,
            prefix=key.prefix,
            **network,
        )
    elif written[Directory]:
        directory = Directory.objects.get(pk=key_id)
        actor = Actor(kind=ActorKind.SYSTEM, label=f"directory {directory.name}")
        audit_trail.record(
            "directory.refused",
            actor,
            at,
            directory=directory.name,
            prefix=directory.prefix,
            **network,
        )


def _due(
    model: type[ApiKey] | type[Directory], key_id: UUID, column: str, before: datetime
) -> "QuerySet[Any]":
    rows: QuerySet[Any] = model.objects.filter(pk=key_id)
    return rows.filter(Q(**{column: None}) | Q(**{f"{column}__lte": before}))
