"""Repeating interrupts whose decisions cannot be used again when a run is retried."""

from collections.abc import Sequence

from ag_ui.core import Interrupt as WireInterrupt
from uuid6 import uuid7

from inbox.actions.runs.tool_calls import save_calls
from inbox.models import Interrupt, ToolCall
from inbox.models.clock import database_now
from inbox.models.moves import move_row
from inbox.queries.runs.interrupt_states import InterruptWithDecision
from inbox.rules import errors
from inbox.rules.runs.states import InterruptStatus, Reason, ToolCallState
from inbox.rules.text.messages import TranslatableMessage

_NOT_STARTED = (ToolCallState.PROPOSED, ToolCallState.LAPSED)


def approved_calls(interrupts: Sequence[InterruptWithDecision]) -> list[ToolCall]:
    """Return the approved tool calls that a retry would execute."""
    return [
        item.row.tool_call
        for item in interrupts
        if item.row.tool_call is not None
        and item.row.reason == Reason.TOOL_CALL
        and item.row.status == InterruptStatus.RESOLVED
        and _may_start(item.row.tool_call)
    ]


def _may_start(call: ToolCall) -> bool:
    """Return whether a retry executes the call without asking about its outcome first."""
    if call.state == ToolCallState.STARTED:
        return call.effect != "once"
    return call.state == ToolCallState.PROPOSED


def plan_repeats(
    interrupts: Sequence[InterruptWithDecision], problem: errors.RunFailure
) -> list[tuple[Interrupt, WireInterrupt]]:
    """
    Return the interrupts to repeat, as (row, new interrupt), and reset their calls to proposals.

    After a lapsed approval only approvals are repeated, and other decisions are used again. After
    any other failure all interrupts are repeated. Calls that have started are not.

    Raises:
        RetryRejected: no interrupt can be repeated.
    """
    has_lapsed = isinstance(problem, errors.ApprovalLapsed)
    repeatable = [item for item in interrupts if _is_repeatable(item.row, only_calls=has_lapsed)]
    if not repeatable:
        raise errors.RetryRejected(
            TranslatableMessage(
                "The answers to this run cannot be verified, so it cannot be retried."
            )
        )
    rows = [item.row for item in repeatable]
    calls = {row.tool_call.pk: row.tool_call for row in rows if row.tool_call is not None}
    for call in calls.values():
        move_row(call, ToolCallState.PROPOSED)
        call.edited_args, call.verdict, call.decided_by = None, "", ""
    save_calls(calls.values(), ["state", "edited_args", "verdict", "decided_by"])
    return [(_latest(item), _copy(item.row)) for item in repeatable]


def _latest(item: InterruptWithDecision) -> Interrupt:
    """Return the interrupt that was decided last: the original, or the one that repeated it."""
    return item.decision.interrupt if item.decision is not None else item.row


def _is_repeatable(row: Interrupt, *, only_calls: bool) -> bool:
    if row.tool_call is None:
        return not only_calls
    state = ToolCallState(row.tool_call.state)
    if only_calls:
        return row.reason == Reason.TOOL_CALL and state in _NOT_STARTED
    return state in (*_NOT_STARTED, ToolCallState.NOT_RUN)


def _copy(row: Interrupt) -> WireInterrupt:
    """Return the interrupt under a new id, with its original time to answer starting now."""
    interrupt = WireInterrupt.model_validate_json(row.body)
    expires_at = None
    if row.expires_at:
        expires_at = (database_now() + (row.expires_at - row.created_at)).isoformat()
    return interrupt.model_copy(update={"id": str(uuid7()), "expires_at": expires_at})
