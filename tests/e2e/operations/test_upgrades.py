"""
Databases of earlier versions: an upgrade keeps rows and triggers, on both databases.

A database from before the first release has the tables of the first migration, and the names of
those that it replaces; here, a new database is given these names.
"""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.support.children import StartFailed
from tests.support.postgres import PostgresServer
from tests.support.processes import embedded_environment, manage, scaled_environment

#: The last migration of those that were removed, and the one that stands for them.
LAST_REMOVED, FIRST = "0121_verification_requests", "0122_initial"


class Site(NamedTuple):
    """A database of its own, with what the product's commands need to find it."""

    vendor: str
    environment: dict[str, str]
    connect: Callable[[], Any]

    def query(self, statement: str) -> list[Any]:
        connection = self.connect()
        try:
            rows = connection.execute(statement).fetchall()
            connection.commit()
        finally:
            connection.close()
        return list(rows)

    def execute(self, statement: str) -> None:
        connection = self.connect()
        try:
            connection.execute(statement)
            connection.commit()
        finally:
            connection.close()

    def rows(self) -> dict[str, list[Any]]:
        """Return the rows of each table of the product, in a stable order."""
        if self.vendor == "sqlite":
            names = "SELECT name FROM sqlite_master WHERE type = 'table'"
        else:
            names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        tables = [name for (name,) in self.query(names) if name.startswith("inbox_")]
        return {table: sorted(self.query(f"SELECT * FROM {table}"), key=repr) for table in tables}

    def migrations(self) -> set[str]:
        rows = self.query("SELECT name FROM django_migrations WHERE app = 'inbox'")
        return {name for (name,) in rows}


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def make_site(request: Any, tmp_path: Any) -> Callable[[str], Site]:
    """Return a maker of empty databases of one vendor."""

    def make(name: str) -> Site:
        directory = tmp_path / name
        directory.mkdir()
        if request.param == "sqlite":
            path = directory / "signoff.sqlite3"
            return Site("sqlite", embedded_environment(directory), lambda: sqlite3.connect(path))
        url = request.getfixturevalue("postgres").create_database(name)
        environment = scaled_environment(
            directory, database_url=url, redis_url="redis://127.0.0.1:1"
        )
        return Site("postgresql", environment, lambda: psycopg.connect(url))

    return make


@pytest.fixture
def site(make_site) -> Site:
    """A database with a person, a policy and a trail, whose migrations are those of before."""
    site = make_site("upgraded")
    manage(site.environment, "migrate", "--no-input")
    member = ("--team", "ops", "--username", "ana", "--role", "admin", "--rehearsal")
    manage(site.environment, "create_member", *member)
    site.execute(f"UPDATE django_migrations SET name = '{LAST_REMOVED}' WHERE name = '{FIRST}'")
    return site


def test_an_upgrade_keeps_rows_and_triggers(site):
    before = site.rows()

    manage(site.environment, "migrate", "--no-input")

    assert site.rows() == before
    assert site.migrations() == {LAST_REMOVED, FIRST}
    manage(site.environment, "check", "--database", "default")
    with pytest.raises((sqlite3.Error, psycopg.Error), match="append-only"):
        site.execute("DELETE FROM inbox_auditentry")


def test_migrate_refuses_a_database_of_older_migrations(site):
    site.execute(f"UPDATE django_migrations SET name = '0120_x' WHERE name = '{LAST_REMOVED}'")
    before = site.rows(), site.migrations()

    with pytest.raises(StartFailed, match=r"older than the migration 0121.*docs/operations.md"):
        manage(site.environment, "migrate", "--no-input")

    assert (site.rows(), site.migrations()) == before
