"""A log of its own, with a key of its own, in the transaction of each test."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import override_settings

from tests.conftest import CHEAP_HASHERS, World, make_world
from tests.support.audit.logs import Auditor, keep_in, write_log
from tests.support.database.snapshots import Snapshot


@pytest.fixture(scope="session")
def log_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key and the checkpoints of the log in `log_snapshot`."""
    return tmp_path_factory.mktemp("log")


@pytest.fixture(scope="session")
def log_snapshot(
    django_db_setup: None, django_db_blocker: Any, log_directory: Path
) -> Snapshot[tuple[World, Sequence[Any]]]:
    def build() -> tuple[World, Sequence[Any]]:
        world = make_world()
        return world, write_log(world)

    with django_db_blocker.unblock(), override_settings(PASSWORD_HASHERS=CHEAP_HASHERS):
        keep_in(django_settings, log_directory)
        return Snapshot(build)


@pytest.fixture
def auditor(settings: Any, tmp_path: Path, log_snapshot: Any, log_directory: Path) -> Auditor:
    """Return what the auditor of this test's log has."""
    shutil.copy(log_directory / "audit-key", tmp_path)
    return keep_in(settings, tmp_path)


@pytest.fixture
def world_with_log(
    db: None, auditor: Auditor, log_snapshot: Any, log_directory: Path
) -> tuple[World, Sequence[Any]]:
    shutil.copy(log_directory / "checkpoints", auditor.checkpoints)
    restored: tuple[World, Sequence[Any]] = log_snapshot.restore()
    return restored


@pytest.fixture
def world(db: None, request: pytest.FixtureRequest, world_snapshot: Snapshot[World]) -> World:
    """The world, with the rows of the log if the test asks for `log`."""
    if "log" in request.fixturenames:
        world: World = request.getfixturevalue("world_with_log")[0]
        return world
    return world_snapshot.restore()


@pytest.fixture
def log(world_with_log: tuple[World, Sequence[Any]]) -> Sequence[Any]:
    """The runs of a sealed log."""
    return world_with_log[1]


@pytest.fixture
def unprotected(log: Any) -> None:
    """The log without its triggers, for those who find a way around them."""
    from inbox.platform import append_only_triggers

    append_only_triggers.remove(connection)
