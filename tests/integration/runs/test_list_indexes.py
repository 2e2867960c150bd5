"""Threads, runs, comments and deliveries, a page at a time: each page is a piece of an index."""

import re
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.actions.webhooks.deliveries import send_test
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.queries.decisions.collaboration import comments_page
from inbox.queries.runs.threads import runs_for, threads_for
from inbox.queries.webhooks.endpoints import deliveries_of
from inbox.rules.people.access import SEED
from inbox.rules.runs.states import RunStatus
from tests.integration.decisions.test_inbox_lists import explain
from tests.support.steps import open_interrupts, start

#: Behind everything there is: the second page is read like the first one.
LAST = UUID("ffffffff-ffff-ffff-ffff-ffffffffffff")


@pytest.fixture
def rows(world, bob):
    """One run, comment and delivery, and the way to each of the lists."""
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    add_comment(interrupt_id=interrupt.pk, actor=bob, text="one")
    hook, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        actor=SEED,
        event_types=["run.finished"],
    )
    message = send_test(endpoint_id=hook.pk, actor=SEED)
    return {
        "threads_by_time": lambda: threads_for(bob, after=LAST, limit=51),
        "threads_of_agent": lambda: threads_for(bob, agent="rehearsal", after=LAST, limit=51),
        "runs_of_a_team": lambda: runs_for(bob, after=LAST, limit=51),
        "runs_by_status": lambda: runs_for(
            bob, statuses=[RunStatus.INTERRUPTED], after=LAST, limit=51
        ),
        "runs_of_agent": lambda: runs_for(bob, agent="rehearsal", after=LAST, limit=51),
        "runs_of_thread": lambda: runs_for(bob, thread=run.thread, after=LAST, limit=51),
        "comments_in_order": lambda: comments_page(SEED, interrupt, after=UUID(int=0), limit=51),
        "deliveries_of_endpoint": lambda: deliveries_of(hook, after=message.message_id, limit=51),
    }


@pytest.mark.parametrize(
    "index",
    [
        *("threads_by_time", "threads_of_agent", "runs_of_a_team", "runs_by_status"),
        *("runs_of_agent", "runs_of_thread", "comments_in_order", "deliveries_of_endpoint"),
    ],
)
def test_a_page_is_read_from_an_index_in_its_order(rows, index):
    with CaptureQueriesContext(connection) as queries:
        rows[index]()
    plan = explain(next(query["sql"] for query in queries if "LIMIT 51" in query["sql"]))

    # With one row PostgreSQL takes this index or another one, all of them in the right order.
    assert index in plan or connection.vendor == "postgresql"
    assert not re.search(r"SCAN (?!CONSTANT)|Seq Scan|Sort|TEMP B-TREE", plan)
