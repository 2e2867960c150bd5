"""The clock of the tests about the inbox."""

from datetime import timedelta

import pytest

_WHO_LOOKS = ("actions.locking", "selectors.sweep", "selectors.interrupts", "selectors.teamwork")


@pytest.fixture
def later(monkeypatch):
    """Move the database's clock forward."""

    def move(**by):
        from inbox.models.clock import database_now

        ahead = timedelta(**by)

        def shifted():
            return database_now() + ahead

        for module in _WHO_LOOKS:
            monkeypatch.setattr(f"inbox.{module}.database_now", shifted)

    return move
