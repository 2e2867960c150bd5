"""One tool call with all that is known of it, and the whole history of a thread."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from inbox.queries.audit import tool_calls
from inbox.queries.audit.audit_entries import may_export
from inbox.queries.decisions.masked_values import (
    interrupt_bodies_by_id,
    last_start,
    masked_values_of_call,
)
from inbox.queries.runs import thread_children, threads
from inbox.rules.audit.trail_consistency import Shown, mismatches
from inbox.rules.decisions.consent import digest
from inbox.rules.people.access import Actor
from inbox.rules.schema.secrets import NAMES, Secrets
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.audit.audit_rows import call_row, entry_rows, written
from inbox.web.audit.verification_status import badge_for
from inbox.web.base.masks import Reveal, reveals_of
from inbox.web.base.pages import page, show
from inbox.web.base.translate import say
from inbox.web.decisions.shown_changes import ShownChange, shown_changes

_ENTRIES = 100


@dataclass(frozen=True)
class Arguments:
    """One of the three sets: what was proposed, approved and executed."""

    title: str
    text: str  #: JSON, "" where there is none
    note: str  #: why there is none, or what else has to be said
    digest: str
    changes: Sequence[ShownChange]  #: against the set before
    reveal: Reveal | None = None  #: how it is revealed, None where nothing is masked


@require_safe
@page
def call(request: HttpRequest, actor: Actor, call_id: UUID) -> HttpResponse:
    known = tool_calls.tool_call_detail(actor, call_id)
    row = known.call
    veiled = masked_values_of_call(row, known.interrupts, known.compared)
    url = reverse("reveal_call", args=[row.pk])
    reveals = reveals_of(veiled, url, is_allowed=known.may_reveal)
    kept = [written(entry) for entry in known.compared]
    shown = Shown(proposed=row.args, approved=row.approved_args, result=row.result)
    context = {
        "call": call_row(row, known.interrupts),
        "sets": _sets(row, known, veiled["proposed"].secrets, reveals),
        "result": NAMES.text(row.result) if row.result is not None else "",
        "reveal_result": reveals.get("result"),
        "entries": entry_rows(
            known.entries,
            agent=row.agent.slug,
            me=actor.user_id,
            asked=interrupt_bodies_by_id(known.entries),
        ),
        "mismatches": [say(one) for one in mismatches(shown, kept)],
        "is_partly_erased": any(one.text is None for one in kept),
        "questions": [
            {"id": one.pk, "title": escape_invisible(one.title), "is_open": one.closed_at is None}
            for one in known.interrupts
        ],
        "is_long": len(known.entries) == tool_calls.MAX_LISTED,
        "compared": 0 if known.is_all else len(known.compared),
    }
    return show(request, actor, "audit/tool_call.html", context, section="audit")


@require_safe
@page
def history(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    """Every entry of the thread's chain, the first one first."""
    thread = threads.thread_for(actor, thread_id)
    after = request.GET.get("after", "")
    place = int(after) if after.isascii() and after.isdecimal() and len(after) < 16 else 0
    found = thread_children.audit_entries_page(thread, limit=_ENTRIES + 1, after=place)
    context = {
        "history": thread,
        "title": escape_invisible(thread.title) or gettext("Untitled thread"),
        "external_id": escape_invisible(thread.external_id),
        "entries": entry_rows(
            found[:_ENTRIES],
            agent=thread.agent.slug,
            me=actor.user_id,
            asked=interrupt_bodies_by_id(found[:_ENTRIES]),
        ),
        "badge": badge_for(actor),
        "may_export": may_export(actor, thread.team_id),
        "is_first": place == 0,
        "next_after": found[_ENTRIES - 1].seq if len(found) > _ENTRIES else None,
    }
    return show(request, actor, "audit/thread_history.html", context, section="audit")


def _sets(
    row: Any, known: tool_calls.ToolCallDetail, secrets: Secrets, reveals: Mapping[str, Reveal]
) -> list[Arguments]:
    proposed, approved = json.loads(row.args), json.loads(row.approved_args)
    is_approved = row.verdict in ("approved", "edited")
    return [
        Arguments(
            gettext("Proposed"),
            secrets.text(row.args),
            "",
            digest(row.args),
            (),
            reveals.get("proposed"),
        ),
        Arguments(
            gettext("Approved"),
            secrets.text(row.approved_args) if is_approved else "",
            "" if is_approved else gettext("Not approved."),
            digest(row.approved_args) if is_approved else "",
            shown_changes(proposed, approved, secrets) if is_approved else (),
            reveals.get("approved"),
        ),
        _executed(approved, last_start(known.compared), secrets, reveals.get("executed")),
    ]


def _executed(
    approved: Any, start: Mapping[str, Any] | None, secrets: Secrets, reveal: Reveal | None
) -> Arguments:
    """What the tool was given, by the entry of the last start: the row of the call has no own."""
    title = gettext("Executed")
    if start is None:
        return Arguments(title, "", gettext("The audit trail has no entry for the start."), "", ())
    known, args = start["digest"], start["args"]
    if not isinstance(args, str):
        note = (
            gettext("Only the digest is stored.")
            if known
            else gettext("Erased from the audit trail.")
        )
        return Arguments(title, "", note, known, ())
    try:
        value = json.loads(args)
    except ValueError:
        return Arguments(
            title, secrets.text(args), gettext("The value is not valid JSON."), known, (), reveal
        )
    changes = shown_changes(approved, value, secrets)
    return Arguments(title, secrets.text(args), "", known, changes, reveal)
