"""One tool call with all that is known of it, and the whole history of a thread."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from inbox.domain.access import Actor
from inbox.domain.agreement import Shown, disagreements
from inbox.domain.consent import digest
from inbox.domain.shown import json_text, pretty, visible
from inbox.selectors import calls, parts, threads
from inbox.web.audit_rows import call_row, entry_rows, written
from inbox.web.changes import ShownChange, shown_changes
from inbox.web.pages import page, show
from inbox.web.saying import say

_ENTRIES = 100


@dataclass(frozen=True)
class Arguments:
    """One of the three sets: what was proposed, approved and executed."""

    title: str
    text: str  #: JSON, "" where there is none
    note: str  #: why there is none, or what else has to be said
    digest: str
    changes: Sequence[ShownChange]  #: against the set before


@require_safe
@page
def call(request: HttpRequest, actor: Actor, call_id: UUID) -> HttpResponse:
    known = calls.call_known(actor, call_id)
    row = known.call
    kept = [written(entry) for entry in known.entries]
    shown = Shown(proposed=row.args, approved=row.approved_args, result=row.result)
    context = {
        "call": call_row(row, known.interrupts),
        "sets": _sets(row, known.entries),
        "result": pretty(row.result) if row.result is not None else "",
        "entries": entry_rows(known.entries, agent=row.agent.slug, me=actor.user_id),
        "disagreements": [say(one) for one in disagreements(shown, kept)],
        "is_partly_erased": any(one.text is None for one in kept),
        "questions": [
            {"id": one.pk, "title": visible(one.title), "is_open": one.closed_at is None}
            for one in known.interrupts
        ],
        "is_long": len(known.entries) == calls.ENTRIES,
    }
    return show(request, actor, "audit_call.html", context, section="audit")


@require_safe
@page
def history(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    """Every entry of the thread's chain, the first one first."""
    thread = threads.thread_for(actor, thread_id)
    after = request.GET.get("after", "")
    place = int(after) if after.isascii() and after.isdecimal() and len(after) < 16 else 0
    found = parts.some_entries_of(thread, limit=_ENTRIES + 1, after=place)
    context = {
        "history": thread,
        "title": visible(thread.title) or gettext("Untitled thread"),
        "external_id": visible(thread.external_id),
        "entries": entry_rows(found[:_ENTRIES], agent=thread.agent.slug, me=actor.user_id),
        "is_first": place == 0,
        "next_after": found[_ENTRIES - 1].seq if len(found) > _ENTRIES else None,
    }
    return show(request, actor, "audit_history.html", context, section="audit")


def _sets(row: Any, entries: Sequence[Any]) -> list[Arguments]:
    proposed = json.loads(row.args)
    approved = json.loads(row.approved_args)
    is_approved = row.verdict in ("approved", "edited")
    return [
        Arguments(gettext("Proposed"), json_text(proposed), "", digest(row.args), ()),
        Arguments(
            gettext("Approved"),
            json_text(approved) if is_approved else "",
            "" if is_approved else gettext("Nobody has approved this."),
            digest(row.approved_args) if is_approved else "",
            shown_changes(proposed, approved) if is_approved else (),
        ),
        _executed(approved, entries),
    ]


def _executed(approved: Any, entries: Sequence[Any]) -> Arguments:
    """What the tool was given, by the entry of the last start: the row of the call has no own."""
    title = gettext("Executed")
    starts = [entry for entry in entries if entry.action == "tool.started"]
    if not starts:
        return Arguments(title, "", gettext("The trail tells of no start."), "", ())
    told = starts[-1].told
    known, args = str(told["digests"].get("executed", "")), told["detail"].get("args")
    if not isinstance(args, str):
        note = gettext("Only the digest is kept.") if known else gettext("Erased from the trail.")
        return Arguments(title, "", note, known, ())
    try:
        value = json.loads(args)
    except ValueError:
        return Arguments(title, visible(args), gettext("This is no JSON."), known, ())
    return Arguments(title, json_text(value), "", known, shown_changes(approved, value))
