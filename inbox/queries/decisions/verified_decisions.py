"""Checking that stored decisions are the ones that were made, before anything runs on them."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from agents.agui import wire
from inbox.models import Decision, Event, Interrupt, Run, Thread, ToolCall
from inbox.models.decision_keys import decision_keys
from inbox.models.statements import Select
from inbox.queries.runs.interrupt_states import InterruptWithDecision
from inbox.rules import errors
from inbox.rules.decisions.consent import digest, view_digest, without_signoff_metadata
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
    asked: Sequence[InterruptWithDecision],
    now: datetime,
    *,
    endpoint: str,
    unused: Collection[UUID] = (),
) -> None:
    """
    Check the decisions that resume an interrupted run, against what the database cannot forge.

    The interrupts are those of the run's terminal event, each decision is signed, and a call runs
    with the arguments that the last decision about it was made for. `endpoint` is the digest of
    where the agent is now. The answers to `unused` interrupts do not matter any more: people were
    asked again.

    Raises:
        DecisionNotVerified: something is not what was decided.
        AgentMoved: the agent is at another address than when it was decided.
        ApprovalLapsed: the decisions are older than the team allows, and an approved call has not
            started.
    """
    _check_complete(run, asked)
    asked = [item for item in asked if item.row.pk not in unused]
    check_decisions(asked)
    for row in (item.row for item in asked):
        has_endpoint = row.view_version > 1 or row.endpoint_digest
        if has_endpoint and row.endpoint_digest != endpoint:
            raise errors.AgentMoved("the agent has moved since its call was approved")
    decisions = [item.decision for item in asked if item.decision is not None]
    if any(
        item.row.tool_call and item.row.tool_call.state == ToolCallState.LAPSED for item in asked
    ):
        raise errors.ApprovalLapsed("the approval has lapsed")
    rows = [item.row for item in asked]
    waiting = [call.pk for row in rows if (call := row.tool_call) and _waits(row, call)]
    if waiting and has_lapsed(thread, decisions, now):
        raise errors.ApprovalLapsed("the approval was given too long ago", calls=waiting)


def check_decisions(asked: Sequence[InterruptWithDecision]) -> None:
    """
    Check that each interrupt has a decision that is signed, and each call the arguments of it.

    Raises:
        DecisionNotVerified.
    """
    about: dict[ToolCall, list[Decision]] = {}
    for item in asked:
        if item.decision is None:
            raise errors.DecisionNotVerified(f"no decision on interrupt {item.row.pk} is in force")
        check_decision(item.decision)
        if item.row.tool_call is not None:
            about.setdefault(item.row.tool_call, []).append(item.decision)
    for call, decisions in about.items():
        check_call(call, decisions)


def check_decision(decision: Decision) -> None:
    """
    Check that a decision, and the interrupt that it is about, are what was signed.

    Raises:
        DecisionNotVerified.
    """
    row = decision.interrupt
    body = json.loads(row.body)
    asked = body if row.view_version == 1 else without_signoff_metadata(body)
    tool = (row.tool or None) if row.tool_call_id else None
    opened = view_digest(version=row.view_version, asked=asked, tool=tool, args=row.args)
    if opened != row.view_digest or _CLOSED_AS.get(InterruptStatus(row.status)) != decision.status:
        raise errors.DecisionNotVerified(f"interrupt {row.pk} is not what was decided")
    check_signature(decision.signed(), decision.signature, decision_keys())


def check_call(call: ToolCall, decisions: Iterable[Decision]) -> None:
    """
    Check that a call has the arguments that the last decision about it was made for.

    Raises:
        DecisionNotVerified.
    """
    last = max(decisions, key=lambda one: (one.created_at, one.pk), default=None)
    if last is not None and last.args_digest != digest(call.approved_args):
        raise errors.DecisionNotVerified(
            f"the arguments of call {call.pk} are not what was decided"
        )


def check_approval(
    thread: Thread, call: ToolCall, decisions: Sequence[Decision], now: datetime
) -> None:
    """
    Check that these decisions, all that are in force about a call, let it start now.

    Raises:
        DecisionNotVerified, ApprovalLapsed.
    """
    for decision in decisions:
        check_decision(decision)
        if not approves(decision):
            raise errors.DecisionNotVerified(f"call {call.pk} was not approved")
    check_call(call, decisions)
    # One that was started in time is started again after a lost worker, however late.
    has_started = call.state != ToolCallState.PROPOSED
    if (
        not has_started
        and has_lapsed(thread, decisions, now)
        and _set_has_lapsed(thread, decisions, now)
    ):
        raise errors.ApprovalLapsed("the approval was given too long ago")


def has_lapsed(thread: Thread, decisions: Sequence[Decision], now: datetime) -> bool:
    """Return whether the last of the decisions is older than the team lets approvals wait."""
    longest = timedelta(hours=thread.team.execute_within_hours)
    return bool(decisions) and now - max(one.created_at for one in decisions) > longest


def _set_has_lapsed(thread: Thread, decisions: Sequence[Decision], now: datetime) -> bool:
    """Count from when the set was complete: no call could start before that."""
    runs = {decision.interrupt.run_id for decision in decisions}
    whole = Decision.objects.filter(interrupt__run__in=runs, withdrawn_at=None)
    return has_lapsed(thread, list(whole), now)


def approves(decision: Decision) -> bool:
    payload = None if decision.payload is None else json.loads(decision.payload)
    return decision.status == EntryStatus.RESOLVED and is_approval(payload)


def _waits(row: Interrupt, call: ToolCall) -> bool:
    """Return whether a call was asked about for approval, and may still start."""
    return row.reason == Reason.TOOL_CALL and call.state == ToolCallState.PROPOSED


_OUTCOME = Select(
    lambda params: (
        Event.objects.filter(run=params.run, type="RUN_FINISHED")
        .order_by("-seq")
        .values_list("body", flat=True)[:1]
    )
)


def _check_complete(run: Run, asked: Sequence[InterruptWithDecision]) -> None:
    # Events cannot be changed or deleted by the application's database role; interrupts can.
    body = _OUTCOME.first(run=run.pk)
    if body is None or wire.interrupt_ids(body) != [item.row.interrupt_id for item in asked]:
        raise errors.DecisionNotVerified("these are not the interrupts that the run ended with")
