"""The rows of tool calls and audit entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop

from inbox.platform import clock
from inbox.queries.decisions.masked_values import bodies_of_entry
from inbox.rules.audit.audit_entry import read_body
from inbox.rules.audit.trail_consistency import StoredEntry, is_unchanged
from inbox.rules.decisions.change_summary import ChangeSummary, summary_of
from inbox.rules.people.access import POLICY
from inbox.rules.requests.request_states import ReportedOutcome
from inbox.rules.runs.headings import call_heading
from inbox.rules.runs.states import CLIENT_EFFECT, RunStatus, ToolCallOutcome, ToolCallState
from inbox.rules.schema.mask_agui import masked_detail, secrets_of_arguments
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.audit.result_words import result_words
from inbox.web.base.days import day_heading
from inbox.web.base.durations import duration_text
from inbox.web.base.zones import local
from inbox.web.decisions.decision_labels import decider_of
from inbox.web.runs.activity import ActivityLine, activity_lines

if TYPE_CHECKING:
    from inbox.models import AuditEntry, Decision, ToolCall

VERDICTS = {
    ToolCallOutcome.APPROVED: (gettext_noop("Approved"), "ok", "circle-check"),
    ToolCallOutcome.EDITED: (gettext_noop("Approved with changes"), "me", "pencil"),
    ToolCallOutcome.DENIED: (gettext_noop("Rejected"), "bad", "circle-x"),
    ToolCallOutcome.SENT_BACK: (gettext_noop("Sent back"), "warn", "reply"),
    ToolCallOutcome.ANSWERED: (gettext_noop("Answered"), "ok", "circle-check"),
    ToolCallOutcome.CANCELLED: (gettext_noop("Cancelled"), "line", "circle-slash"),
    ToolCallOutcome.EXPIRED: (gettext_noop("Expired"), "line", "circle-slash"),
}
#: The states of calls that have started.
RAN = frozenset({ToolCallState.STARTED, ToolCallState.SETTLED, ToolCallState.IN_DOUBT})
STATES = {
    ToolCallState.PROPOSED: gettext_noop("Not started"),
    ToolCallState.STARTED: gettext_noop("Running"),
    ToolCallState.SETTLED: gettext_noop("Done"),
    ToolCallState.IN_DOUBT: gettext_noop("In doubt"),
    ToolCallState.NOT_RUN: gettext_noop("Not run"),
    ToolCallState.LAPSED: gettext_noop("Approval expired"),
}
#: Labels of authentication methods; others are displayed as recorded.
_METHODS = {
    "password": gettext_noop("password"),
    "key": gettext_noop("key"),
    "passkey": gettext_noop("passkey"),
    "link": gettext_noop("link of a mail"),
}
#: What a call without a decision is: its label, tone and icon.
_WAITING = (gettext_noop("Waiting for a decision"), "warn", "circle-dashed")
_RAN = (gettext_noop("Ran without approval"), "rule", "play")
_NEVER_ASKED = (gettext_noop("Never asked"), "line", "circle-minus")
#: What the policy decided.
_BY_RULE = {
    ToolCallOutcome.APPROVED: (gettext_noop("Ran by rule"), "rule", "play"),
    ToolCallOutcome.DENIED: (gettext_noop("Denied by rule"), "rule", "circle-x"),
}
_NOT_RUN = (ToolCallState.NOT_RUN, ToolCallState.LAPSED, ToolCallState.PROPOSED)


@dataclass(frozen=True)
class CallRow:
    """A tool call in the list and at the top of its page."""

    id: Any
    url: str
    title: str  #: of its request, else made of the tool and its arguments
    tool: str
    wire_id: str
    agent: str
    thread_id: Any
    proposed_at: datetime
    verdict: str  #: a label: of the decision, or of what became of it without one
    tone: str
    icon: str
    faces: Sequence[tuple[int, str]]  #: the people who decided: id and name
    by: str
    by_icon: str  #: of a rule, a grant, a key or an expiry, "" for people
    by_nobody: str  #: why nobody decided, "" if somebody did or `by` says it
    by_id: str
    decided_at: datetime | None
    changes: ChangeSummary  #: of the arguments, before they were approved
    state: str
    is_bad: bool  #: it failed, or nobody knows
    started_at: datetime | None
    settled_at: datetime | None
    result: str
    decision_time: str  #: from the proposal to the decision, "" without people
    after: str  #: the same in the list, where a rule decides at once and a request waits so far
    is_waiting: bool
    start_time: str  #: from the decision, or the proposal, to the start
    run_time: str


@dataclass(frozen=True)
class EntryRow:
    """An audit entry with all of its data."""

    seq: int
    line: ActivityLine
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


def call_row(call: ToolCall, interrupts: Sequence[Any], url: str = "") -> CallRow:
    decisions = [row for interrupt in interrupts for row in interrupt.standing]
    theirs = [row for row in decisions if row.ident[:64] == call.decided_by] or decisions
    decision = theirs[-1] if theirs and call.verdict else None
    label, tone, icon = _outcome(call, interrupts)
    decided_at = decision.created_at if decision else None
    people = _people(decision)
    is_by_rule, is_waiting = call.decided_by == POLICY.ident, label == _WAITING[0]
    decision_time = "" if is_by_rule else _span_between(call.proposed_at, decided_at)
    waits = _span_between(call.proposed_at, clock.now()) if is_waiting else ""
    by = _by(call, decision, [name for _, name in people])
    return CallRow(
        id=call.pk,
        url=url or reverse("audit_call", args=[call.pk]),
        title=escape_invisible(_title(call, interrupts)),
        tool=escape_invisible(call.name),
        wire_id=escape_invisible(call.tool_call_id),
        agent=call.agent.slug,
        thread_id=call.thread_id,
        proposed_at=call.proposed_at,
        verdict=gettext(label),
        tone=tone,
        icon=icon,
        faces=people,
        by=by,
        by_icon="" if people else _by_icon(call, decision),
        by_nobody="" if by else _by_nobody(call, label),
        by_id=call.decided_by,
        decided_at=decided_at,
        changes=_changes(call, interrupts),
        state=gettext(_state(call)),
        is_bad=call.state == ToolCallState.IN_DOUBT or call.outcome == ReportedOutcome.FAILED,
        started_at=call.started_at,
        settled_at=call.settled_at,
        result=_result(call, label),
        decision_time=decision_time,
        after=decision_time or waits or (gettext("at once") if is_by_rule else ""),
        is_waiting=is_waiting,
        start_time=_span_between(decided_at or call.proposed_at, call.started_at),
        run_time=_span_between(call.started_at, call.settled_at),
    )


def by_day(rows: Iterable[CallRow]) -> list[tuple[str, list[CallRow]]]:
    """Group rows under headings of the reader's days; they are in the order of their proposals."""
    days = groupby(rows, lambda row: local(row.proposed_at).date())
    return [(day_heading(day), list(group)) for day, group in days]


