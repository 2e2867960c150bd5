"""Tool calls that repeat a call which was rejected before in the same thread."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from inbox.models import Decision, Interrupt
from inbox.rules.decisions.consent import digest
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
    reason: str  #: the note of the rejection, with masked secrets; "" without one


def repeated_calls(rows: Iterable[Interrupt]) -> dict[UUID, RepeatedCall]:
    """
    Return for requests about tool calls the last rejection of the same call, by their ids.

    A question to the agent is no rejection. Reads at most two queries, whatever the number of
    requests, and no arguments: decisions have their digest. They are canonical JSON, so that equal
    ones have the same text. A thread is of one team.
    """
    calls = [row for row in rows if row.tool_call_id and row.args is not None]
    if not calls:
        return {}
    digests = {row.pk: digest(row.args or "") for row in calls}
    decisions = Decision.objects.filter(
        interrupt__thread__in={row.thread_id for row in calls},
        interrupt__tool__in={row.tool for row in calls},
        interrupt__tool_call__isnull=False,
        status=EntryStatus.RESOLVED,
        withdrawn_at=None,
        payload__contains='"approved":false',
        args_digest__in=set(digests.values()),
    )
    columns = ("interrupt", "interrupt__thread", "interrupt__tool", "args_digest")
    newest = decisions.order_by("-created_at", "-pk").values_list(
        *columns, "actor_label", "created_at", "payload"
    )
    rejections: dict[UUID, tuple[UUID, str, datetime, dict[str, object]]] = {}
    for pk, thread, tool, args_digest, by, at, text in newest[:MAX_REJECTIONS]:
        payload = json.loads(text)
        is_rejection = isinstance(payload, dict) and payload.get("approved") is False
        if not is_rejection or feedback_of(payload):
            continue
        for row in calls:
            is_same = (row.thread_id, row.tool, digests[row.pk]) == (thread, tool, args_digest)
            if is_same and row.pk not in rejections and at <= row.created_at and pk != row.pk:
                rejections[row.pk] = (pk, by, at, payload)
    if not rejections:
        return {}
    pks = {pk for pk, *_ in rejections.values()}
    bodies = dict(Interrupt.objects.filter(pk__in=pks).values_list("pk", "body"))
    return {
        row: RepeatedCall(pk, by, at, _note(bodies[pk], payload))
        for row, (pk, by, at, payload) in rejections.items()
    }


def _note(body: str, payload: dict[str, object]) -> str:
    note = secrets_of_answers(body).masked(payload).get("reason")
    return note if isinstance(note, str) else ""
