"""Tool calls that repeat a call which was rejected before in the same thread."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from inbox.models import Decision, Interrupt
from inbox.rules.decisions.feedback import feedback_of
from inbox.rules.runs.states import EntryStatus
from inbox.rules.schema.mask_agui import secrets_of_answers

#: Rejections that are compared for one page or list.
MAX_REJECTIONS = 500


@dataclass(frozen=True)
class RepeatedCall:
    """The last rejection of a call with the same tool and equal arguments in the thread."""

    interrupt: UUID
    by: str
    at: datetime
    reason: str  #: the note or question of the rejection, with masked secrets; "" without one


def repeated_calls(rows: Iterable[Interrupt]) -> dict[UUID, RepeatedCall]:
    """
    Return for requests about tool calls the last rejection of the same call, by their ids.

    Reads at most one query, whatever the number of requests. The arguments are stored as canonical
    JSON, so that equal ones have the same text. A thread is of one team.
    """
    calls = [row for row in rows if row.tool_call_id and row.args is not None]
    if not calls:
        return {}
    decisions = Decision.objects.filter(
        interrupt__thread__in={row.thread_id for row in calls},
        interrupt__tool__in={row.tool for row in calls},
        interrupt__tool_call__isnull=False,
        status=EntryStatus.RESOLVED,
        withdrawn_at=None,
        payload__contains='"approved":false',
    ).order_by("-created_at", "-pk")
    rejections: dict[UUID, RepeatedCall] = {}
    columns = (
        *("interrupt", "interrupt__thread", "interrupt__tool", "interrupt__args"),
        *("interrupt__body", "actor_label", "created_at", "payload"),
    )
    for pk, thread, tool, args, body, by, at, text in decisions.values_list(*columns)[
        :MAX_REJECTIONS
    ]:
        payload = json.loads(text)
        if not (isinstance(payload, dict) and payload.get("approved") is False):
            continue
        for row in calls:
            is_same = (row.thread_id, row.tool, row.args) == (thread, tool, args)
            if is_same and row.pk not in rejections and at <= row.created_at and pk != row.pk:
                rejections[row.pk] = RepeatedCall(pk, by, at, _note(body, payload))
    return rejections


def _note(body: str, payload: dict[str, object]) -> str:
    masked = secrets_of_answers(body).masked(payload)
    note = feedback_of(masked) or masked.get("reason")
    return note if isinstance(note, str) else ""
