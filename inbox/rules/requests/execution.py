"""Executing approved calls of external agents: permits, leases and reports, as pure plans."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from inbox.rules import errors
from inbox.rules.requests.request_states import CallEffect, CallState, ReportedOutcome
from inbox.rules.runs.states import ToolCallState
from inbox.rules.text.messages import TranslatableMessage

#: A lease is prolonged up to this time after the start.
LONGEST_LEASE = timedelta(hours=24)
MIN_LEASE_SECONDS, MAX_LEASE_SECONDS = 10, 86_400
MIN_VALID_SECONDS, MAX_VALID_SECONDS = 1, 30 * 86_400


@dataclass(frozen=True)
class Execution:
    """The execution of an approved call by a program."""

    report: bool = True  #: it reports the outcome
    effect: CallEffect = CallEffect.ONCE
    lease_seconds: int = 600
    valid_seconds: int = 86_400  #: between the decision and the start


@dataclass(frozen=True)
class PulledCall:
    """The columns of a tool call that the rules read."""

    state: ToolCallState
    outcome: str
    attempt: str
    args_digest: str  #: of the approved arguments
    lease_until: datetime | None
    start_before: datetime | None


class StartPlan(StrEnum):
    START = "start"
    REPEAT = "repeat"  #: the same attempt asks again: prolong its lease, and answer the same


class ReportPlan(StrEnum):
    SETTLE = "settle"
    DOUBT = "doubt"  #: ask a person
    RELEASE = "release"  #: an idempotent call with an unknown outcome may be started again
    LATE = "late"  #: store it beside the question, and decide nothing
    REPEAT = "repeat"  #: the same report again


def plan_start(
    call: PulledCall, *, attempt: str, args_digest: str, is_active: bool, now: datetime
) -> StartPlan:
    """
    Return how to answer a program that wants to start an approved call.

    `is_active` says that all decisions of the set are made and that its run has not ended.

    Raises:
        CallInDoubt, ApprovalEnded, CallStarted, AlreadyReported, NotApproved, OtherArguments.
    """
    state, is_same = call.state, call.attempt == attempt
    if state is ToolCallState.IN_DOUBT:
        raise errors.CallInDoubt(_IN_DOUBT)
    if state is ToolCallState.LAPSED:
        raise errors.ApprovalEnded(_LAPSED)
    if state is ToolCallState.SETTLED:
        is_handed_over = call.outcome == ReportedOutcome.HANDED_OVER
        if is_same and not is_handed_over:
            raise errors.AlreadyReported(_REPORTED)
        if not is_same:
            raise errors.CallStarted(_STARTED)
    elif state is ToolCallState.STARTED and not is_same:
        raise errors.CallStarted(_STARTED)
    elif state is ToolCallState.NOT_RUN or not is_active:
        raise errors.NotApproved(NOT_APPROVED)
    elif state is ToolCallState.PROPOSED and call.start_before and call.start_before <= now:
        raise errors.ApprovalEnded(_LAPSED)
    if args_digest != call.args_digest:
        raise errors.OtherArguments(_OTHER_ARGUMENTS)
    return StartPlan.START if state is ToolCallState.PROPOSED else StartPlan.REPEAT


def lease_end(*, started_at: datetime, now: datetime, seconds: int) -> datetime:
    """Return the end of a lease that is taken or prolonged now."""
    return min(now + timedelta(seconds=seconds), started_at + LONGEST_LEASE)


def plan_report(
    call: PulledCall, *, effect: CallEffect, attempt: str, outcome: ReportedOutcome, is_same: bool
) -> ReportPlan:
    """
    Return what to do with a report; `is_same` says that it equals the stored one.

    Raises:
        NotStarted, CallStarted, AlreadyReported.
    """
    state, is_unknown = call.state, outcome is ReportedOutcome.UNKNOWN
    if not call.attempt:
        raise errors.NotStarted(_NOT_STARTED)
    if call.attempt != attempt:
        raise errors.CallStarted(_STARTED)
    if state is ToolCallState.STARTED or (
        state is ToolCallState.PROPOSED and effect is CallEffect.IDEMPOTENT
    ):
        if not is_unknown:
            return ReportPlan.SETTLE
        return ReportPlan.DOUBT if effect is CallEffect.ONCE else ReportPlan.RELEASE
    if state is ToolCallState.SETTLED and call.outcome not in ("", ReportedOutcome.UNKNOWN):
        if not is_same:
            raise errors.AlreadyReported(_REPORTED)
        return ReportPlan.REPEAT
    if state is ToolCallState.IN_DOUBT and is_unknown and call.outcome == outcome:
        return ReportPlan.REPEAT
    return ReportPlan.LATE


def call_state(state: ToolCallState, outcome: str, *, is_approved: bool) -> CallState | None:
    """Return the execution of a call as programs see it; None unless it was approved."""
    if not is_approved:
        return None
    if state is ToolCallState.SETTLED:
        # Without an outcome of the program, a person has said that the call took effect.
        reported = outcome not in ("", ReportedOutcome.UNKNOWN)
        return CallState(outcome) if reported else CallState.SUCCEEDED
    return _CALL_STATES[state]


_CALL_STATES = {
    ToolCallState.PROPOSED: CallState.WAITING,
    ToolCallState.STARTED: CallState.STARTED,
    ToolCallState.IN_DOUBT: CallState.IN_DOUBT,
    ToolCallState.LAPSED: CallState.LAPSED,
    ToolCallState.NOT_RUN: CallState.NOT_RUN,
}

_STARTED = TranslatableMessage("Another attempt has started this call, so it cannot start again.")
_NOT_STARTED = TranslatableMessage("This call was not started. Start it before reporting.")
_REPORTED = TranslatableMessage("The outcome of this call was already reported.")
_LAPSED = TranslatableMessage("The approval has lapsed, because the call was not started in time.")
NOT_APPROVED = TranslatableMessage("This item is not an approved call, so there is no start.")
_IN_DOUBT = TranslatableMessage("It is unknown whether this call took effect. A person is asked.")
_OTHER_ARGUMENTS = TranslatableMessage(
    "These are not the approved arguments. Read the request, and use its args and args_digest."
)
