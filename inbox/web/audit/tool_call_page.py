"""The audit pages of one tool call and of a thread's history."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.forms.values import ABSENT
from inbox.queries.audit import tool_calls
from inbox.queries.audit.audit_entries import may_export
from inbox.queries.audit.deleted_threads import thread_of_trail
from inbox.queries.decisions.masked_values import (
    interrupt_bodies_by_id,
    last_start,
    masked_values_of_call,
)
from inbox.queries.runs import thread_children
from inbox.rules.audit.trail_consistency import CallTexts, mismatches
from inbox.rules.decisions.consent import digest
from inbox.rules.decisions.value_diff import differing_lines
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import CLIENT_EFFECT
from inbox.rules.schema.secrets import NAMES, NumberedMasks, Secrets, without_mask_numbers
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.audit.argument_rows import MAX_ROWS, ArgumentRow, argument_rows, value_cell
from inbox.web.audit.audit_rows import call_row, entry_rows, written
from inbox.web.audit.verification_status import badge_for
from inbox.web.base.masks import MaskedSet, masked_sets_of
from inbox.web.base.pages import page, show
from inbox.web.base.translate import translate
from inbox.web.navigation.first_steps import note_trail

if TYPE_CHECKING:
    from inbox.models import ToolCall

_ENTRIES = 100


@dataclass(frozen=True)
class Arguments:
    """One of the sets of arguments: proposed, approved or executed."""

    title: str
    lines: Sequence[tuple[str, str]]  #: ("", "ins" or "del"; a line of JSON), none without a text
    note: str  #: the reason that there is none, or a remark
    digest: str
    value: Any = ABSENT  #: with numbered masks; ABSENT if it is unknown
    reveal: MaskedSet | None = None  #: None if nothing is masked


@page
def call(request: HttpRequest, actor: Actor, call_id: UUID) -> HttpResponse:
    details = tool_calls.tool_call_detail(actor, call_id)
    note_trail(request)
    row = details.call
    veiled = masked_values_of_call(row, details.interrupts, details.compared)
    url = reverse("reveal_call", args=[row.pk])
    masked_sets = masked_sets_of(veiled, url, is_allowed=details.may_reveal)
    records = [written(entry) for entry in details.compared]
    displayed = CallTexts(proposed=row.args, approved=row.approved_args, result=row.result)
    sets = _sets(row, details, veiled["proposed"].secrets, masked_sets)
    rows = argument_rows([arguments.value for arguments in sets])
    approved, executed = sets[1].digest, sets[2].digest
    context = {
        "call": call_row(row, details.interrupts),
        "sets": sets,
        "rows": [
            (row.name, list(zip((arguments.title for arguments in sets), row.cells, strict=True)))
            for row in rows[:MAX_ROWS]
        ],
        "left_out": max(0, len(rows) - MAX_ROWS),
        "is_as_approved": bool(approved) and approved == executed,
        "is_other": bool(approved and executed) and approved != executed,
        "result": _result(row.result),
        "reveal_result": masked_sets.get("result"),
        "entries": entry_rows(
            details.entries,
            agent=row.agent.slug,
            me=actor.user_id,
            interrupt_bodies=interrupt_bodies_by_id(details.entries),
        ),
        "mismatches": [translate(mismatch) for mismatch in mismatches(displayed, records)],
        "is_partly_erased": any(record.text is None for record in records),
        "questions": [
            {
                "id": interrupt.pk,
                "title": escape_invisible(interrupt.title),
                "is_open": interrupt.closed_at is None,
            }
            for interrupt in details.interrupts
        ],
        "is_long": len(details.entries) == tool_calls.MAX_LISTED,
        "compared": 0 if details.is_all else len(details.compared),
    }
    return show(request, actor, "audit/tool_call.html", context, section="audit")


@page
def history(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    """Render all entries of the thread's chain, the oldest first."""
    thread = thread_of_trail(actor, thread_id)
    note_trail(request)
    after = request.GET.get("after", "")
    place = int(after) if after.isascii() and after.isdecimal() and len(after) < 16 else 0
    entries = thread_children.audit_entries_page(thread, limit=_ENTRIES + 1, after=place)
    context = {
        "history": thread,
        "title": escape_invisible(thread.title) or gettext("Untitled thread"),
        "external_id": escape_invisible(thread.external_id),
        "entries": entry_rows(
            entries[:_ENTRIES],
            agent=thread.agent.slug,
            me=actor.user_id,
            interrupt_bodies=interrupt_bodies_by_id(entries[:_ENTRIES]),
        ),
        "badge": badge_for(actor),
        "may_export": may_export(actor, thread.team_id),
        "is_first": place == 0,
        "next_after": entries[_ENTRIES - 1].seq if len(entries) > _ENTRIES else None,
    }
    return show(request, actor, "audit/thread_history.html", context, section="audit")


