"""The pages for bulk review, bulk decisions and their withdrawal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from inbox.actions.decisions.bulk import BulkResult, decide_many, withdraw_many
from inbox.platform import clock
from inbox.queries.decisions.bulk_reviews import (
    MAX_BULK_INTERRUPTS,
    bulk_review_for,
    similar_review_for,
)
from inbox.queries.decisions.collaboration import seconds_until, withdrawable_by
from inbox.queries.decisions.interrupts import listed_decision
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import Forbidden, NotFound
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.text.ids import read_id
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.list_filters import list_url, originating_filter
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.decisions.bulk_review import Group, groups_of
from inbox.web.decisions.decision_labels import decision_label_of

if TYPE_CHECKING:
    from inbox.models import Interrupt


_NOTE_CHARACTERS = 2_000


@dataclass(frozen=True)
class BulkOutcome:
    """The result for one interrupt of a bulk decision."""

    row: Interrupt
    word: str  #: "Bob approved", or the error
    icon: str
    tone: str
    is_done: bool
    undo_until: datetime | None  #: None if it cannot be undone


@page
def similar(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    bulk_review = similar_review_for(actor, interrupt_id)
    # Similar interrupts can be selected at once: one table has all their differences.
    is_all_selected = request.GET.get("tick") == "all"
    selected = [row.pk for row in bulk_review.rows] if is_all_selected else []
    context = {"is_similar": True, "is_all_selected": is_all_selected, "more": bulk_review.more}
    return _show(request, actor, bulk_review.rows, selected=selected, **context)


@page
def review(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Show requests for review; nothing is selected, as anybody can send a link to this page."""
    bulk_review = bulk_review_for(actor, _ids(request.GET.getlist("id")))
    return _show(request, actor, bulk_review.rows, more=bulk_review.more)


