"""The tables of legal moves: every pair of states, in memory and in the database."""

from itertools import product
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from inbox.models import AgentRequest, Interrupt, Run, ToolCall
from inbox.models.moves import move_row, move_rows, restore_tool_call
from inbox.platform.clock import database_now
from inbox.rules.requests.request_states import RequestStatus
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, InterruptStatus, RunStatus, ToolCallState
from inbox.rules.runs.transitions import (
    INTERRUPT_MOVES,
    REQUEST_MOVES,
    RUN_MOVES,
    TOOL_CALL_MOVES,
    TOOL_CALL_WITHDRAWALS,
    IllegalMove,
)
from tests.support.requests.programs import Program, make_program
from tests.support.steps import start

#: The design, written a second time: whoever changes a table changes it here too.
RUNS = {
    "queued": "running interrupted failed cancelled",
    "running": "queued interrupted succeeded failed cancelled",
}
INTERRUPTS = {"open": "resolved cancelled expired", "resolved": "open", "cancelled": "open"}
TOOL_CALLS = {
    "proposed": "proposed started settled not_run lapsed",
    "started": "started proposed settled in_doubt",
    "in_doubt": "proposed settled not_run",
    "not_run": "not_run proposed",
    "lapsed": "not_run proposed",
}
REQUESTS = {
    "open": "decided done withdrawn expired",
    "decided": "decided open done withdrawn lapsed",
}
KINDS = {
    RunStatus: (RUN_MOVES, RUNS, Run, "status"),
    InterruptStatus: (INTERRUPT_MOVES, INTERRUPTS, Interrupt, "status"),
    ToolCallState: (TOOL_CALL_MOVES, TOOL_CALLS, ToolCall, "state"),
    RequestStatus: (REQUEST_MOVES, REQUESTS, AgentRequest, "status"),
}
PAIRS = [pair for states in KINDS for pair in product(states, states)]


def is_legal(before: Any, after: Any) -> bool:
    return after.value in KINDS[type(before)][1].get(before.value, "").split()


def columns_of(state: Any) -> dict[str, Any]:
    """The other columns that the database demands of a row in this state."""
    now = database_now()
    match state:
        case RunStatus():
            return {
                "finished_at": None if state in ACTIVE_RUN_STATUSES else now,
                "lease_until": now if state is RunStatus.RUNNING else None,
                "fence": 1,
            }
        case InterruptStatus():
            return {"closed_at": None if state is InterruptStatus.OPEN else now}
        case RequestStatus():
            return {}
        case _:
            is_settled = state is ToolCallState.SETTLED
            result = {"result": '"42"', "settled_at": now} if is_settled else {"result": None}
            return {"started_at": now, **result}


@pytest.fixture
def row_in(world: Any) -> Any:
    """Put the rows of a run that waits for a decision into a state."""
    run = start(world, "rehearse:tool_call")
    interrupt = Interrupt.objects.get(run=run)
    agent_request = Program(make_program(world)).ask()
    rows = {
        RunStatus: run,
        InterruptStatus: interrupt,
        ToolCallState: interrupt.tool_call,
        RequestStatus: AgentRequest.objects.get(pk=agent_request["id"]),
    }

    def put(state: Any) -> Any:
        _, _, model, column = KINDS[type(state)]
        pk = rows[type(state)].pk
        model.objects.filter(pk=pk).update(**{column: state}, **columns_of(state))
        return model.objects.get(pk=pk)

    return put


def test_the_tables_name_every_state():
    for states, (moves, _, _, _) in KINDS.items():
        assert set(moves) == set(states)
    assert set(TOOL_CALL_WITHDRAWALS) == set(ToolCallState)


def test_a_row_makes_legal_moves_only():
    for before, after in PAIRS:
        _, _, model, column = KINDS[type(before)]
        row = model(**{column: before})

        if is_legal(before, after):
            move_row(row, after)
            assert getattr(row, column) == after
        else:
            with pytest.raises(IllegalMove, match=f"from '{before}' to '{after}'"):
                move_row(row, after)
            assert getattr(row, column) == before