def entry_rows(
    entries: Iterable[Any],
    *,
    agent: str,
    me: int | None,
    interrupt_bodies: Mapping[UUID, Sequence[str]],
) -> list[EntryRow]:
    """Build the rows of one chain; `interrupt_bodies` are by interrupt id."""
    rows = list(entries)
    lines = activity_lines(rows, agent=agent, me=me)
    return [
        _entry_row(entry, line, interrupt_bodies) for entry, line in zip(rows, lines, strict=True)
    ]


def written(entry: AuditEntry) -> StoredEntry:
    """Return an entry as input for `trail_consistency`."""
    payload = getattr(entry, "payload", None)
    return StoredEntry(
        seq=entry.seq,
        action=entry.action,
        body=entry.body,
        hash=entry.hash,
        salt=payload.salt if payload else None,
        text=payload.text if payload else None,
    )


def _span_between(begun: datetime | None, end: datetime | None) -> str:
    return duration_text(end - begun) if begun and end else ""


def _state(call: ToolCall) -> str:
    if call.effect == CLIENT_EFFECT:
        return gettext_noop("Result from the client")
    return STATES[ToolCallState(call.state)]


def _outcome(call: ToolCall, interrupts: Sequence[Any]) -> tuple[str, str, str]:
    """Return label, tone and icon; a call without a decision ran only if it has started."""
    if call.verdict:
        labels = VERDICTS | (_BY_RULE if call.decided_by == POLICY.ident else {})
        return labels[ToolCallOutcome(call.verdict)]
    if any(interrupt.closed_at is None for interrupt in interrupts):
        return _WAITING
    if call.effect == CLIENT_EFFECT:
        return (gettext_noop("A tool of the client"), "line", "circle-minus")
    return _RAN if call.started_at is not None or call.state in RAN else _NEVER_ASKED


