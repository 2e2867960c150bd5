"""
Status changes of runs, interrupts, tool calls, requests and notifications.

No other module sets them.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from inbox.models.notifications.notifications import Notification
from inbox.models.requests.agent_requests import AgentRequest
from inbox.models.runs.interrupts import Interrupt
from inbox.models.runs.threads import Run
from inbox.models.runs.tool_calls import ToolCall
from inbox.models.statements import Params, Update
from inbox.rules.notifications.events import NotificationStatus, Reason
from inbox.rules.runs.states import ToolCallState
from inbox.rules.runs.transitions import State, check_move, check_withdrawal_move, origins


def move_row(row: Run | Interrupt | ToolCall | AgentRequest, after: State) -> None:
    """
    Set the status of a row whose thread is locked; the caller saves it.

    Raises:
        IllegalMove.
    """
    column = _column(after)
    check_move(getattr(row, column), after)
    setattr(row, column, after)


def move_rows(rows: QuerySet[Any], after: State, **columns: Any) -> int:
    """Move the rows whose status allows it, set other columns, and return the number moved."""
    column = _column(after)
    may_move = rows.filter(**{f"{column}__in": origins(after)})
    return may_move.update(**{column: after}, **columns)


class Move:
    """A guarded update of the hot paths: `move_rows`, compiled once for each status."""

    def __init__(self, rows: "Callable[[Params], QuerySet[Any]]") -> None:
        self._rows = rows
        self._updates: dict[State, Update] = {}

    def execute(self, after: State, columns: Mapping[str, Any], **params: Any) -> int:
        """Do the same as `move_rows` with the parameters of the queryset."""
        column = _column(after)
        if after not in self._updates:
            guard = {f"{column}__in": origins(after)}
            self._updates[after] = Update(lambda params: self._rows(params).filter(**guard))
        return self._updates[after].execute({column: after, **columns}, **params)


def restore_tool_call(call: ToolCall, after: ToolCallState) -> None:
    """
    Set the state that a tool call had before a decision that is withdrawn; the caller saves it.

    Raises:
        IllegalMove.
    """
    check_withdrawal_move(call.state, after)
    call.state = after


def _column(after: State) -> str:
    return "state" if isinstance(after, ToolCallState) else "status"


def settle_notifications(
    rows: Sequence[Notification],
    after: NotificationStatus,
    now: datetime,
    why: Reason | None = None,
    *,
    message_ref: str = "",
) -> int:
    """Settle the notifications that are pending, and return their number."""
    pending = Notification.objects.filter(
        pk__in=[row.pk for row in rows], status=NotificationStatus.PENDING
    )
    return pending.update(
        status=after, why=why or "", settled_at=now, message_ref=message_ref[:200]
    )
