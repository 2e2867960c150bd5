"""The line in front of SQLite's only writer."""

import threading

import pytest
from django.db import OperationalError, connections

from inbox.platform.embedded.database import base
from inbox.platform.embedded.database.base import FairLock


def wait_for(line, count):
    while len(line._waiting) < count:
        threading.Event().wait(0.001)


def test_who_comes_first_is_served_first():
    line, served, threads = FairLock(), [], []
    line.acquire(1)

    def take_a_turn(number):
        assert line.acquire(10)
        served.append(number)
        line.release()

    for number in range(20):
        threads.append(threading.Thread(target=take_a_turn, args=(number,)))
        threads[-1].start()
        wait_for(line, number + 1)
    line.release()
    for thread in threads:
        thread.join()

    assert served == list(range(20))


def test_who_waits_too_long_gives_up_and_is_not_served_later():
    line = FairLock()
    line.acquire(1)

    assert not line.acquire(0.01)
    line.release()

    assert line.acquire(0.01)


@pytest.fixture
def line(monkeypatch):
    fresh = FairLock()
    monkeypatch.setattr(base, "_write_lock", fresh)
    return fresh


@pytest.fixture
def database(tmp_path, django_db_blocker):
    """A connection to a database file of its own."""
    settings = {**connections["default"].settings_dict, "NAME": str(tmp_path / "test.sqlite3")}
    opened = base.DatabaseWrapper(settings, "line")
    with django_db_blocker.unblock():
        yield opened
        opened.close()


def begin(database):
    database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def test_a_transaction_holds_the_line_until_it_is_committed(line, database):
    begin(database)
    assert line._is_held

    database.commit()

    assert not line._is_held


def test_a_transaction_holds_the_line_until_it_is_rolled_back(line, database):
    begin(database)

    database.rollback()

    assert not line._is_held


def test_a_connection_that_is_closed_in_a_transaction_leaves_the_line(line, database):
    begin(database)

    database.close()

    assert not line._is_held


def test_whoever_does_not_get_in_is_told_what_sqlite_would_say(line, database, monkeypatch):
    monkeypatch.setattr(base, "TIMEOUT_SECONDS", 0.01)
    line.acquire(1)

    with pytest.raises(OperationalError, match="locked"):
        begin(database)
    line.release()

    begin(database)
    assert line._is_held


def test_a_transaction_that_cannot_begin_leaves_the_line(line, database, monkeypatch):
    monkeypatch.setattr(database, "cursor", lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        begin(database)

    assert not line._is_held
