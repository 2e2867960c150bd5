"""Partitions of tables by time, as docs/scaling.md describes them, on a real PostgreSQL."""

import re
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from inbox.models import Event
from inbox.platform.append_only_triggers import install
from inbox.platform.clock import database_now
from tests.support import steps
from tests.support.processes import REPOSITORY

_PAGE = (REPOSITORY / "docs/scaling.md").read_text()
PARTITION, DROP = re.findall(r"```sql\n(.*?)```", _PAGE, re.DOTALL)


MONTH = timedelta(days=31)


def partitions_of(run):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT tableoid::regclass::text FROM inbox_event WHERE run_id = %s", [run.pk]
        )
        return [name for (name,) in cursor]


def execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("inbox_event", "at"),
        ("inbox_event", "id"),
        ("inbox_auditentry", "at"),
        ("inbox_auditentry", "id"),
        ("inbox_auditentry", "chain"),
    ],
)
def test_unique_keys_rule_out_partitions_by_other_columns(db, table, key):
    sql = (
        f"CREATE TABLE parts (LIKE {table} INCLUDING CONSTRAINTS INCLUDING INDEXES)"
        f" PARTITION BY RANGE ({key})"
    )

    with pytest.raises(DatabaseError, match="partition"), transaction.atomic():
        execute(sql)


def test_events_are_partitioned_by_the_time_in_the_id_of_their_thread(world):
    old = steps.start(world, "rehearse:echo")
    now = database_now()
    execute("SET CONSTRAINTS ALL IMMEDIATE")

    execute(PARTITION.replace("2026-12-01", f"{now}").replace("2027-01-01", f"{now + MONTH}"))
    install(connection)
    new = steps.start(world, "rehearse:echo")

    assert partitions_of(old) == ["inbox_event_before"]
    assert partitions_of(new) == ["inbox_event_2026_12"]
    event = Event.objects.filter(run=new).latest("seq")
    with pytest.raises(DatabaseError, match="append"), transaction.atomic():
        Event.objects.filter(pk=event.pk).update(type="changed")
    event.pk = None
    with pytest.raises(DatabaseError, match="thread_id_seq"), transaction.atomic():
        event.save(force_insert=True)
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    execute(DROP)
    assert not Event.objects.filter(run=old).exists()
    assert Event.objects.filter(run=new).exists()
