"""Django's migrate, for databases that are in use, and of versions that it can upgrade."""

import time
from typing import Any

import structlog
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations.recorder import MigrationRecorder

log = structlog.get_logger(__name__)

#: The last migration whose file was removed, and the one that makes the same tables at once.
LAST_REMOVED = ("inbox", "0121_verification_requests")
REPLACEMENT = ("inbox", "0122_initial")
#: Longest wait for a lock on PostgreSQL, while which others wait behind the migration. Shorter than
#: `deadlock_timeout` (1 s): in a deadlock the migration gives up, never a worker.
LOCK_MILLISECONDS = 500
MAX_TRIES = 60
PAUSE_SECONDS = 0.5
_LOCK_NOT_AVAILABLE = "55P03"


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        recorder = MigrationRecorder(connection)
        applied = recorder.applied_migrations()
        if REPLACEMENT not in applied and any(app == "inbox" for app, _ in applied):
            if LAST_REMOVED not in applied:
                # Django would try to make tables that there are.
                raise CommandError(
                    f"This database is older than the migration {LAST_REMOVED[1]}, and this "
                    "version cannot upgrade it. Run `manage.py migrate` of the revision ec540a5 "
                    "first, and then this command again. See docs/operations.md, Upgrades."
                )
            recorder.record_applied(*REPLACEMENT)
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        _set_lock_timeout(connection, f"{LOCK_MILLISECONDS}ms")
        try:
            self._handle_until_locked(*args, **options)
        finally:
            _set_lock_timeout(connection, "0")

    def _handle_until_locked(self, *args: Any, **options: Any) -> None:
        """Migrate; after a lock timeout try again: each migration is applied as a whole or not."""
        for _ in range(MAX_TRIES):
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", "") != _LOCK_NOT_AVAILABLE:
                    raise
                log.info("migration waits for a lock")
                time.sleep(PAUSE_SECONDS)
            else:
                return
        raise CommandError(
            "A migration has not got its locks, because transactions of others took too long. "
            "Nothing is half done. Run this command again when the database is less busy."
        )


def _set_lock_timeout(connection: Any, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [value])