@post_page
def review_selected(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Show the requests that were selected in the list, and keep them selected."""
    selected = _ids(request.POST.getlist("id"))
    bulk_review = bulk_review_for(actor, selected)
    return _show(request, actor, bulk_review.rows, selected=selected, more=bulk_review.more)


@post_page
def decide_selected(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Decide the selected interrupts; each succeeds or fails on its own."""
    digests = _digests_by_id(request.POST.getlist("item")[:MAX_BULK_INTERRUPTS])
    listed_ids = _ids(request.POST.getlist("shown"))
    rows = _rows_to_decide(actor, [*digests, *listed_ids])
    note = request.POST.get("reason", "").replace("\r\n", "\n").strip()
    answer = {"approve": True, "reject": False}.get(request.POST.get("action", ""))
    selected = [row for row in rows if row.pk in digests]
    problem = _problem(answer, note, selected)
    if problem:
        return _show(
            request, actor, rows, selected=list(digests), status=422, problem=problem, note=note
        )
    results = decide_many(
        items=[(row.pk, digests[row.pk]) for row in selected],
        status=EntryStatus.RESOLVED,
        payload={"approved": answer, **({"reason": note} if note else {})},
        actor=actor,
        entrance=Entrance.BULK_PAGE,
    )
    refusals = _refusals(results)
    remaining_ids = [row.pk for row in rows if row.pk not in digests or row.pk in refusals]
    return _show_outcomes(request, actor, [row.pk for row in selected], refusals, remaining_ids)


@post_page
def withdraw_decided(request: HttpRequest, actor: Actor) -> HttpResponse:
    rows = _rows_to_decide(actor, _ids(request.POST.getlist("id")))
    ids = [row.pk for row in rows]
    results = withdraw_many(interrupt_ids=ids, actor=actor)
    return _show_outcomes(request, actor, ids, _refusals(results), ids, is_undo=True)


def _rows_to_decide(actor: Actor, ids: Sequence[UUID]) -> list[Interrupt]:
    """
    Return those of these interrupts that the actor may see.

    Raises:
        NotFound: there are none.
        Forbidden: the actor may decide none of them.
    """
    rows: list[Interrupt] = list(bulk_review_for(actor, ids).rows)
    if not rows:
        raise NotFound()
    if not any(row.may_decide for row in rows):
        raise Forbidden(MISSING_PERMISSION[Permission.DECIDE])
    return rows


def _problem(answer: bool | None, note: str, selected: Sequence[Interrupt]) -> str:
    if answer is None:
        return gettext("Choose one of the buttons. Nothing was decided.")
    if not selected:
        return gettext("Nothing is selected, so nothing was decided.")
    if len(note) > _NOTE_CHARACTERS:
        return gettext("A note can have at most {count} characters. Nothing was decided.").format(
            count=_NOTE_CHARACTERS
        )
    return ""


def _refusals(results: Sequence[BulkResult]) -> dict[UUID, str]:
    return {
        result.interrupt_id: translate(result.refusal.message)
        for result in results
        if result.refusal is not None
    }


def _show(
    request: HttpRequest,
    actor: Actor,
    rows: Sequence[Interrupt],
    *,
    selected: Sequence[UUID] = (),
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    groups = groups_of(rows, me=actor.user_id, now=clock.now(), selected=selected)
    context = {
        **context,
        **_list_context(request),
        "groups": groups,
        "can_select": _can_select(groups),
    }
    return show(request, actor, "decisions/review.html", context, section="", status=status)


def _can_select(groups: Sequence[Group]) -> bool:
    return any(not item.obstacle for group in groups for item in group.items)


def _show_outcomes(
    request: HttpRequest,
    actor: Actor,
    ids: Sequence[UUID],
    refusals: dict[UUID, str],
    remaining_ids: Sequence[UUID],
    *,
    is_undo: bool = False,
) -> HttpResponse:
    """Render the current state of each; `remaining_ids` are the ids to review again."""
    outcomes = [
        _outcome(row, actor, refusals.get(row.pk, "")) for row in bulk_review_for(actor, ids).rows
    ]
    context = {
        **_list_context(request),
        "outcomes": outcomes,
        "done_count": sum(outcome.is_done for outcome in outcomes),
        "undoable": [outcome for outcome in outcomes if outcome.undo_until],
        "undo_seconds": _undo_seconds(outcomes),
        "is_undo": is_undo,
        "remaining_ids": [
            row.pk
            for row in bulk_review_for(actor, remaining_ids).rows
            if row.status == InterruptStatus.OPEN
        ],
    }
    return show(request, actor, "decisions/reviewed.html", context, section="")


def _undo_seconds(outcomes: Sequence[BulkOutcome]) -> int | None:
    """Return the seconds until the first of them can no longer be undone; None without a limit."""
    times = [outcome.undo_until for outcome in outcomes if outcome.undo_until]
    return seconds_until(min(times), clock.now()) if times else None


def _list_context(request: HttpRequest) -> dict[str, str]:
    before = originating_filter(request)
    return {"list_url": list_url(before), "list_query": before.to_query()}


def _outcome(row: Interrupt, actor: Actor, refusal: str) -> BulkOutcome:
    decision = listed_decision(row)
    decision_label = decision_label_of(row, decision, actor.user_id)
    undoable = withdrawable_by(actor, row, decision)
    is_done = not refusal
    if refusal:
        word, icon, tone = refusal, "triangle-alert", "warn"
    elif decision_label:
        word, icon, tone = decision_label.short, decision_label.icon, decision_label.tone
    else:
        word, icon, tone = gettext("Open again"), "circle-dashed", "quiet"
    return BulkOutcome(
        row=row,
        word=escape_invisible(word),
        icon=icon,
        tone=tone,
        is_done=is_done,
        undo_until=undoable if is_done and undoable and undoable > clock.now() else None,
    )


def _ids(texts: Sequence[str]) -> list[UUID]:
    return [interrupt_id for text in texts if (interrupt_id := read_id(text)) is not None]


def _digests_by_id(texts: Sequence[str]) -> dict[UUID, str]:
    """Parse the values of check boxes into view digests by interrupt id."""
    pairs = [text.partition(":") for text in texts]
    return {
        interrupt_id: digest
        for key, _, digest in pairs
        if (interrupt_id := read_id(key)) is not None
    }
