"""Preparation of a start: migrations and static files, and a new process after them."""

import os
import sys

from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder

from inbox.platform.http.static_files import collect_static_files

#: Tells the new process that there is nothing to prepare any more.
_PREPARED = "SIGNOFF_PREPARED"


def prepare(*, migrates: bool, collects: bool) -> None:
    """
    Apply the migrations and collect the static files of this version.

    If there was something to do, the process replaces itself by a new one, which serves: the 75 MB
    that it took at a first start would stay with this one.
    """
    if os.environ.pop(_PREPARED, ""):
        return
    has_migrated = migrates and _migrate()
    has_collected = collects and collect_static_files()
    if has_migrated or has_collected:
        connections.close_all()
        replace_process({_PREPARED: "1"})


def replace_process(environment: dict[str, str]) -> None:
    """Replace this process by a new one with the same arguments and a larger environment."""
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(  # noqa: S606 - the command of this process
        sys.executable, command, {**os.environ, **environment}
    )


def _migrate() -> bool:
    """Return whether there were migrations to apply."""
    before = _applied_migrations()
    call_command("migrate", verbosity=0, interactive=False)
    return _applied_migrations() != before


def _applied_migrations() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())
