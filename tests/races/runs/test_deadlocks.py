"""A worker's write that PostgreSQL ends in a deadlock is repeated; the run goes on."""

import pytest
from ag_ui.core import StepStartedEvent
from django.db import OperationalError, connection

from inbox.actions.runs.event_log import encode_frame
from inbox.actions.runs.run_lease import EventBatch, append_events, claim_run
from inbox.actions.runs.start_run import start_run
from inbox.models import Event
from tests.support.browser.site import wait_for
from tests.support.races.held_transactions import hold_transaction, is_waited_for
from tests.support.steps import request

pytestmark = pytest.mark.services


@pytest.fixture
def lease(committed_world):
    alice = committed_world.actor(committed_world.alice)
    message = request("rehearse:echo")
    accepted = start_run(agent=committed_world.agent, request=message, actor=alice)
    _, lease = claim_run(run_id=accepted.run.pk)
    return lease


@pytest.fixture
def other_transaction(lease):
    """Lock the run, and then the thread, in the opposite order of the product; wait in between."""
    # The worker looks for a deadlock first, and so its transaction is the one to end.
    begin = (
        "SET LOCAL deadlock_timeout = '60s';"
        f"SELECT 1 FROM inbox_run WHERE id = '{lease.run_id}' FOR UPDATE"
    )

    def lock_thread(cursor):
        assert wait_for(lambda: is_waited_for(cursor))
        thread = "SELECT 1 FROM inbox_thread WHERE id = %s FOR UPDATE"
        cursor.execute(thread, [lease.thread_id])

    with hold_transaction(begin, lock_thread) as may_go_on:
        yield may_go_on


def batch():
    return EventBatch(frames=[encode_frame(StepStartedEvent(step_name="pay"))])


def test_events_are_stored_once_after_a_deadlock(lease, other_transaction):
    other_transaction.set()

    append_events(lease=lease, batch=batch())

    assert Event.objects.filter(run=lease.run_id, type="STEP_STARTED").count() == 1


def test_without_the_second_try_a_deadlock_ends_the_write(lease, other_transaction):
    """The test above needs the second try: there is a deadlock."""
    other_transaction.set()

    with pytest.raises(OperationalError, match="deadlock"):
        append_events.__wrapped__(lease=lease, batch=batch())

    assert not Event.objects.filter(run=lease.run_id, type="STEP_STARTED").exists()
    assert connection.is_usable()
