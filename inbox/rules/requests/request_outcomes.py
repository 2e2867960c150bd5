"""The outcome of a request of an external agent, from its items and their calls."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.people.access import WITHDRAWAL
from inbox.rules.requests.execution import Execution
from inbox.rules.requests.request_states import ItemStatus, RequestStatus
from inbox.rules.runs.states import InterruptStatus, ToolCallState

_UNFINISHED = (ToolCallState.PROPOSED, ToolCallState.STARTED, ToolCallState.IN_DOUBT)


def item_status(
    status: InterruptStatus, payload: Any, *, by: str, is_by_requester: bool
) -> ItemStatus:
    """
    Return the status of an item, from its interrupt and the payload of its decision.

    `by` is the label of the decision's author, "" without a decision. A call or a yes-or-no
    question that a person closes without an answer is denied.
    """
    if status is InterruptStatus.OPEN:
        return ItemStatus.OPEN
    if status is InterruptStatus.EXPIRED:
        return ItemStatus.EXPIRED
    if status is InterruptStatus.CANCELLED:
        is_taken_back = by == WITHDRAWAL.label or is_by_requester
        return ItemStatus.WITHDRAWN if is_taken_back else ItemStatus.DENIED
    approved = payload.get("approved") if isinstance(payload, dict) else None
    if not isinstance(approved, bool):
        return ItemStatus.ANSWERED
    return ItemStatus.APPROVED if approved else ItemStatus.DENIED


def status_of_set(
    items: Collection[ItemStatus], calls: Collection[ToolCallState], *, is_withdrawn: bool
) -> RequestStatus:
    """Return the status of a request whose items are all answered."""
    if is_withdrawn or set(items) == {ItemStatus.WITHDRAWN}:
        return RequestStatus.WITHDRAWN
    if any(state in _UNFINISHED for state in calls):
        return RequestStatus.DECIDED
    if set(items) == {ItemStatus.EXPIRED}:
        return RequestStatus.EXPIRED
    if ToolCallState.LAPSED in calls and ToolCallState.SETTLED not in calls:
        return RequestStatus.LAPSED
    return RequestStatus.DONE


def attach_digest(
    *, session: str, tool: str, args: str, may_edit: bool, execution: Execution
) -> str:
    """
    Return the digest of calls that may join one request; `args` is canonical JSON text.

    The session belongs to it: the arguments alone name no request. So does what the program can do
    with the approval: one that takes no edits must not get edited arguments.
    """
    members = {
        "session": session,
        "tool": tool,
        "args": args,
        "may_edit": may_edit,
        "effect": execution.effect,
        "report": execution.report,
    }
    return digest(canonical_json(members))


def last_start(
    *, now: datetime, valid_seconds: int, decided_at: datetime, execute_within: timedelta
) -> datetime:
    """Return until when an approved call may start: by its own limit and by the team's."""
    return min(now + timedelta(seconds=valid_seconds), decided_at + execute_within)


def next_poll_seconds(status: RequestStatus) -> int:
    """Return after how many seconds a program without `wait` should read a request again."""
    return 5 if status is RequestStatus.OPEN else 30
