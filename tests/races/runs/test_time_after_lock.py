"""The time of an action is read after the wait for the thread's lock, not before it."""

import pytest
from django.db import transaction

from inbox.models.locks import lock_thread
from tests.support import steps
from tests.support.browser.site import wait_for
from tests.support.races.held_transactions import hold_transaction, is_waited_for

pytestmark = pytest.mark.services


@pytest.mark.parametrize("options", [{}, {"with_team": True}, {"with_conversation": True}])
def test_time_is_that_after_the_wait_for_the_lock(committed_world, options):
    thread = steps.start(committed_world, "rehearse:tool_call").thread
    freed = []

    def note_time(cursor):
        assert wait_for(lambda: is_waited_for(cursor))
        freed.append(cursor.execute("SELECT clock_timestamp()").fetchone()[0])

    lock = f"SELECT 1 FROM inbox_thread WHERE id = '{thread.pk}' FOR UPDATE"
    with hold_transaction(lock, note_time) as may_go_on, transaction.atomic():
        may_go_on.set()
        _, time = lock_thread(thread.pk, **options)

    assert time > freed[0]
