"""Write a backup of a running embedded installation: database, files and keys."""

import sqlite3
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from inbox.actions.audit.backup_entries import record_backup
from inbox.management.backups import Manifest, key_digest, write_backup
from inbox.management.operator_command import OperatorCommand
from inbox.platform import clock
from inbox.platform.deployment.secret_settings import read_secret

#: Settings with keys that the environment may have, and a backup then does not.
KEY_SETTINGS = (
    "SIGNOFF_SECRET_KEY",
    "SIGNOFF_SECRET_KEY_FALLBACKS",
    "SIGNOFF_ENCRYPTION_KEYS",
    "SIGNOFF_DECISION_KEYS",
    "SIGNOFF_AUDIT_KEY",
    "SIGNOFF_VAPID_KEY",
)


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a new file, or a folder for one with a date")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DATABASE_URL:
            raise CommandError(
                "DATABASE_URL is set: back up PostgreSQL with its own tools. docs/recovery.md has "
                "the commands."
            )
        database = Path(settings.DATABASES["default"]["NAME"])
        if not database.exists():
            raise CommandError(f"{settings.DATA_DIR} has no database. Set SIGNOFF_DATA_DIR.")
        now = clock.now()
        target: Path = options["path"]
        if target.is_dir():
            target /= f"signoff-{now:%Y%m%d-%H%M%S}.tar.gz"
        if target.exists():
            raise CommandError(f"{target} exists. Name another file.")
        keys = {name: key for name in KEY_SETTINGS if (key := read_secret(name))}
        manifest = Manifest(
            made_at=now.isoformat(),
            key_digests={name: key_digest(key) for name, key in keys.items()},
            has_files=not settings.FILES_URL,
        )
        try:
            record_backup(path=str(target))
            manifest = write_backup(
                target,
                data=settings.DATA_DIR,
                database=database,
                manifest=manifest,
            )
        except (OSError, sqlite3.Error, DatabaseError) as error:
            raise CommandError(f"No backup was made: {error}") from error
        size = target.stat().st_size / 1_000_000
        self.stdout.write(f"{target}: {len(manifest.members)} files, {size:.1f} MB")
        self.stdout.write("It contains keys and everything that people wrote. Store it encrypted.")
        for name in keys:
            self.stdout.write(f"{name} is not in it. Store that key as well.")
        if settings.FILES_URL:
            self.stdout.write("SIGNOFF_FILES_URL is set: back up the bucket as well.")
