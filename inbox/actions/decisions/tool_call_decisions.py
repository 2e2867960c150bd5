"""Applying decisions to tool calls, and undoing that after a withdrawal."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.actions.runs.tool_calls import save_calls
from inbox.models import Decision, Interrupt, ToolCall
from inbox.models.moves import move_row, restore_tool_call
from inbox.queries.runs.interrupt_states import entry_of
from inbox.rules.decisions.approvals import asks_consent
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, Reason, ToolCallState
from inbox.rules.runs.tool_call_outcome import outcome_of_entry, outweighs

_FIELDS = ("state", "edited_args", "result", "settled_at", "verdict", "decided_by")


def apply_decisions(
    answers: Sequence[tuple[Interrupt, ResumeEntry]], now: datetime, *, by: str
) -> dict[UUID, str]:
    """
    Apply answers to their tool calls; `tool_calls.start_calls` rejects any other arguments.

    Returns the previous state of each call by interrupt, for `Decision.tool_call_before`.
    """
    # Two interrupts may be about one call; both must change the same object.
    calls: dict[UUID, ToolCall] = {}
    snapshots: dict[UUID, str] = {}
    for interrupt, entry in answers:
        if interrupt.tool_call is not None:
            call = calls.setdefault(interrupt.tool_call.pk, interrupt.tool_call)
            interrupt.tool_call = call
            columns = {name: getattr(call, name) for name in _FIELDS}
            snapshots[interrupt.pk] = json.dumps(columns, default=datetime.isoformat)
            _apply(call, interrupt, entry, now, by)
    save_calls(calls.values(), _FIELDS)
    return snapshots


def recompute_tool_call(interrupt: Interrupt) -> None:
    """
    Recompute the interrupt's tool call from its decisions in force, after a withdrawal.

    All decisions are applied again to the state before the first one, because two interrupts may be
    about one call: without a denial the edits of an approval apply again. Nothing but decisions
    changes a call between the interrupt and the resume.
    """
    call = interrupt.tool_call
    if call is None:
        return
    decisions = list(
        Decision.objects.filter(interrupt__run=interrupt.run_id, interrupt__tool_call=call)
        .select_related("interrupt")
        .order_by("created_at", "pk")
    )
    states_before = (decision.tool_call_before for decision in decisions)
    initial_state = next((state for state in states_before if state is not None), "{}")
    # Older rows have no `verdict` and no `decided_by`.
    columns = {"verdict": "", "decided_by": "", **json.loads(initial_state)}
    if "state" in columns:
        restore_tool_call(call, ToolCallState(columns.pop("state")))
    for field, value in columns.items():
        setattr(call, field, value)
    if isinstance(call.settled_at, str):
        call.settled_at = datetime.fromisoformat(call.settled_at)
    for decision in decisions:
        if decision.withdrawn_at is None:
            interrupt = decision.interrupt
            entry = entry_of(interrupt, decision)
            _apply(call, interrupt, entry, decision.created_at, decision.ident)
    call.save(update_fields=_FIELDS)


def _apply(
    call: ToolCall, interrupt: Interrupt, entry: ResumeEntry, now: datetime, by: str
) -> None:
    """Apply one answer to the call; a denial outweighs any approval."""
    answer = entry.payload if isinstance(entry.payload, dict) else {}
    reason = interrupt.reason
    if reason == Reason.OUTCOME_UNKNOWN:
        _settle_doubt(call, entry, answer, now)
    elif reason == Reason.TOOL_CALL:
        _approve(call, entry, answer)
    elif call.state == ToolCallState.PROPOSED and asks_consent(
        reason=reason, schema=interrupt.schema
    ):  # not a question that a call asks while it runs
        _approve(call, entry, {**answer, "approved": is_consent(entry)})
    verdict = outcome_of_entry(entry, by=by)
    if outweighs(verdict, call.verdict):
        call.verdict, call.decided_by = verdict, by[:64]


def _approve(call: ToolCall, entry: ResumeEntry, answer: dict[str, Any]) -> None:
    if entry.status is not EntryStatus.RESOLVED or answer.get("approved") is not True:
        if call.state != ToolCallState.SETTLED:  # it did run; the denial is its verdict only
            move_row(call, ToolCallState.NOT_RUN)
    elif isinstance(answer.get("editedArgs"), dict):
        call.edited_args = canonical_json(answer["editedArgs"])


def _settle_doubt(
    call: ToolCall, entry: ResumeEntry, answer: dict[str, Any], now: datetime
) -> None:
    outcome = answer.get("outcome") if entry.status is EntryStatus.RESOLVED else "stop"
    if outcome == "happened":
        result = answer.get("result", "")
        move_row(call, ToolCallState.SETTLED)
        call.result = result if isinstance(result, str) else canonical_json(result)
        call.settled_at = now
    elif outcome == "did_not_happen":
        move_row(call, ToolCallState.PROPOSED)
    else:
        move_row(call, ToolCallState.NOT_RUN)