def test_a_guarded_update_makes_legal_moves_only(row_in):
    for before, after in PAIRS:
        row = row_in(before)
        _, _, model, column = KINDS[type(before)]

        moved = move_rows(model.objects.filter(pk=row.pk), after, **columns_of(after))

        row.refresh_from_db()
        assert moved == is_legal(before, after), (before, after)
        assert getattr(row, column) == (after if moved else before)


def test_a_withdrawal_undoes_what_a_decision_did_and_nothing_else():
    undone = {
        (before, after)
        for before, after in product(ToolCallState, ToolCallState)
        if _restores(before, after)
    }
    by_decision = {
        (ToolCallState.NOT_RUN, ToolCallState.PROPOSED),
        (ToolCallState.NOT_RUN, ToolCallState.IN_DOUBT),
        (ToolCallState.NOT_RUN, ToolCallState.LAPSED),
        (ToolCallState.SETTLED, ToolCallState.IN_DOUBT),
        (ToolCallState.PROPOSED, ToolCallState.IN_DOUBT),
    }
    unchanged = {(state, state) for state in ToolCallState if state is not ToolCallState.STARTED}

    assert undone == by_decision | unchanged
    for after, before in by_decision:
        assert is_legal(before, after)


def _restores(before: ToolCallState, after: ToolCallState) -> bool:
    call = ToolCall(state=before)
    try:
        restore_tool_call(call, after)
    except IllegalMove:
        return False
    return call.state == after


def test_a_run_that_has_ended_never_moves():
    for status in set(RunStatus) - set(ACTIVE_RUN_STATUSES):
        assert not RUN_MOVES[status]


CONTRADICTIONS = [
    (RunStatus.FAILED, {"status": "paused"}, "run_status_is_known"),
    (RunStatus.QUEUED, {"finished_at": "now"}, "finished_run_has_its_time"),
    (RunStatus.RUNNING, {"finished_at": "now"}, "finished_run_has_its_time"),
    (RunStatus.SUCCEEDED, {"finished_at": None}, "finished_run_has_its_time"),
    (RunStatus.INTERRUPTED, {"finished_at": None}, "finished_run_has_its_time"),
    (RunStatus.RUNNING, {"lease_until": None}, "running_run_has_a_lease"),
    (RunStatus.RUNNING, {"fence": 0}, "running_run_has_a_lease"),
    (RunStatus.QUEUED, {"lease_until": "now"}, "running_run_has_a_lease"),
    (RunStatus.FAILED, {"lease_until": "now"}, "running_run_has_a_lease"),
    (RunStatus.RUNNING, {"resume_at": "now"}, "resume_time_of_interrupted_run"),
    (RunStatus.FAILED, {"resume_at": "now"}, "resume_time_of_interrupted_run"),
    (InterruptStatus.RESOLVED, {"status": "asked"}, "interrupt_status_is_known"),
    (InterruptStatus.OPEN, {"closed_at": "now"}, "closed_interrupt_has_its_time"),
    (InterruptStatus.EXPIRED, {"closed_at": None}, "closed_interrupt_has_its_time"),
    (ToolCallState.PROPOSED, {"state": "done"}, "tool_call_state_is_known"),
    (ToolCallState.STARTED, {"started_at": None}, "started_call_has_its_time"),
    (ToolCallState.IN_DOUBT, {"started_at": None}, "started_call_has_its_time"),
    (ToolCallState.SETTLED, {"result": None}, "settled_call_has_its_result"),
    (ToolCallState.SETTLED, {"settled_at": None}, "settled_call_has_its_result"),
]


def test_the_database_refuses_columns_that_contradict_the_status(row_in):
    for state, columns, constraint in CONTRADICTIONS:
        row = row_in(state)
        now = database_now()
        values = {name: now if value == "now" else value for name, value in columns.items()}

        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(**values)
