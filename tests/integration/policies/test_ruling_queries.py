"""Rulings on many interrupts are read with few statements."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.runs.start_run import start_run
from inbox.models import Interrupt
from inbox.queries.policies.policies import load_rulings
from tests.support.policies.published import publish, rule
from tests.support.steps import entry, open_interrupts, request, start


def statements_about(queries, table):
    return [query["sql"] for query in queries if table in query["sql"].lower()]


def test_an_answer_to_three_interrupts_reads_their_rulings_at_once(world, bob):
    publish(world, rule("mails", "ask"))
    run = start(world, "rehearse:parallel3")
    entries = tuple(entry(row, {"approved": True}) for row in open_interrupts(run))
    answer = request(thread_id=run.thread.external_id, entries=entries)

    with CaptureQueriesContext(connection) as queries:
        start_run(agent=world.agent, request=answer, actor=bob)

    reads = [sql for sql in statements_about(queries, "inbox_ruling") if sql.startswith("SELECT")]
    singles = [sql for sql in reads if "LIMIT 1" in sql]
    assert not Interrupt.objects.filter(run=run, status="open").exists()
    assert singles == []
    assert len(reads) <= 3


def test_loading_rulings_of_many_interrupts_is_one_statement(world):
    publish(world, rule("mails", "ask"))
    rows = open_interrupts(start(world, "rehearse:parallel3"))

    with CaptureQueriesContext(connection) as queries:
        load_rulings(rows)
        numbers = [row.ruling.number for row in rows]

    assert (numbers, len(queries)) == ([1, 1, 1], 1)
