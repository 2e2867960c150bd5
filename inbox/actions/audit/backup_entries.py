"""Audit entries about backups."""

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.platform.clock import database_now
from inbox.rules.people.access import OPERATOR


@transaction.atomic(durable=True)
def record_backup(*, path: str) -> None:
    """Record that an operator makes a backup; the backup has the entry."""
    audit_trail.record("installation.backed_up", OPERATOR, database_now(), path=path)