def _sets(
    row: ToolCall,
    details: tool_calls.ToolCallDetail,
    secrets: Secrets,
    masked_sets: Mapping[str, MaskedSet],
) -> list[Arguments]:
    """Return the three sets; lines that an earlier or later set does not have are marked."""
    proposed, approved = json.loads(row.args), json.loads(row.approved_args)
    is_approved = row.verdict in ("approved", "edited")
    masks = NumberedMasks(secrets)
    hidden = [masks.hidden(value) for value in (proposed, approved)]
    texts = [json_text(value) for value in hidden]
    removed, added = differing_lines(*texts) if is_approved else ((), ())
    return [
        Arguments(
            gettext("Proposed"),
            _lines(texts[0], removed, "del"),
            "",
            digest(row.args),
            hidden[0],
            masked_sets.get("proposed"),
        ),
        Arguments(
            gettext("Approved"),
            _lines(texts[1], added, "ins") if is_approved else (),
            "" if is_approved else gettext("Not approved."),
            digest(row.approved_args) if is_approved else "",
            hidden[1] if is_approved else ABSENT,
            masked_sets.get("approved"),
        ),
        _executed(
            approved,
            last_start(details.compared),
            secrets,
            masks,
            masked_sets.get("executed"),
            is_of_client=row.effect == CLIENT_EFFECT,
        ),
    ]


def _executed(
    approved: Any,
    start: Mapping[str, Any] | None,
    secrets: Secrets,
    masks: NumberedMasks,
    reveal: MaskedSet | None,
    *,
    is_of_client: bool,
) -> Arguments:
    """Return the executed arguments from the last start's audit entry; the call has none."""
    title = gettext("Executed")
    if start is None:
        note = (
            gettext("The client of the run made the call.")
            if is_of_client
            else gettext("The audit trail has no entry for the start.")
        )
        return Arguments(title, (), note, "")
    recorded_digest, args = start["digest"], start["args"]
    if not isinstance(args, str):
        note = (
            gettext("Only the digest is stored.")
            if recorded_digest
            else gettext("Erased from the audit trail.")
        )
        return Arguments(title, (), note, recorded_digest)
    try:
        value = json.loads(args)
    except ValueError:
        return Arguments(
            title,
            _lines(secrets.text(args)),
            gettext("The value is not valid JSON."),
            recorded_digest,
            reveal=reveal,
        )
    hidden = masks.hidden(value)
    text = json_text(hidden)
    _, added = differing_lines(json_text(masks.hidden(approved)), text)
    return Arguments(title, _lines(text, added, "ins"), "", recorded_digest, hidden, reveal)


def _result(text: str | None) -> Sequence[ArgumentRow]:
    """Return a result as rows of what people read: its members, or one without a name."""
    if text is None:
        return ()
    masked = NAMES.text(text)
    try:
        value = json.loads(masked)
        if isinstance(value, Mapping) and 0 < len(value) <= MAX_ROWS:
            return argument_rows([value, ABSENT, ABSENT])
    except (ValueError, RecursionError):
        value = masked
    cell = value_cell(value) if isinstance(value, str) else value_cell(masked, is_code=True)
    return (ArgumentRow("", (cell,)),)


def _lines(text: str, marked: Collection[int] = (), tag: str = "") -> list[tuple[str, str]]:
    lines = without_mask_numbers(text).split("\n")
    return [(tag if number in marked else "", line) for number, line in enumerate(lines)]
