"""Django's migrate, which refuses a database that this release cannot upgrade."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

#: The migrations up to this one are squashed, and their files are gone.
LAST_SQUASHED = ("inbox", "0046_team_headings")


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        applied = MigrationRecorder(connections[options["database"]]).applied_migrations()
        if LAST_SQUASHED not in applied and any(app == "inbox" for app, _ in applied):
            # Django would report a migration that depends on a missing one.
            raise CommandError(
                f"This database is older than the migration {LAST_SQUASHED[1]}, and this version "
                "cannot upgrade it. Run `manage.py migrate` of the revision f0e86c2 first, and "
                "then this command again. See docs/operations.md, Upgrades."
            )
        super().handle(*args, **options)
