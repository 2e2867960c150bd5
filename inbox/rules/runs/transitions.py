"""The legal status changes of runs, interrupts, tool calls and requests, as tables."""

from collections.abc import Mapping
from typing import Any

from inbox.rules.requests.request_states import RequestStatus
from inbox.rules.runs.states import InterruptStatus, RunStatus, ToolCallState

State = RunStatus | InterruptStatus | ToolCallState | RequestStatus


class IllegalMove(Exception):
    """A status change that no table allows: a defect of the caller, never of a request."""

    def __init__(self, before: str, after: str) -> None:
        super().__init__(f"{type(after).__name__} may not change from '{before}' to '{after}'.")


#: A run never leaves a terminal state; a resume or a retry is a new run.
RUN_MOVES: Mapping[RunStatus, frozenset[RunStatus]] = {
    RunStatus.QUEUED: frozenset(
        {
            RunStatus.RUNNING,
            RunStatus.INTERRUPTED,  # a retry that first asks whether a `once` call happened
            RunStatus.FAILED,  # a resume whose decisions cannot be verified
            RunStatus.CANCELLED,
        }
    ),
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.QUEUED,  # released by its worker, or recovered from a lost one
            RunStatus.INTERRUPTED,
            RunStatus.SUCCEEDED,
            RunStatus.FAILED,
            RunStatus.CANCELLED,
        }
    ),
    RunStatus.INTERRUPTED: frozenset(),
    RunStatus.SUCCEEDED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}

#: A withdrawn decision opens its interrupt again; expiry is final.
INTERRUPT_MOVES: Mapping[InterruptStatus, frozenset[InterruptStatus]] = {
    InterruptStatus.OPEN: frozenset(
        {InterruptStatus.RESOLVED, InterruptStatus.CANCELLED, InterruptStatus.EXPIRED}
    ),
    InterruptStatus.RESOLVED: frozenset({InterruptStatus.OPEN}),
    InterruptStatus.CANCELLED: frozenset({InterruptStatus.OPEN}),
    InterruptStatus.EXPIRED: frozenset(),
}

#: Two denials, a call that is begun again after a crash, and a repeated proposal stay in place.
TOOL_CALL_MOVES: Mapping[ToolCallState, frozenset[ToolCallState]] = {
    ToolCallState.PROPOSED: frozenset(
        {
            ToolCallState.PROPOSED,
            ToolCallState.STARTED,
            ToolCallState.SETTLED,  # a remote agent reports only the result
            ToolCallState.NOT_RUN,
            ToolCallState.LAPSED,
        }
    ),
    ToolCallState.STARTED: frozenset(
        {
            ToolCallState.STARTED,
            ToolCallState.PROPOSED,  # paused before its effect
            ToolCallState.SETTLED,
            ToolCallState.IN_DOUBT,
        }
    ),
    ToolCallState.SETTLED: frozenset(),
    ToolCallState.IN_DOUBT: frozenset(
        {ToolCallState.PROPOSED, ToolCallState.SETTLED, ToolCallState.NOT_RUN}
    ),
    # Asked again, because the answer cannot be used.
    ToolCallState.NOT_RUN: frozenset({ToolCallState.NOT_RUN, ToolCallState.PROPOSED}),
    ToolCallState.LAPSED: frozenset({ToolCallState.NOT_RUN, ToolCallState.PROPOSED}),
}

#: A request is open again if its failed run is retried, which asks anew.
REQUEST_MOVES: Mapping[RequestStatus, frozenset[RequestStatus]] = {
    RequestStatus.OPEN: frozenset(
        {
            RequestStatus.DECIDED,
            RequestStatus.DONE,
            RequestStatus.WITHDRAWN,
            RequestStatus.EXPIRED,
        }
    ),
    RequestStatus.DECIDED: frozenset(
        {
            RequestStatus.DECIDED,
            RequestStatus.OPEN,
            RequestStatus.DONE,
            RequestStatus.WITHDRAWN,
            RequestStatus.LAPSED,
        }
    ),
    RequestStatus.DONE: frozenset(),
    RequestStatus.WITHDRAWN: frozenset(),
    RequestStatus.EXPIRED: frozenset(),
    RequestStatus.LAPSED: frozenset(),
}

#: What the withdrawal of a decision undoes: the moves that a decision makes, backwards.
TOOL_CALL_WITHDRAWALS: Mapping[ToolCallState, frozenset[ToolCallState]] = {
    ToolCallState.PROPOSED: frozenset({ToolCallState.PROPOSED, ToolCallState.IN_DOUBT}),
    ToolCallState.STARTED: frozenset(),
    ToolCallState.SETTLED: frozenset({ToolCallState.SETTLED, ToolCallState.IN_DOUBT}),
    ToolCallState.IN_DOUBT: frozenset({ToolCallState.IN_DOUBT}),
    ToolCallState.NOT_RUN: frozenset(
        {
            ToolCallState.NOT_RUN,
            ToolCallState.PROPOSED,
            ToolCallState.IN_DOUBT,
            ToolCallState.LAPSED,
        }
    ),
    ToolCallState.LAPSED: frozenset({ToolCallState.LAPSED}),
}


def check_move(before: str, after: State) -> None:
    """
    Raise unless a row in the state `before` may move to `after`.

    Raises:
        IllegalMove.
    """
    if before not in origins(after):
        raise IllegalMove(before, after)


def check_withdrawal_move(before: str, after: ToolCallState) -> None:
    """
    Raise unless the withdrawal of a decision may put a tool call back to `after`.

    Raises:
        IllegalMove.
    """
    if after not in TOOL_CALL_WITHDRAWALS[ToolCallState(before)]:
        raise IllegalMove(before, after)


def origins(after: State) -> list[State]:
    """Return the states from which a row may move to `after`, for a guarded update."""
    return _ORIGINS[type(after), after]


def _origins(
    table: Mapping[Any, frozenset[Any]],
) -> dict[tuple[type, str], list[Any]]:
    return {
        (type(after), after): [before for before in table if after in table[before]]
        for after in table
    }


_ORIGINS = {
    **_origins(RUN_MOVES),
    **_origins(INTERRUPT_MOVES),
    **_origins(TOOL_CALL_MOVES),
    **_origins(REQUEST_MOVES),
}
