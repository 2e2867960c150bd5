"""Verification of stored decisions before anything is executed on them."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from agents.agui import wire
from inbox.models import Decision, Event, Interrupt, Run, Thread, ToolCall
from inbox.models.statements import Select
from inbox.platform.encryption import decision_keys
from inbox.queries.policies.policies import load_rulings
from inbox.queries.runs.interrupt_states import InterruptWithDecision
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.decisions.signatures import check_signature
from inbox.rules.runs.states import (
    EntryStatus,
    InterruptStatus,
    Reason,
    ToolCallState,
)
from inbox.rules.runs.tool_call_outcome import is_approval

_CLOSED_AS = {
    InterruptStatus.RESOLVED: EntryStatus.RESOLVED,
    InterruptStatus.CANCELLED: EntryStatus.CANCELLED,
    InterruptStatus.EXPIRED: EntryStatus.CANCELLED,
}


def check_set(
    thread: Thread,
    run: Run,
    interrupts: Sequence[InterruptWithDecision],
    now: datetime,
    *,
    endpoint: str,
    unused: Collection[UUID] = (),
) -> None:
    """
    Check the decisions that resume an interrupted run, against what the database cannot forge.

    The interrupts must be those of the run's terminal event, each decision must be signed, and each
    call must have the arguments of its last decision. `endpoint` is the digest of the agent's
    current endpoint. The decisions on `unused` interrupts are not checked: these were repeated.

    Raises:
        DecisionNotVerified: the rows differ from what was decided.
        AgentMoved: the endpoint has changed since the decision.
        ApprovalLapsed: the decisions are older than the team allows, and an approved call has not
            started.
    """
    _check_complete(run, interrupts)
    interrupts = [item for item in interrupts if item.row.pk not in unused]
    check_decisions(interrupts)
    for row in (item.row for item in interrupts):
        has_endpoint = row.view_version > 1 or row.endpoint_digest
        if has_endpoint and row.endpoint_digest != endpoint:
            raise errors.AgentMoved("The agent's address changed after its call was approved.")
    decisions = [item.decision for item in interrupts if item.decision is not None]
    if any(
        item.row.tool_call and item.row.tool_call.state == ToolCallState.LAPSED
        for item in interrupts
    ):
        raise errors.ApprovalLapsed("The approval has expired.")
    rows = [item.row for item in interrupts]
    pending = [
        call.pk for row in rows if (call := row.tool_call) and _is_pending_approval(row, call)
    ]
    if pending and has_lapsed(thread, decisions, now):
        raise errors.ApprovalLapsed("The approval has expired.", calls=pending)


def check_decisions(interrupts: Sequence[InterruptWithDecision]) -> None:
    """
    Check that each interrupt has a signed decision, and each call the arguments of its decision.

    Raises:
        DecisionNotVerified.
    """
    about: dict[ToolCall, list[Decision]] = {}
    load_rulings([item.decision.interrupt for item in interrupts if item.decision])
    for item in interrupts:
        if item.decision is None:
            raise errors.DecisionNotVerified(f"Interrupt {item.row.pk} has no decision in force.")
        check_decision(item.decision)
        if item.row.tool_call is not None:
            about.setdefault(item.row.tool_call, []).append(item.decision)
    for call, decisions in about.items():
        check_call(call, decisions)


def check_decision(decision: Decision) -> None:
    """
    Check the signature of a decision, and that its interrupt has not changed.

    Raises:
        DecisionNotVerified.
    """
    row = decision.interrupt
    if (
        row.digest_at_creation() != row.view_digest
        or _CLOSED_AS.get(InterruptStatus(row.status)) != decision.status
    ):
        raise errors.DecisionNotVerified(f"Interrupt {row.pk} changed after its decision.")
    check_signature(decision.signed(), decision.signature, decision_keys())


def check_call(call: ToolCall, decisions: Iterable[Decision]) -> None:
    """
    Check that a call has the arguments of the last decision on it.

    Raises:
        DecisionNotVerified.
    """
    last = max(decisions, key=lambda decision: (decision.created_at, decision.pk), default=None)
    if last is not None and last.args_digest != digest(call.approved_args):
        raise errors.DecisionNotVerified(
            f"The arguments of tool call {call.pk} changed after the decision."
        )


def check_approval(
    thread: Thread, call: ToolCall, decisions: Sequence[Decision], now: datetime
) -> None:
    """
    Check that a call may start now; `decisions` are all decisions in force on it.

    Raises:
        DecisionNotVerified, ApprovalLapsed.
    """
    for decision in decisions:
        check_decision(decision)
        if not approves(decision):
            raise errors.DecisionNotVerified(f"Tool call {call.pk} was not approved.")
    check_call(call, decisions)
    # A call that started in time may start again after a lost worker, however late.
    has_started = call.state != ToolCallState.PROPOSED
    if (
        not has_started
        and has_lapsed(thread, decisions, now)
        and _set_has_lapsed(thread, decisions, now)
    ):
        raise errors.ApprovalLapsed("The approval has expired.")


def has_lapsed(thread: Thread, decisions: Sequence[Decision], now: datetime) -> bool:
    """Return whether the last of the decisions is older than the team's `execute_within_hours`."""
    max_age = timedelta(hours=thread.team.execute_within_hours)
    return bool(decisions) and now - max(row.created_at for row in decisions) > max_age


def _set_has_lapsed(thread: Thread, decisions: Sequence[Decision], now: datetime) -> bool:
    """Return `has_lapsed` of the whole set: no call could start before its last decision."""
    runs = {decision.interrupt.run_id for decision in decisions}
    rows = Decision.objects.filter(interrupt__run__in=runs, withdrawn_at=None)
    return has_lapsed(thread, list(rows), now)


def approves(decision: Decision) -> bool:
    payload = None if decision.payload is None else json.loads(decision.payload)
    return decision.status == EntryStatus.RESOLVED and is_approval(payload)


def _is_pending_approval(row: Interrupt, call: ToolCall) -> bool:
    """Return whether the interrupt is about the approval of a call that has not started."""
    return row.reason == Reason.TOOL_CALL and call.state == ToolCallState.PROPOSED


_OUTCOME = Select(
    lambda params: (
        Event.objects.filter(run=params.run, type="RUN_FINISHED")
        .order_by("-seq")
        .values_list("body", flat=True)[:1]
    )
)


def _check_complete(run: Run, interrupts: Sequence[InterruptWithDecision]) -> None:
    # The database role of the application can change interrupts, but not events.
    body = _OUTCOME.first(run=run.pk)
    if body is None or wire.interrupt_ids(body) != [item.row.interrupt_id for item in interrupts]:
        raise errors.DecisionNotVerified("The interrupts are not those that the run ended with.")
