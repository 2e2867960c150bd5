"""A migration on a database in use: it gives way instead of ending the transactions of others."""

from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as django_migrate
from django.db import connection, transaction

from inbox.management.commands import migrate
from inbox.models import Thread
from tests.support.races.held_transactions import hold_transaction

pytestmark = pytest.mark.services


@pytest.fixture
def tries(monkeypatch):
    """Let `migrate` lock the table of threads only; return what each try was like."""
    monkeypatch.setattr(migrate, "PAUSE_SECONDS", 0)
    tries = []

    def change_table(*_, **__):
        tries.append("started")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == (f"{migrate.LOCK_MILLISECONDS}ms",)
            cursor.execute("LOCK TABLE inbox_thread IN ACCESS EXCLUSIVE MODE")
        tries.append("done")

    monkeypatch.setattr(django_migrate.Command, "handle", change_table)
    return tries


@pytest.fixture
def held_lock(committed_world):
    """Hold a lock on the table of threads, as a transaction of a worker does, until it is set."""
    with hold_transaction("LOCK TABLE inbox_thread IN ROW SHARE MODE") as may_end:
        yield may_end


def test_migrate_tries_again_until_a_transaction_has_ended(held_lock, tries, monkeypatch):
    log = SimpleNamespace(info=lambda _text: held_lock.set())
    monkeypatch.setattr(migrate, "log", log)

    call_command("migrate", skip_checks=True)

    assert tries[:2] == ["started", "started"]
    assert tries[-1] == "done"
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_migrate_gives_up_and_says_what_to_do(held_lock, tries, monkeypatch):
    monkeypatch.setattr(migrate, "MAX_TRIES", 2)

    with pytest.raises(CommandError, match="Run this command again"):
        call_command("migrate", skip_checks=True)

    assert tries == ["started", "started"]
    held_lock.set()
    assert not Thread.objects.exists()
