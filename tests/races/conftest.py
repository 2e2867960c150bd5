"""Races need real connections that commit; SQLite has one writer and proves nothing here."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from inbox.actions.audit import audit_trail
from inbox.models import locks
from tests.conftest import World, make_world
from tests.support.races.concurrently import LONG_WAIT_SECONDS, CallLog, Meeting


@pytest.fixture(autouse=True)
def _postgresql_only() -> None:
    if connection.vendor != "postgresql":
        pytest.fail("Races need PostgreSQL: `make test` starts one.")


@pytest.fixture
def committed_world(transactional_db: None) -> Iterator[World]:
    """
    The world, committed, on PostgreSQL.

    TRUNCATE fires the append-only triggers on empty tables too, so that they have to be away while
    `transactional_db` cleans up; Django then says that it has migrated, which brings them back.
    """
    from inbox.platform import append_only_triggers

    yield make_world()
    append_only_triggers.remove(connection)


@pytest.fixture
def erin(committed_world: Any) -> Any:
    """A second reviewer, who answers at the same moment as Bob."""
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    user = add_member(
        team=committed_world.team,
        username="erin",
        full_name="Erin",
        password="erin-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    return committed_world.actor(user)


@pytest.fixture
def race_bob(committed_world: Any) -> Any:
    return committed_world.actor(committed_world.bob)


@pytest.fixture
def without_the_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no audit entries: the place in their chain, which only one gets, is a guard as well."""
    monkeypatch.setattr(audit_trail, "record_all", list)


@pytest.fixture
def without_the_lock(monkeypatch: pytest.MonkeyPatch) -> CallLog:
    """Take `FOR UPDATE` out of everything, which is one place; returns what was read without it."""
    log = CallLog()

    def select_without_lock(queryset: Any, *_: Any, **__: Any) -> Any:
        log.add(str(queryset.model))
        return queryset.all()

    monkeypatch.setattr(QuerySet, "select_for_update", select_without_lock)
    # Not the statement that was compiled with the lock.
    monkeypatch.setattr(locks, "_thread_lock", locks._thread_lock.__wrapped__)
    monkeypatch.setattr(Meeting, "wait_seconds", LONG_WAIT_SECONDS)
    return log