def _people(decision: Decision | None) -> list[tuple[int, str]]:
    """Return the people behind a decision, the one who decided last."""
    if decision is None or decision.user_id is None:
        return []
    people = {row.user_id: row.user.display_name for row in decision.endorsements.all()}
    return list((people | {decision.user_id: decision.actor_label}).items())


def _by(call: ToolCall, decision: Decision | None, names: Sequence[str]) -> str:
    if len(names) > 1:
        return escape_invisible(", ".join(names))
    if call.verdict == ToolCallOutcome.EXPIRED:
        return gettext("Nobody in time")
    if decision is not None:
        return escape_invisible(capfirst(decider_of(decision)))
    never_asked = not call.verdict and call.started_at is None
    return gettext("Run stopped before") if never_asked and _failed(call) else ""


def _by_icon(call: ToolCall, decision: Decision | None) -> str:
    """Return the icon of what decided in the place of people."""
    if call.verdict == ToolCallOutcome.EXPIRED:
        return "alarm-clock-off"
    if decision is None:
        return ""
    if decision.actor_label == POLICY.label:
        return "repeat" if decision.grant_id else "scale"
    return "key-round"


def _by_nobody(call: ToolCall, label: str) -> str:
    if label == _WAITING[0]:
        return gettext("Nobody yet")
    if call.verdict or call.effect == CLIENT_EFFECT:
        return ""
    return gettext("Not asked") if label == _RAN[0] else gettext(_NEVER_ASKED[0])


def _result(call: ToolCall, label: str) -> str:
    """Return what came of a call, in words; its state if it returned nothing that has any."""
    if label == _WAITING[0]:
        return gettext("Waiting for people")
    words = result_words(call.result or "") if call.state not in _NOT_RUN else ""
    return words or gettext(_state(call))


def _failed(call: ToolCall) -> bool:
    return call.run.status == RunStatus.FAILED


def _title(call: ToolCall, interrupts: Sequence[Any]) -> str:
    if interrupts:
        return str(interrupts[-1].title)
    return call_heading(call.name, NAMES.masked(json.loads(call.args)))


def _changes(call: ToolCall, interrupts: Sequence[Any]) -> ChangeSummary:
    if call.edited_args is None:
        return ChangeSummary()
    secrets = secrets_of_arguments(*(interrupt.body for interrupt in interrupts))
    return summary_of(json.loads(call.args), json.loads(call.edited_args), secrets)


def _entry_row(
    entry: AuditEntry, line: ActivityLine, interrupt_bodies: Mapping[UUID, Sequence[str]]
) -> EntryRow:
    record, body = written(entry), read_body(entry.body)
    method = str(body.get("actor", {}).get("method", ""))
    return EntryRow(
        seq=entry.seq,
        line=line,
        action=entry.action,
        kind=entry.actor_kind,
        method=gettext(_METHODS[method]) if method in _METHODS else escape_invisible(method),
        request=escape_invisible(str(body.get("request", ""))),
        hash=entry.hash,
        state=" → ".join(str(part) for part in body.get("state", ()) if part),
        payload=_payload(record.text, bodies_of_entry(entry, interrupt_bodies))
        if record.text is not None
        else "",
        is_erased=record.text is None,
        is_sound=is_unchanged(record),
        call_id=entry.tool_call_id,
        interrupt_id=entry.interrupt_id,
    )


def _payload(text: str, interrupt_bodies: Sequence[str]) -> str:
    """Return the payload masked; other text is masked by the names of its keys only."""
    try:
        payload = json.loads(text)
        return json_text({**payload, "detail": masked_detail(payload["detail"], *interrupt_bodies)})
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return NAMES.text(text)
