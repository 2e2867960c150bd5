"""Processes that are stopped, not dead: what they hold is not held for ever."""

import threading

import pytest
from django.db import connection

from inbox import sweeper
from inbox.actions.runs.claim import LEASE
from tests.support.product_client import wait_for

pytestmark = pytest.mark.services


@pytest.fixture
def elected_elsewhere():
    """Let another session be elected, and return it; it says nothing of its own."""
    sweeper._drop_session()  # a test before this one may have been elected in it
    elsewhere = []

    def elect():
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        # The session of a test before this one may still be leaving, or be thrown out for silence.
        assert wait_for(sweeper.is_elected, seconds=2 * sweeper.SILENT_SECONDS + 20, every=0.02)
        elsewhere.append(connection.connection)

    thread = threading.Thread(target=elect)
    thread.start()
    thread.join()
    yield elsewhere[0]
    elsewhere[0].close()


def test_a_sweeper_that_fell_silent_is_replaced(committed_world, monkeypatch, request):
    monkeypatch.setattr(sweeper, "SILENT_SECONDS", 0.3)
    request.getfixturevalue("elected_elsewhere")

    assert wait_for(sweeper.is_elected, seconds=40, every=0.02)

    sweeper._drop_session()


def test_idle_transaction_releases_its_locks_before_its_lease_ends(
    committed_world,
):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setting::int FROM pg_settings WHERE name = %s",
            ["idle_in_transaction_session_timeout"],
        )
        (milliseconds,) = cursor.fetchone()

    assert 0 < milliseconds < LEASE.total_seconds() * 1000
