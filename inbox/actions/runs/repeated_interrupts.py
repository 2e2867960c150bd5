"""Asking people again, where the answers that a run went on with cannot be used once more."""

from collections.abc import Sequence
from datetime import timedelta

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

_MAY_RUN = (ToolCallState.PROPOSED, ToolCallState.LAPSED)


def approved_calls(asked: Sequence[InterruptWithDecision]) -> list[ToolCall]:
    """Return the calls among these that were approved, and that a retry would run."""
    return [
        item.row.tool_call
        for item in asked
        if item.row.tool_call is not None
        and item.row.reason == Reason.TOOL_CALL
        and item.row.status == InterruptStatus.RESOLVED
        and _may_start(item.row.tool_call)
    ]


def _may_start(call: ToolCall) -> bool:
    """Return whether a retry would run the call; one with a lasting effect is asked about first."""
    if call.state == ToolCallState.STARTED:
        return call.effect != "once"
    return call.state == ToolCallState.PROPOSED


def plan_repeats(
    asked: Sequence[InterruptWithDecision], problem: errors.RunFailure
) -> list[tuple[Interrupt, WireInterrupt]]:
    """
    Return the interrupts to ask once more, with what is asked, and make their calls proposals.

    A lapsed approval is asked for again, and the answers beside it stay; in any other case no
    answer is used again. Calls that have started are never asked about.

    Raises:
        RetryRejected: there is nothing that could be asked again.
    """
    has_lapsed = isinstance(problem, errors.ApprovalLapsed)
    again = [item for item in asked if _is_repeatable(item.row, only_calls=has_lapsed)]
    if not again:
        raise errors.RetryRejected(
            TranslatableMessage(
                "The answers to this run cannot be verified, so nobody can try it again."
            )
        )
    rows = [item.row for item in again]
    calls = {row.tool_call.pk: row.tool_call for row in rows if row.tool_call is not None}
    for call in calls.values():
        move_row(call, ToolCallState.PROPOSED)
        call.edited_args, call.verdict, call.decided_by = None, "", ""
    save_calls(calls.values(), ["state", "edited_args", "verdict", "decided_by"])
    return [(_latest(item), _asked_again(item.row)) for item in again]


def _latest(item: InterruptWithDecision) -> Interrupt:
    """Return the interrupt that was answered last: the agent's own, or what repeated it."""
    return item.decision.interrupt if item.decision is not None else item.row


def _is_repeatable(row: Interrupt, *, only_calls: bool) -> bool:
    if row.tool_call is None:
        return not only_calls
    state = ToolCallState(row.tool_call.state)
    if only_calls:
        return row.reason == Reason.TOOL_CALL and state in _MAY_RUN
    return state in (*_MAY_RUN, ToolCallState.NOT_RUN)


def _asked_again(row: Interrupt) -> WireInterrupt:
    asked = WireInterrupt.model_validate_json(row.body)
    lasts = row.expires_at - row.created_at if row.expires_at else None
    expires_at = _text(lasts) if lasts else None
    return asked.model_copy(update={"id": str(uuid7()), "expires_at": expires_at})


def _text(lasts: timedelta) -> str:
    return (database_now() + lasts).isoformat()
