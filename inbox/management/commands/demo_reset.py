"""Delete all data of the demo."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from inbox.management.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DATABASE_URL:
            raise CommandError("DATABASE_URL is set, and only the embedded demo can be reset.")
        connection.close()
        names = (
            *("signoff.sqlite3", "demo-credentials.json", "rehearsal-ledger.sqlite3"),
            *("checkpoints", "audit-key"),
        )
        removed = 0
        for name in names:
            for path in settings.DATA_DIR.glob(f"{name}*"):
                path.unlink()
                removed += 1
        self.stdout.write(
            f"Removed {removed} files from {settings.DATA_DIR}; `make run` creates a new demo."
        )
