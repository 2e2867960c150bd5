"""Migrations that change rows which are there: on large databases, in batches."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from agents.agui.conversation import fingerprint
from inbox.models.decision_keys import decision_keys
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.decisions.signatures import SignedDecision, check_signature
from tests.support.postgres import PostgresServer
from tests.support.processes import manage, scaled_environment

pytestmark = pytest.mark.services

DECISIONS, OLD_DECISIONS, THREADS, RUNS = 2_500, 100, 450, 4
KEY = "a key that signs decisions"


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory) -> Iterator[psycopg.Connection[Any]]:
    """A database with the rows of a busy site, from before decisions were signed until now."""
    with PostgresServer() as server:
        url = server.create_database("signoff")
        environment = scaled_environment(
            tmp_path_factory.mktemp("upgrade"),
            database_url=url,
            redis_url="redis://127.0.0.1:1",
            SIGNOFF_DECISION_KEYS=KEY,
        )
        manage(environment, "migrate", "inbox", "0032")
        with psycopg.connect(url, autocommit=True) as connection:
            add_site(connection)
            manage(environment, "migrate")
            yield connection


def add_site(connection):
    add(connection, "inbox_team", 1, slug="'a team'")
    add(connection, "inbox_agent", 1, team_id="(SELECT id FROM inbox_team)")
    add(connection, "inbox_thread", THREADS, external_id="'thread ' || n", **OF_TEAM)
    given = {"messages": [{"id": "m1", "role": "user", "content": "Pay Ada 9."}]}
    per_thread = f"SELECT id FROM inbox_thread OFFSET (n - 1) / {RUNS} LIMIT 1"
    add(
        connection,
        "inbox_run",
        THREADS * RUNS,
        thread_id=f"({per_thread})",
        external_id="'run ' || n",
        status="'succeeded'",
        attempt="1",
        input=f"replace('{json.dumps(given)}', 'm1', 'm' || n)",
        resume="'[]'",
        first_seq="n",
        **OF_TEAM,
    )
    of_run = "(SELECT id FROM inbox_run ORDER BY first_seq LIMIT 1)"
    thread = "(SELECT thread_id FROM inbox_run ORDER BY first_seq LIMIT 1)"
    calls = DECISIONS + OLD_DECISIONS
    about = {"run_id": of_run, "thread_id": thread}
    args = "'{\"n\":' || n || '}'"
    ids = {"tool_call_id": "'call ' || n"}
    add(connection, "inbox_toolcall", calls, args=args, **about, **ids, **OF_TEAM)
    call = "(SELECT id FROM inbox_toolcall WHERE tool_call_id = 'call ' || n)"
    add(
        connection,
        "inbox_interrupt",
        calls,
        interrupt_id="'interrupt ' || n",
        position="n",
        tool_call_id=call,
        body="'{}'",
        view_digest="'shown'",
        **about,
        **OF_TEAM,
    )
    interrupt = "(SELECT id FROM inbox_interrupt WHERE position = n)"
    age = f"CASE WHEN n > {DECISIONS} THEN 31 ELSE 1 END"
    add(
        connection,
        "inbox_decision",
        calls,
        interrupt_id=interrupt,
        status="'resolved'",
        payload="'{\"approved\":true}'",
        actor_kind="'user'",
        actor_label="'Bob'",
        created_at=f"now() - make_interval(days => {age})",
    )


OF_TEAM = {
    "team_id": "(SELECT id FROM inbox_team)",
    "agent_id": "(SELECT id FROM inbox_agent)",
}
EMPTY = {
    "uuid": "gen_random_uuid()",
    "timestamp with time zone": "now()",
    "boolean": "false",
    "jsonb": "'{}'",
    "character varying": "''",
    "text": "''",
}


def add(connection, table, number, **columns):
    """Insert rows; columns that must have a value and are given none get an empty one."""
    known = connection.execute(
        "SELECT column_name, data_type, is_nullable = 'NO' AND column_default IS NULL "
        "AND is_identity = 'NO' FROM information_schema.columns WHERE table_name = %s",
        [table],
    ).fetchall()
    values = {name: EMPTY.get(kind, "0") for name, kind, is_needed in known if is_needed}
    names = {name for name, _, _ in known}
    values |= {name: value for name, value in columns.items() if name in names}
    connection.execute(
        sql.SQL("INSERT INTO {} ({}) SELECT {} FROM generate_series(1, {}) AS n").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, values)),
            sql.SQL(", ").join(map(sql.SQL, values.values())),
            sql.Literal(number),
        )
    )


def transactions(connection, table):
    """How many transactions have written the rows of a table as they are now."""
    query = sql.SQL("SELECT count(DISTINCT xmin::text) FROM {}").format(sql.Identifier(table))
    (number,) = connection.execute(query).fetchone()
    return number


def test_decisions_are_signed_in_batches_and_each_signature_holds(upgraded, settings):
    settings.DECISION_KEYS = [KEY]
    rows = upgraded.execute(
        "SELECT i.id, d.args_digest, d.created_at, d.signature, c.args FROM inbox_decision d "
        "JOIN inbox_interrupt i ON i.id = d.interrupt_id "
        "JOIN inbox_toolcall c ON c.id = i.tool_call_id WHERE d.signature <> ''"
    ).fetchall()

    assert len(rows) == DECISIONS
    assert transactions(upgraded, "inbox_decision") > DECISIONS / 200
    for interrupt, args_digest, decided_at, signature, args in rows:
        assert args_digest == digest(args)
        decided = SignedDecision(
            interrupt_id=interrupt,
            view_digest="shown",
            endpoint_digest="",
            status="resolved",
            payload=canonical_json({"approved": True}),
            args_digest=args_digest,
            actor="user:Bob",
            decided_at=decided_at,
        )
        check_signature(decided, signature, decision_keys())


def test_threads_get_what_clients_sent_to_them_in_batches(upgraded):
    rows = upgraded.execute(
        "SELECT t.client_messages, array_agg(r.first_seq) FROM inbox_thread t "
        "JOIN inbox_run r ON r.thread_id = t.id GROUP BY t.id"
    ).fetchall()
    sent = fingerprint({"role": "user", "content": "Pay Ada 9."})

    assert transactions(upgraded, "inbox_thread") > THREADS / 200
    assert len(rows) == THREADS
    for stored, runs in rows:
        assert json.loads(stored) == {f"m{number}": sent for number in runs}
