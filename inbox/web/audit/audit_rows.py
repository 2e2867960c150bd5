"""Tool calls and entries of the trail as its pages show them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.queries.decisions.masked_values import bodies_of_entry
from inbox.rules.audit.audit_entry import read_body
from inbox.rules.audit.trail_consistency import Written, is_as_written
from inbox.rules.runs.states import ToolCallOutcome, ToolCallState
from inbox.rules.schema.mask_agui import masked_detail
from inbox.rules.schema.secrets import NAMES, cut_at_secret
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.runs.activity import Line, lines_of

VERDICTS = {
    ToolCallOutcome.APPROVED: (gettext_noop("Approved"), "ok", "circle-check"),
    ToolCallOutcome.EDITED: (gettext_noop("Approved with changes"), "me", "pencil"),
    ToolCallOutcome.DENIED: (gettext_noop("Rejected"), "bad", "circle-x"),
    ToolCallOutcome.ANSWERED: (gettext_noop("Answered"), "ok", "circle-check"),
    ToolCallOutcome.CANCELLED: (gettext_noop("Cancelled"), "line", "circle-slash"),
    ToolCallOutcome.EXPIRED: (gettext_noop("Expired"), "line", "circle-slash"),
}
STATES = {
    ToolCallState.PROPOSED: gettext_noop("Not started"),
    ToolCallState.STARTED: gettext_noop("Running"),
    ToolCallState.SETTLED: gettext_noop("Done"),
    ToolCallState.IN_DOUBT: gettext_noop("In doubt"),
    ToolCallState.NOT_RUN: gettext_noop("Not run"),
    ToolCallState.LAPSED: gettext_noop("Approval expired"),
}
#: How a person or a machine had signed in, as the trail names it; others stand as they are.
_METHODS = {
    "password": gettext_noop("password"),
    "key": gettext_noop("key"),
    "passkey": gettext_noop("passkey"),
}
#: Of a result so much stands in a list.
_RESULT_CHARACTERS = 80


@dataclass(frozen=True)
class CallRow:
    """A tool call in the list, and at the head of its page."""

    id: Any
    url: str
    tool: str
    wire_id: str
    agent: str
    thread_id: Any
    proposed_at: datetime
    verdict: str  #: in words, "" while nothing is decided
    tone: str
    icon: str
    by: str
    by_id: str
    decided_at: datetime | None
    changed: Sequence[str]  #: the names of the arguments that somebody changed
    is_asked: bool  #: whether a question about it is open
    state: str
    started_at: datetime | None
    settled_at: datetime | None
    result: str
    took: Sequence[tuple[str, str]]  #: what took how long


@dataclass(frozen=True)
class EntryRow:
    """An entry of the trail, with everything that it says."""

    seq: int
    line: Line
    action: str
    kind: str
    method: str
    request: str
    hash: str
    state: str  #: before and after
    payload: str  #: JSON text, "" once it is erased
    is_erased: bool
    is_sound: bool
    call_id: Any
    interrupt_id: Any


def call_row(call: Any, interrupts: Sequence[Any], url: str = "") -> CallRow:
    given = [one for asked in interrupts for one in asked.standing]
    theirs = [one for one in given if one.ident[:64] == call.decided_by] or given
    decision = theirs[-1] if theirs and call.verdict else None
    words, tone, icon = (
        VERDICTS[ToolCallOutcome(call.verdict)] if call.verdict else ("", "line", "")
    )
    told = cut_at_secret((call.result or "")[: 4 * _RESULT_CHARACTERS])
    result = escape_invisible(" ".join(told.split()))
    decided_at = decision.created_at if decision else None
    return CallRow(
        id=call.pk,
        url=url or reverse("audit_call", args=[call.pk]),
        tool=escape_invisible(call.name),
        wire_id=escape_invisible(call.tool_call_id),
        agent=call.agent.slug,
        thread_id=call.thread_id,
        proposed_at=call.proposed_at,
        verdict=gettext(words) if words else "",
        tone=tone,
        icon=icon,
        by=escape_invisible(decision.actor_label) if decision else "",
        by_id=call.decided_by,
        decided_at=decided_at,
        changed=_changed(call),
        is_asked=any(asked.closed_at is None for asked in interrupts),
        state=gettext(STATES[ToolCallState(call.state)]),
        started_at=call.started_at,
        settled_at=call.settled_at,
        result=result[:_RESULT_CHARACTERS] + ("…" if len(result) > _RESULT_CHARACTERS else ""),
        took=_times(call, decided_at),
    )


def entry_rows(
    entries: Iterable[Any], *, agent: str, me: int | None, asked: Mapping[UUID, Sequence[str]]
) -> list[EntryRow]:
    """Entries of one chain; `asked` are the questions that they are about (`asked_in`)."""
    rows = list(entries)
    lines = lines_of(rows, agent=agent, me=me)
    return [_entry_row(entry, line, asked) for entry, line in zip(rows, lines, strict=True)]


def written(entry: Any) -> Written:
    """An entry as the rule of agreement reads it."""
    payload = getattr(entry, "payload", None)
    return Written(
        seq=entry.seq,
        action=entry.action,
        body=entry.body,
        hash=entry.hash,
        salt=payload.salt if payload else None,
        text=payload.text if payload else None,
    )


def span(took: timedelta) -> str:
    """A time in the two largest units that it has."""
    seconds = max(0.0, took.total_seconds())
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(int(seconds) // 60, 60)
    if hours == 0:
        return f"{minutes} min {int(seconds) % 60} s"
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def _times(call: Any, decided_at: datetime | None) -> list[tuple[str, str]]:
    asked = [
        (gettext("until decided"), call.proposed_at, decided_at),
        (gettext("until started"), decided_at or call.proposed_at, call.started_at),
        (gettext("until done"), call.started_at, call.settled_at),
    ]
    return [(name, span(end - begun)) for name, begun, end in asked if begun and end]


def _changed(call: Any) -> list[str]:
    if call.edited_args is None:
        return []
    before, after = json.loads(call.args), json.loads(call.edited_args)
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return []
    names = [*before, *(name for name in after if name not in before)]
    # Not `==`: true would be 1.
    return [escape_invisible(name) for name in names if _text(before, name) != _text(after, name)]


def _text(value: dict[str, Any], name: str) -> str:
    return json.dumps(value[name], sort_keys=True) if name in value else ""


def _entry_row(entry: Any, line: Line, asked: Mapping[UUID, Sequence[str]]) -> EntryRow:
    one, said = written(entry), read_body(entry.body)
    method = str(said.get("actor", {}).get("method", ""))
    return EntryRow(
        seq=entry.seq,
        line=line,
        action=entry.action,
        kind=entry.actor_kind,
        method=gettext(_METHODS[method]) if method in _METHODS else escape_invisible(method),
        request=escape_invisible(str(said.get("request", ""))),
        hash=entry.hash,
        state=" → ".join(str(part) for part in said.get("state", ()) if part),
        payload=_payload(one.text, bodies_of_entry(entry, asked)) if one.text is not None else "",
        is_erased=one.text is None,
        is_sound=is_as_written(one),
        call_id=entry.tool_call_id,
        interrupt_id=entry.interrupt_id,
    )


def _payload(text: str, asked: Sequence[str]) -> str:
    """What an entry tells, masked; another text that somebody has put in its place as it is."""
    try:
        told = json.loads(text)
        return json_text({**told, "detail": masked_detail(told["detail"], *asked)})
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return NAMES.text(text)
