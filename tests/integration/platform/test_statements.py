"""Statements that are compiled once do what the ORM does."""

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from uuid6 import uuid7

from inbox.models import Event, Interrupt, Run, Team, Thread, ToolCall
from inbox.models.statements import Select, Update, insert, insert_values, save_fields
from inbox.rules.runs.states import RunStatus
from tests.support.steps import start

pytestmark = pytest.mark.django_db


def fields_of(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def interrupted(world):
    return start(world, "rehearse:tool_call")


def test_select_returns_the_same_rows_as_the_orm(interrupted):
    statement = Select(lambda params: Interrupt.objects.filter(run=params.run))

    (row,) = statement.all(run=interrupted.pk)

    assert fields_of(row) == fields_of(Interrupt.objects.get(run=interrupted))
    assert row == Interrupt.objects.get(run=interrupted)
    assert not row._state.adding


def test_select_takes_new_parameters_each_time(interrupted, world):
    other = start(world, "rehearse:echo")
    statement = Select(lambda params: Run.objects.filter(pk=params.pk))

    assert [statement.first(pk=run.pk) for run in (interrupted, other)] == [interrupted, other]


def test_select_related_rows_need_no_further_query(interrupted):
    statement = Select(
        lambda params: Run.objects.select_related("thread__agent", "resumes").filter(pk=params.pk)
    )

    with CaptureQueriesContext(
        connection,
    ) as queries:
        run = statement.first(pk=interrupted.pk)
        agent = run.thread.agent

    assert len(queries) == 1
    assert fields_of(agent) == fields_of(interrupted.thread.agent)
    assert run.resumes is None


def test_missing_reverse_row_is_known_to_be_missing(interrupted):
    statement = Select(
        lambda params: Interrupt.objects.select_related("claim").filter(pk=params.pk)
    )
    pk = Interrupt.objects.get(run=interrupted).pk

    with CaptureQueriesContext(connection) as queries:
        row = statement.first(pk=pk)
        has_claim = hasattr(row, "claim")

    assert not has_claim
    assert len(queries) == 1


def test_deferred_columns_are_read_when_they_are_used(interrupted):
    statement = Select(lambda params: Thread.objects.defer("messages").filter(pk=params.pk))

    thread = statement.first(pk=interrupted.thread_id)

    assert thread.get_deferred_fields() == {"messages"}
    assert thread.messages == interrupted.thread.messages


@pytest.mark.parametrize("number", [1, 2, 3, 40])
def test_lists_of_any_length_are_parameters(interrupted, number):
    statement = Select(
        lambda params: ToolCall.objects.filter(tool_call_id__in=params.each("ids")).values_list(
            "tool_call_id", "run_id"
        )
    )
    call = ToolCall.objects.get(run=interrupted)
    ids = [call.tool_call_id, *(f"unknown-{place}" for place in range(number - 1))]

    assert statement.all(ids=ids) == [(call.tool_call_id, interrupted.pk)]


def test_flat_values_are_single_values(interrupted):
    statement = Select(
        lambda params: Run.objects.filter(pk=params.pk).values_list("status", flat=True)
    )

    assert statement.all(pk=interrupted.pk) == [RunStatus.INTERRUPTED]


def test_no_row_is_none(db):
    statement = Select(lambda params: Team.objects.filter(slug=params.slug))

    assert statement.first(slug="nowhere") is None


def test_rows_are_locked_in_transactions_only(world, monkeypatch):
    statement = Select(
        lambda params: Team.objects.select_for_update(no_key=True).filter(pk=params.pk)
    )
    assert statement.first(pk=world.team.pk) == world.team

    monkeypatch.setattr(connections["default"], "in_atomic_block", False)
    with pytest.raises(TransactionManagementError):
        statement.first(pk=world.team.pk)


def test_update_changes_the_rows_and_counts_them(interrupted):
    statement = Update(lambda params: Run.objects.filter(pk=params.pk, fence=params.fence))
    at = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)

    held = statement.execute({"started_at": at}, pk=interrupted.pk, fence=interrupted.fence)
    lost = statement.execute({"started_at": None}, pk=interrupted.pk, fence=99)

    assert (held, lost) == (1, 0)
    assert Run.objects.get(pk=interrupted.pk).started_at == at


def test_update_refuses_fields_that_convert_their_values(world):
    statement = Update(lambda params: Team.objects.filter(pk=params.pk))

    with pytest.raises(TypeError, match="headings"):
        statement.execute({"headings": {}}, pk=world.team.pk)


def test_save_fields_stores_these_fields_only(interrupted):
    interrupted.error_code, interrupted.started_by = "CODE", "changed"

    save_fields(interrupted, "error_code")

    stored = Run.objects.get(pk=interrupted.pk)
    assert stored.error_code == "CODE"
    assert stored.started_by != "changed"


def test_saving_a_row_that_is_gone_raises(interrupted):
    with pytest.raises(DatabaseError):
        save_fields(Thread(pk=interrupted.pk, title="x"), "title")


@pytest.mark.parametrize("number", [1, 2, 7, 200])
def test_insert_stores_rows_as_they_are(interrupted, number):
    call = ToolCall.objects.get(run=interrupted)
    rows = [
        ToolCall(
            team_id=call.team_id,
            agent_id=call.agent_id,
            thread_id=call.thread_id,
            run_id=call.run_id,
            tool_call_id=f"new-{place}",
            name="náme % %s",
            args="{}",
            proposed_at=call.proposed_at,
        )
        for place in range(number)
    ]

    insert(rows)

    stored = ToolCall.objects.filter(tool_call_id__startswith="new-").order_by("pk")
    assert [fields_of(row) for row in stored] == [fields_of(row) for row in rows]
    assert not any(row._state.adding for row in rows)


def test_insert_keeps_the_constraints_of_the_database(interrupted):
    fields = {**fields_of(ToolCall.objects.get(run=interrupted)), "id": uuid7()}

    with pytest.raises(IntegrityError), transaction.atomic():
        insert([ToolCall(**fields)])


def test_rows_that_exist_are_updated_in_the_named_fields_only(interrupted):
    call = ToolCall.objects.get(run=interrupted)
    before = fields_of(call)
    call.result, call.name = "done", "other"

    insert([call], update=["result"])

    assert fields_of(ToolCall.objects.get(pk=call.pk)) == {**before, "result": "done"}


def test_values_are_inserted_in_order_and_their_ids_returned(interrupted):
    values = [
        {
            "thread_id": interrupted.thread_id,
            "run_id": interrupted.pk,
            "seq": 1000 + place,
            "type": "CUSTOM",
            "body": str(place),
            "from_agent": True,
            "at": interrupted.queued_at,
        }
        for place in range(40)
    ]

    pks = insert_values(Event, values)

    rows = Event.objects.filter(seq__gte=1000).order_by("seq")
    assert [(row.pk, row.body) for row in rows] == [
        (pk, str(place)) for place, pk in enumerate(pks)
    ]


def test_a_value_that_is_missing_is_null(interrupted):
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_values(Event, [{"thread_id": interrupted.thread_id, "seq": 1000}])
