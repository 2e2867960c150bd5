"""Restore a backup into an empty data directory."""

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db.migrations.loader import MigrationLoader

from inbox.management import backups
from inbox.management.backups import BackupFailed, Manifest, key_digest
from inbox.management.operator_command import OperatorCommand
from inbox.platform.deployment.secret_settings import read_secret


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a file that `manage.py backup` made")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DATABASE_URL:
            raise CommandError(
                "DATABASE_URL is set: restore PostgreSQL with its own tools, then run `manage.py "
                "after_restore`. docs/recovery.md has the commands."
            )
        data: Path = settings.DATA_DIR
        if (data / backups.DATABASE).exists():
            raise CommandError(
                f"{data} has a database. Stop the server and move the directory away, or set "
                "SIGNOFF_DATA_DIR to an empty one."
            )
        folder = data / "restoring"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            manifest = backups.unpack_backup(options["path"], folder)
            _check_version(folder)
            self._prepare(folder, manifest)
            backups.move_into(data, folder)
        except BackupFailed as error:
            raise CommandError(f"Nothing was restored: {error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.stdout.write(f"Restored the backup of {manifest.made_at} into {data}.")
        if not manifest.has_files:
            self.stdout.write("The files are in the bucket of SIGNOFF_FILES_URL; restore it too.")

    def _prepare(self, folder: Path, manifest: Manifest) -> None:
        """Migrate what was unpacked and stop its work, before anything can start on it."""
        _check_keys(manifest)
        # Other processes, because this one has the settings and keys of the empty directory.
        environment = {**os.environ, "SIGNOFF_DATA_DIR": str(folder)}
        for command in (
            ["migrate", "--verbosity=0"],
            ["after_restore", "--made-at", manifest.made_at],
        ):
            done = subprocess.run(  # noqa: S603
                [sys.executable, str(settings.BASE_DIR / "manage.py"), *command],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise BackupFailed(f"manage.py {command[0]} failed:\n{done.stderr}")
            self.stdout.write(done.stdout, ending="")


def _check_version(folder: Path) -> None:
    """Raises BackupFailed."""
    known_names = {name for app, name in MigrationLoader(None).disk_migrations if app == "inbox"}
    applied = backups.applied_migrations(folder / backups.DATABASE)
    # By their numbers: an old database also has migrations that were removed.
    newest = max(name for app, name in applied if app == "inbox")
    if newest[:4] > max(known_names)[:4]:
        raise BackupFailed(
            "the backup was made by a newer version of Signoff, with the migration "
            f"{newest}. Install that version first."
        )


def _check_keys(manifest: Manifest) -> None:
    """Raises BackupFailed."""
    for name, digest in manifest.key_digests.items():
        if key_digest(read_secret(name)) != digest:
            raise BackupFailed(f"set {name} to the same key as when the backup was made.")
