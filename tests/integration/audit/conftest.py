"""A log of its own, with a key of its own, in the transaction of each test."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.support.audit.logs import Auditor, keep_in, write_log


@pytest.fixture
def auditor(settings: Any, tmp_path: Path) -> Auditor:
    """What the auditor of this test's log has."""
    return keep_in(settings, tmp_path)


@pytest.fixture
def log(auditor: Auditor, world: Any) -> Any:
    """The runs of a sealed log."""
    return write_log(world)


@pytest.fixture
def unprotected(log: Any) -> None:
    """The log without its triggers, for those who find a way around them."""
    from inbox.platform import append_only_triggers

    append_only_triggers.remove(connection)
