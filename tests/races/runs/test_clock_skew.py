"""Machines whose clocks differ: ids are made there, and must not decide what came last."""

from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import pytest

from inbox.actions.idempotency import IdempotencyKey
from inbox.actions.runs import start_run
from inbox.queries.runs.latest_run import interrupted_run
from tests.support import steps

pytestmark = pytest.mark.services


@pytest.fixture
def a_machine_ahead(monkeypatch):
    """Give runs the ids that a machine makes whose clock is a minute ahead, until it is undone."""
    ahead = int((datetime.now(UTC) + timedelta(minutes=1)).timestamp() * 1000)

    run_id = UUID(int=ahead << 80 | 0x7 << 76 | 0b10 << 62 | 1)
    monkeypatch.setattr(start_run, "IdempotencyKey", partial(IdempotencyKey, result_id=run_id))
    return monkeypatch


def test_thread_continues_after_a_resume_from_a_slow_clock(
    committed_world, race_bob, a_machine_ahead
):
    run = steps.start(committed_world, "rehearse:tool_call")
    a_machine_ahead.undo()
    (interrupt,) = steps.open_interrupts(run)
    steps.approve(interrupt, race_bob)
    resumed = steps.resumed_run(run)
    assert resumed.pk < run.pk

    assert resumed.status == "succeeded"
    assert interrupted_run(run.thread) is None
    again = steps.start(committed_world, "hello", thread_id=run.thread.external_id)
    assert again.status == "succeeded"
